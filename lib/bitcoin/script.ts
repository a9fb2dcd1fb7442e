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

/** True for outputs that nothing can ever spend; they are no coins. The script goes from `start` to before `end`. */
export function isUnspendable(bytes: Buffer, start = 0, end = bytes.length): boolean {
  return end > start && bytes[start] === OP_RETURN || end - start > MAX_SCRIPT_LENGTH;
}

/**
 * Walks the operations of the script from `start` to before `end` of the bytes: `next()` moves to
 * an operation and says whether there was a whole one.
 */
export class ScriptWalker {
  opcode = 0;
  /** The data pushed: from `dataStart` to before `dataEnd`; empty unless opcode is at most OP_PUSHDATA4. */
  dataStart: number;
  dataEnd: number;

  constructor(readonly bytes: Buffer, start = 0, readonly end = bytes.length) {
    this.dataStart = start;
    this.dataEnd = start;
  }

  /** Where the next operation begins. */
  get offset(): number {
    return this.dataEnd;
  }

  get atEnd(): boolean {
    return this.dataEnd >= this.end;
  }

  /** False at the end and for a push that runs over it; walk no further then. */
  next(): boolean {
    const { bytes, end } = this;
    if (this.dataEnd >= end)
      return false;
    const opcode = bytes[this.dataEnd] as number; // before the end
    this.opcode = opcode;
    let start = this.dataEnd + 1;
    let length = 0;
    if (opcode < OP_PUSHDATA1) {
      length = opcode;
    } else if (opcode <= OP_PUSHDATA4) {
      const width = opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : 4;
      if (start + width > end)
        return false;
      length = bytes.readUIntLE(start, width);
      start += width;
    }
    if (length > end - start)
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

function writePush(writer: TextWriter, { bytes, dataStart, dataEnd }: ScriptWalker, decodeSignatures: boolean): void {
  if (dataEnd - dataStart <= MAX_NUMBER_LENGTH) {
    writer.integer(scriptNumber(bytes, dataStart, dataEnd));
    return;
  }
  const hashType = decodeSignatures ? signatureHashType(bytes, dataStart, dataEnd) : undefined;
  if (hashType === undefined) {
    writer.hex(bytes, dataStart, dataEnd);
  } else {
    writer.hex(bytes, dataStart, dataEnd - 1);
    writer.ascii(hashType);
  }
}

function writeOperations(writer: TextWriter, walker: ScriptWalker, decodeSignatures: boolean): void {
  const start = walker.offset;
  while (!walker.atEnd) {
    if (walker.offset > start)
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

/** Writes the `asm` of the locking script from `start` to before `end`. */
export function writeAsm(writer: TextWriter, bytes: Buffer, start?: number, end?: number): void {
  writeOperations(writer, new ScriptWalker(bytes, start, end), false);
}

/** Writes the `asm` of a scriptSig: the hash type of what looks like a signature is spelled out. */
export function writeScriptSigAsm(writer: TextWriter, bytes: Buffer, start?: number, end?: number): void {
  writeOperations(writer, new ScriptWalker(bytes, start, end), !isUnspendable(bytes, start, end));
}
