// Kinds of locking scripts and what they pay to, as Bitcoin Core tells them apart (Solver, script/solver.cpp). Bytes only: no point is
// decoded. Bitcoin Core 0.17 knew less: taproot outputs and anchors were `witness_unknown`, and multisig had at most 16 keys.

import {
  OP_0,
  OP_1,
  OP_16,
  OP_CHECKMULTISIG,
  OP_CHECKSIG,
  OP_DUP,
  OP_EQUAL,
  OP_EQUALVERIFY,
  OP_HASH160,
  OP_RETURN,
  ScriptWalker
} from './script';

export type ScriptType =
  | 'pubkey'
  | 'pubkeyhash'
  | 'scripthash'
  | 'multisig'
  | 'nulldata'
  | 'witness_v0_keyhash'
  | 'witness_v0_scripthash'
  | 'witness_v1_taproot'
  | 'anchor'
  | 'witness_unknown'
  | 'nonstandard';

/** The keys of a multisig script, each a view, and how many of them have to sign. */
export interface Multisig {
  readonly required: number;
  readonly keys: readonly Buffer[];
}

const SHORTEST_WITNESS_PROGRAM = 4;
const LONGEST_WITNESS_PROGRAM = 42;
/** With its version and length. */
const TAPROOT_PROGRAM = 34;

/** MAX_PUBKEYS_PER_MULTISIG. */
const MOST_MULTISIG_KEYS = 20;

const isSmallInteger = (opcode: number | undefined): opcode is number => opcode !== undefined && opcode >= OP_1 && opcode <= OP_16;

/** Length of a public key with this first byte; 0 when no key begins with it. */
function keyLength(header: number | undefined): number {
  if (header === 2 || header === 3) return 33;
  return header === 4 || header === 6 || header === 7 ? 65 : 0;
}

function isPubkeyHash(bytes: Buffer, start: number, end: number): boolean {
  return (
    end - start === 25 &&
    bytes[start] === OP_DUP &&
    bytes[start + 1] === OP_HASH160 &&
    bytes[start + 2] === 20 &&
    bytes[start + 23] === OP_EQUALVERIFY &&
    bytes[start + 24] === OP_CHECKSIG
  );
}

/** P2SH (BIP16, IsPayToScriptHash of Bitcoin Core): OP_HASH160, a push of 20 bytes, OP_EQUAL, from `start` to before `end`. */
export function isScriptHash(bytes: Buffer, start = 0, end = bytes.length): boolean {
  return end - start === 23 && bytes[start] === OP_HASH160 && bytes[start + 1] === 20 && bytes[start + 22] === OP_EQUAL;
}

function isPubkey(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start - 2;
  return (
    (length === 33 || length === 65) && bytes[start] === length && keyLength(bytes[start + 1]) === length && bytes[end - 1] === OP_CHECKSIG
  );
}

/** BIP141: a version opcode and one direct push of 2 to 40 bytes. */
function isWitnessProgram(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  return (
    length >= SHORTEST_WITNESS_PROGRAM &&
    length <= LONGEST_WITNESS_PROGRAM &&
    (bytes[start] === OP_0 || isSmallInteger(bytes[start])) &&
    bytes[start + 1] === length - 2
  );
}

/** The version of a witness program and its bytes, a view; undefined for any other script. */
export function witnessProgramOf(script: Buffer): { readonly version: number; readonly program: Buffer } | undefined {
  if (!isWitnessProgram(script, 0, script.length)) return undefined;
  const opcode = script[0] as number; // a program has a version
  return { version: opcode === OP_0 ? 0 : opcode - OP_1 + 1, program: script.subarray(2) };
}

/** OP_RETURN and pushes; OP_RESERVED counts as a push, as in Bitcoin Core. */
function isNullData(bytes: Buffer, start: number, end: number): boolean {
  if (start === end || bytes[start] !== OP_RETURN) return false;
  const walker = new ScriptWalker(bytes, start, end);
  walker.next();
  while (walker.next()) if (walker.opcode > OP_16) return false;
  return walker.dataEnd === end;
}

/** BIP433: version 1 and the two bytes 4e73. */
function isAnchor(bytes: Buffer, start: number, end: number): boolean {
  return end - start === 4 && bytes[start] === OP_1 && bytes[start + 2] === 0x4e && bytes[start + 3] === 0x73;
}

/** A count of keys in its shortest form: an opcode up to 16, a push of one byte above. Undefined for anything else. */
function countAt({ opcode, bytes, dataStart, dataEnd }: ScriptWalker): number | undefined {
  if (isSmallInteger(opcode)) return opcode - OP_1 + 1;
  const count = opcode === 1 && dataEnd > dataStart ? (bytes[dataStart] as number) : 0;
  return count > 16 && count <= MOST_MULTISIG_KEYS ? count : undefined;
}

/** The multisig script from `start` to before `end`: at most 20 keys, pushed in any way. Undefined for any other script. */
export function multisigOf(bytes: Buffer, start = 0, end = bytes.length): Multisig | undefined {
  if (start === end || bytes[end - 1] !== OP_CHECKMULTISIG) return undefined;
  const walker = new ScriptWalker(bytes, start, end);
  const keys: Buffer[] = [];
  const required = walker.next() ? countAt(walker) : undefined;
  if (required === undefined) return undefined;
  let whole = walker.next();
  for (; whole; whole = walker.next()) {
    const { dataStart, dataEnd } = walker;
    if (dataEnd === dataStart || keyLength(bytes[dataStart]) !== dataEnd - dataStart) break;
    keys.push(bytes.subarray(dataStart, dataEnd));
  }
  if (!whole || countAt(walker) !== keys.length || required > keys.length) return undefined;
  return walker.dataEnd === end - 1 ? { required, keys } : undefined;
}

/** The kind of the locking script from `start` to before `end`. */
export function scriptTypeOf(bytes: Buffer, start = 0, end = bytes.length): ScriptType {
  if (isPubkeyHash(bytes, start, end)) return 'pubkeyhash';
  if (isScriptHash(bytes, start, end)) return 'scripthash';
  if (isWitnessProgram(bytes, start, end)) {
    if (bytes[start] !== OP_0) {
      if (bytes[start] === OP_1 && end - start === TAPROOT_PROGRAM) return 'witness_v1_taproot';
      return isAnchor(bytes, start, end) ? 'anchor' : 'witness_unknown';
    }
    if (end - start === 22) return 'witness_v0_keyhash';
    return end - start === 34 ? 'witness_v0_scripthash' : 'nonstandard';
  }
  if (isNullData(bytes, start, end)) return 'nulldata';
  if (isPubkey(bytes, start, end)) return 'pubkey';
  return multisigOf(bytes, start, end) === undefined ? 'nonstandard' : 'multisig';
}
