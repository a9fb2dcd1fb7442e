// Scripts as sequences of operations: walking them, disassembling them as Bitcoin Core does (ScriptToAsmStr), and what makes
// an output unspendable.

import { isStrictSignature, SIGHASH_NAMES } from './signature-encoding';
import type { TextWriter } from './text-writer';

export const OP_0 = 0x00;
export const OP_PUSHDATA1 = 0x4c;
export const OP_PUSHDATA2 = 0x4d;
export const OP_PUSHDATA4 = 0x4e;
export const OP_1NEGATE = 0x4f;
export const OP_1 = 0x51;
export const OP_16 = 0x60;
export const OP_RETURN = 0x6a;
export const OP_DUP = 0x76;
export const OP_EQUAL = 0x87;
export const OP_EQUALVERIFY = 0x88;
export const OP_HASH160 = 0xa9;
export const OP_CODESEPARATOR = 0xab;
export const OP_CHECKSIG = 0xac;
export const OP_CHECKSIGVERIFY = 0xad;
export const OP_CHECKMULTISIG = 0xae;
export const OP_CHECKMULTISIGVERIFY = 0xaf;
const OP_NOP10 = 0xb9;
export const OP_CHECKSIGADD = 0xba;
export const OP_INVALIDOPCODE = 0xff;

/** Bitcoin Core's names of the opcodes after the pushes of data (GetOpName), by number from OP_1NEGATE on. */
export type OpcodeNames = readonly string[];

/** The names in Bitcoin Core 0.17. */
export const OLD_OPCODE_NAMES: OpcodeNames = `
  -1 OP_RESERVED 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  OP_NOP OP_VER OP_IF OP_NOTIF OP_VERIF OP_VERNOTIF OP_ELSE OP_ENDIF OP_VERIFY OP_RETURN
  OP_TOALTSTACK OP_FROMALTSTACK OP_2DROP OP_2DUP OP_3DUP OP_2OVER OP_2ROT OP_2SWAP OP_IFDUP OP_DEPTH
  OP_DROP OP_DUP OP_NIP OP_OVER OP_PICK OP_ROLL OP_ROT OP_SWAP OP_TUCK
  OP_CAT OP_SUBSTR OP_LEFT OP_RIGHT OP_SIZE OP_INVERT OP_AND OP_OR OP_XOR
  OP_EQUAL OP_EQUALVERIFY OP_RESERVED1 OP_RESERVED2
  OP_1ADD OP_1SUB OP_2MUL OP_2DIV OP_NEGATE OP_ABS OP_NOT OP_0NOTEQUAL
  OP_ADD OP_SUB OP_MUL OP_DIV OP_MOD OP_LSHIFT OP_RSHIFT OP_BOOLAND OP_BOOLOR
  OP_NUMEQUAL OP_NUMEQUALVERIFY OP_NUMNOTEQUAL OP_LESSTHAN OP_GREATERTHAN OP_LESSTHANOREQUAL OP_GREATERTHANOREQUAL
  OP_MIN OP_MAX OP_WITHIN OP_RIPEMD160 OP_SHA1 OP_SHA256 OP_HASH160 OP_HASH256 OP_CODESEPARATOR
  OP_CHECKSIG OP_CHECKSIGVERIFY OP_CHECKMULTISIG OP_CHECKMULTISIGVERIFY
  OP_NOP1 OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_NOP4 OP_NOP5 OP_NOP6 OP_NOP7 OP_NOP8 OP_NOP9 OP_NOP10
`
  .trim()
  .split(/\s+/)
  .concat(
    Array.from({ length: OP_INVALIDOPCODE - OP_NOP10 - 1 }, () => 'OP_UNKNOWN'),
    'OP_INVALIDOPCODE'
  );

/** The names since BIP342. */
export const OPCODE_NAMES: OpcodeNames = OLD_OPCODE_NAMES.with(OP_CHECKSIGADD - OP_1NEGATE, 'OP_CHECKSIGADD');

/** BIP342's OP_SUCCESS opcodes, first and last of each range. */
const SUCCESS_RANGES = [
  [80, 80],
  [98, 98],
  [126, 129],
  [131, 134],
  [137, 138],
  [141, 142],
  [149, 153],
  [187, 254]
] as const;
const IS_SUCCESS = Array.from({ length: 256 }, (_, opcode) => SUCCESS_RANGES.some(([first, last]) => first <= opcode && opcode <= last));

/** Whether an opcode makes every tapscript valid that has it (IsOpSuccess). */
export const isSuccess = (opcode: number): boolean => IS_SUCCESS[opcode] === true;

/** More bytes cannot be pushed at once (MAX_SCRIPT_ELEMENT_SIZE). */
export const MAX_PUSH_LENGTH = 520;
/** Longer scripts cannot be run (MAX_SCRIPT_SIZE). */
export const MAX_SCRIPT_LENGTH = 10_000;

/** Pushes up to this length are printed as numbers. */
const MAX_NUMBER_LENGTH = 4;

/** True for outputs that nothing can ever spend; they are not coins. The script goes from `start` to before `end`. */
export function isUnspendable(bytes: Buffer, start = 0, end = bytes.length): boolean {
  return (end > start && bytes[start] === OP_RETURN) || end - start > MAX_SCRIPT_LENGTH;
}

/** True when no opcode of a script is undefined, none is cut off, and none pushes more than MAX_PUSH_LENGTH. */
export function hasValidOpcodes(script: Buffer): boolean {
  const walker = new ScriptWalker(script);
  while (walker.next()) if (walker.opcode > OP_NOP10 || walker.dataEnd - walker.dataStart > MAX_PUSH_LENGTH) return false;
  return walker.dataEnd === script.length;
}

/** Walks the operations of the script from `start` to before `end` of the bytes: `next()` moves to the next one. */
export class ScriptWalker {
  opcode = 0;
  /** The data pushed: from `dataStart` to before `dataEnd`; empty unless `pushes`. The next operation begins at `dataEnd`. */
  dataStart: number;
  dataEnd: number;

  constructor(
    readonly bytes: Buffer,
    start = 0,
    readonly end = bytes.length
  ) {
    this.dataStart = start;
    this.dataEnd = start;
  }

  /** Whether the operation is a push of data, maybe empty. */
  get pushes(): boolean {
    return this.opcode <= OP_PUSHDATA4;
  }

  /** False at the end of the script, and for a push that would run past it. */
  next(): boolean {
    const { bytes, end } = this;
    if (this.dataEnd >= end) return false;
    const opcode = bytes[this.dataEnd] as number; // before the end
    this.opcode = opcode;
    let start = this.dataEnd + 1;
    let length = 0;
    if (opcode < OP_PUSHDATA1) {
      length = opcode;
    } else if (opcode <= OP_PUSHDATA4) {
      const width = opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : 4;
      if (start + width > end) return false;
      length = bytes.readUIntLE(start, width);
      start += width;
    }
    if (length > end - start) return false;
    this.dataStart = start;
    this.dataEnd = start + length;
    return true;
  }
}

/** What the last operation of the script from `start` to before `end` pushes, a view; undefined when it pushes no data, or is cut off. */
export function lastPush(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const walker = new ScriptWalker(bytes, start, end);
  while (walker.next());
  if (start === end || walker.dataEnd !== end || !walker.pushes) return undefined;
  return bytes.subarray(walker.dataStart, walker.dataEnd);
}

/** A script number of up to six bytes: little endian, the top bit its sign; need not be minimal. */
export function scriptNumber(bytes: Buffer, start: number, end: number): number {
  if (start === end) return 0;
  const magnitude = bytes.readUIntLE(start, end - start);
  const sign = 2 ** (8 * (end - start) - 1);
  return magnitude < sign ? magnitude : sign - magnitude;
}

/** @param decodeSignatures spells out the hash type of data that looks like a signature. */
function writePush(writer: TextWriter, { bytes, dataStart, dataEnd }: ScriptWalker, decodeSignatures: boolean): void {
  if (dataEnd - dataStart <= MAX_NUMBER_LENGTH) {
    writer.integer(scriptNumber(bytes, dataStart, dataEnd));
    return;
  }
  const hashType = decodeSignatures && isStrictSignature(bytes, dataStart, dataEnd) ? SIGHASH_NAMES.get(bytes[dataEnd - 1]) : undefined;
  writer.hex(bytes, dataStart, hashType === undefined ? dataEnd : dataEnd - 1);
  if (hashType !== undefined) writer.ascii(`[${hashType}]`);
}

/** Writes the `asm` of the locking script from `start` to before `end`. */
export function writeAsm(
  writer: TextWriter,
  names: OpcodeNames,
  bytes: Buffer,
  start = 0,
  end = bytes.length,
  decodeSignatures = false
): void {
  const walker = new ScriptWalker(bytes, start, end);
  while (walker.dataEnd < end) {
    if (walker.dataEnd > start) writer.ascii(' ');
    if (!walker.next()) {
      writer.ascii('[error]');
      return;
    }
    if (walker.pushes) writePush(writer, walker, decodeSignatures);
    else writer.ascii(names[walker.opcode - OP_1NEGATE] as string); // all opcodes up to 0xff have a name
  }
}

/** Writes the `asm` of a scriptSig: the hash type of data that looks like a signature is spelled out. */
export function writeScriptSigAsm(writer: TextWriter, names: OpcodeNames, bytes: Buffer, start = 0, end = bytes.length): void {
  writeAsm(writer, names, bytes, start, end, !isUnspendable(bytes, start, end));
}
