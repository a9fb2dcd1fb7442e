// Scripts as sequences of operations: walking, disassembling (ScriptToAsmStr of Bitcoin Core
// 0.17), and what makes an output unspendable.

import { OP_PUSHDATA1, OP_PUSHDATA2, OP_PUSHDATA4, OP_RETURN, opcodeName } from './opcodes';
import { signatureHashType } from './signature';
import type { TextWriter } from './text-writer';

/** Longer scripts cannot be run (MAX_SCRIPT_SIZE). */
export const MAX_SCRIPT_LENGTH = 10_000;

/** Pushes up to this length are printed as numbers. */
const MAX_NUMBER_LENGTH = 4;

const SPACE = 0x20;

/** True for outputs that nothing can ever spend; they are no coins. */
export function isUnspendable(script: Buffer): boolean {
  return script[0] === OP_RETURN || script.length > MAX_SCRIPT_LENGTH;
}

/** Walks the operations of a script: `next()` moves to an operation and says whether there was a whole one. */
export class ScriptWalker {
  opcode = 0;
  /** The data pushed: from `dataStart` to before `dataEnd`; empty unless opcode is at most OP_PUSHDATA4. */
  dataStart = 0;
  dataEnd = 0;

  constructor(readonly script: Buffer) {}

  /** Where the next operation begins. */
  get offset(): number {
    return this.dataEnd;
  }

  get atEnd(): boolean {
    return this.dataEnd >= this.script.length;
  }

  /** False at the end and for a push that runs over it; walk no further then. */
  next(): boolean {
    const { script } = this;
    const opcode = script[this.dataEnd];
    if (opcode === undefined)
      return false;
    this.opcode = opcode;
    let start = this.dataEnd + 1;
    let length = 0;
    if (opcode < OP_PUSHDATA1) {
      length = opcode;
    } else if (opcode <= OP_PUSHDATA4) {
      const width = opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : 4;
      if (start + width > script.length)
        return false;
      length = script.readUIntLE(start, width);
      start += width;
    }
    if (length > script.length - start)
      return false;
    this.dataStart = start;
    this.dataEnd = start + length;
    return true;
  }
}

/** A script number of up to four bytes: little endian, the top bit its sign; need not be minimal. */
function scriptNumber(bytes: Buffer, start: number, end: number): number {
  if (start === end)
    return 0;
  const magnitude = bytes.readUIntLE(start, end - start);
  const sign = 2 ** (8 * (end - start) - 1);
  return magnitude < sign ? magnitude : sign - magnitude;
}

function writePush(writer: TextWriter, { script, dataStart, dataEnd }: ScriptWalker, decodeSignatures: boolean): void {
  if (dataEnd - dataStart <= MAX_NUMBER_LENGTH) {
    writer.integer(scriptNumber(script, dataStart, dataEnd));
    return;
  }
  const hashType = decodeSignatures ? signatureHashType(script, dataStart, dataEnd) : undefined;
  if (hashType === undefined) {
    writer.hex(script, dataStart, dataEnd);
  } else {
    writer.hex(script, dataStart, dataEnd - 1);
    writer.ascii(hashType);
  }
}

function writeOperations(writer: TextWriter, script: Buffer, decodeSignatures: boolean): void {
  const walker = new ScriptWalker(script);
  while (!walker.atEnd) {
    if (walker.offset > 0)
      writer.char(SPACE);
    if (!walker.next()) {
      writer.ascii('[error]');
      return;
    }
    if (walker.opcode <= OP_PUSHDATA4)
      writePush(writer, walker, decodeSignatures);
    else
      writer.ascii(opcodeName(walker.opcode));
  }
}

/** Writes the `asm` of a locking script. */
export function writeAsm(writer: TextWriter, script: Buffer): void {
  writeOperations(writer, script, false);
}

/** Writes the `asm` of a scriptSig: the hash type of what looks like a signature is spelled out. */
export function writeScriptSigAsm(writer: TextWriter, script: Buffer): void {
  writeOperations(writer, script, !isUnspendable(script));
}
