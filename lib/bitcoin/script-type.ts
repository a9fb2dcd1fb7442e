// Kinds of locking scripts and what they pay to, as Bitcoin Core 0.17 tells them apart
// (Solver and ExtractDestinations, script/standard.cpp). Bytes only: no point is decoded.

import {
  OP_0, OP_1, OP_16, OP_CHECKMULTISIG, OP_CHECKSIG, OP_DUP, OP_EQUAL, OP_EQUALVERIFY, OP_HASH160, OP_RETURN
} from './opcodes';
import { ScriptWalker } from './script';

export type ScriptType =
  | 'pubkey'
  | 'pubkeyhash'
  | 'scripthash'
  | 'multisig'
  | 'nulldata'
  | 'witness_v0_keyhash'
  | 'witness_v0_scripthash'
  | 'witness_unknown'
  | 'nonstandard';

/** The keys of a multisig script, each a view, and how many of them have to sign. */
export interface Multisig {
  readonly required: number;
  readonly keys: readonly Buffer[];
}

const SHORTEST_WITNESS_PROGRAM = 4;
const LONGEST_WITNESS_PROGRAM = 42;

const isSmallInteger = (opcode: number | undefined): opcode is number => opcode !== undefined && opcode >= OP_1 && opcode <= OP_16;

/** Length that the first byte of a public key asks for; 0 for no key. */
function keyLength(header: number | undefined): number {
  if (header === 2 || header === 3)
    return 33;
  return header === 4 || header === 6 || header === 7 ? 65 : 0;
}

function isPubkeyHash(script: Buffer): boolean {
  return script.length === 25 && script[0] === OP_DUP && script[1] === OP_HASH160 && script[2] === 20
    && script[23] === OP_EQUALVERIFY && script[24] === OP_CHECKSIG;
}

function isScriptHash(script: Buffer): boolean {
  return script.length === 23 && script[0] === OP_HASH160 && script[1] === 20 && script[22] === OP_EQUAL;
}

function isPubkey(script: Buffer): boolean {
  const length = script.length - 2;
  return (length === 33 || length === 65) && script[0] === length && keyLength(script[1]) === length && script[length + 1] === OP_CHECKSIG;
}

/** BIP141: a version opcode and one direct push of 2 to 40 bytes. */
function isWitnessProgram(script: Buffer): boolean {
  return script.length >= SHORTEST_WITNESS_PROGRAM && script.length <= LONGEST_WITNESS_PROGRAM
    && (script[0] === OP_0 || isSmallInteger(script[0])) && script[1] === script.length - 2;
}

function witnessType(script: Buffer): ScriptType {
  if (script[0] !== OP_0)
    return 'witness_unknown';
  if (script.length === 22)
    return 'witness_v0_keyhash';
  return script.length === 34 ? 'witness_v0_scripthash' : 'nonstandard';
}

/** OP_RETURN and pushes; OP_RESERVED counts as a push, as in Bitcoin Core. */
function isNullData(script: Buffer): boolean {
  if (script[0] !== OP_RETURN)
    return false;
  const walker = new ScriptWalker(script);
  walker.next();
  while (walker.next())
    if (walker.opcode > OP_16)
      return false;
  return walker.atEnd;
}

/** Keys may be pushed in any way; 1 to 16 of at most 16. Undefined for any other script. */
export function multisigOf(script: Buffer): Multisig | undefined {
  if (script[script.length - 1] !== OP_CHECKMULTISIG || !isSmallInteger(script[0]))
    return undefined;
  const walker = new ScriptWalker(script);
  const keys: Buffer[] = [];
  walker.next();
  const required = walker.opcode - OP_1 + 1;
  let whole = walker.next();
  for (; whole; whole = walker.next()) {
    const { dataStart, dataEnd } = walker;
    if (dataEnd === dataStart || keyLength(script[dataStart]) !== dataEnd - dataStart)
      break;
    keys.push(script.subarray(dataStart, dataEnd));
  }
  if (!whole || !isSmallInteger(walker.opcode) || walker.opcode - OP_1 + 1 !== keys.length || required > keys.length)
    return undefined;
  return walker.offset === script.length - 1 ? { required, keys } : undefined;
}

/** The kind of a locking script. */
export function scriptTypeOf(script: Buffer): ScriptType {
  if (isPubkeyHash(script))
    return 'pubkeyhash';
  if (isScriptHash(script))
    return 'scripthash';
  if (isWitnessProgram(script))
    return witnessType(script);
  if (isNullData(script))
    return 'nulldata';
  if (isPubkey(script))
    return 'pubkey';
  return multisigOf(script) === undefined ? 'nonstandard' : 'multisig';
}
