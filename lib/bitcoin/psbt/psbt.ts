// A partially signed transaction (BIP174, BIP370): maps of keys and values for the whole, each input and each output. What is not known is
// kept. The names of the types are those of the BIPs.

import { FINAL_SEQUENCE } from '../transaction';
import { unsignedBytes, u32Of, type UnsignedTransaction } from '../unsigned-transaction';
import { PsbtError } from './errors';
import { compactSizeOf } from '../reader';

export const GLOBAL = {
  transaction: 0x00,
  xpub: 0x01,
  version: 0x02,
  locktime: 0x03,
  inputs: 0x04,
  outputs: 0x05,
  modifiable: 0x06,
  psbtVersion: 0xfb
} as const;

export const INPUT = {
  wholeOutput: 0x00,
  output: 0x01,
  signature: 0x02,
  sighash: 0x03,
  redeemScript: 0x04,
  witnessScript: 0x05,
  derivation: 0x06,
  finalScript: 0x07,
  finalWitness: 0x08,
  ripemd160: 0x0a,
  sha256: 0x0b,
  hash160: 0x0c,
  hash256: 0x0d,
  txid: 0x0e,
  index: 0x0f,
  sequence: 0x10,
  timeLock: 0x11,
  heightLock: 0x12,
  tapSignature: 0x13,
  tapScriptSignature: 0x14,
  tapScript: 0x15,
  tapDerivation: 0x16,
  tapKey: 0x17,
  tapRoot: 0x18,
  participants: 0x1a,
  nonce: 0x1b,
  partialSignature: 0x1c
} as const;

export const OUTPUT = {
  redeemScript: 0x00,
  witnessScript: 0x01,
  derivation: 0x02,
  amount: 0x03,
  script: 0x04,
  tapKey: 0x05,
  tapTree: 0x06,
  tapDerivation: 0x07,
  participants: 0x08
} as const;

export const PROPRIETARY = 0xfc;

/** `key`: with its type in front. */
export interface PsbtField {
  readonly type: number;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** By the key as a latin1 string. Fields whose values say nothing are left out. */
export type PsbtMap = Map<string, PsbtField>;

export interface PsbtInput {
  readonly fields: PsbtMap;
  /** Of the output that is spent: 32 bytes in wire order. */
  readonly txid: Buffer;
  readonly index: number;
  /** Undefined: the highest. */
  readonly sequence: number | undefined;
}

export interface PsbtOutput {
  readonly fields: PsbtMap;
  /** As in the output of a transaction. */
  readonly value: Buffer;
  readonly script: Buffer;
}

export interface Psbt {
  readonly version: 0 | 2;
  readonly fields: PsbtMap;
  /** Of the transaction: 32 bits, unsigned. */
  readonly transactionVersion: number;
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly PsbtOutput[];
}

/** Fields in a map: they are sorted at once. */
const MOST_IN_MAP = 4_000;

/** @throws PsbtError for more fields than a map may have */
export function requireFew(fields: PsbtMap): void {
  if (fields.size > MOST_IN_MAP) throw new PsbtError(`more than ${MOST_IN_MAP} fields in a map`);
}

/** `key`: with its type in front; if it is left out, the type is all of it. */
export function setField(fields: PsbtMap, type: number, value: Buffer, key = compactSizeOf(type)): void {
  fields.set(key.toString('latin1'), { type, key, value });
}

/** The value of the field whose key is the type alone, which is below 0xfd and so a byte; undefined: there is none. */
export const fieldOf = (fields: PsbtMap, type: number): Buffer | undefined => fields.get(String.fromCharCode(type))?.value;

/** A number of 32 bits. */
export const numberIn = (fields: PsbtMap, type: number): number | undefined => fieldOf(fields, type)?.readUInt32LE();

/** One without signatures. Yields after each input and output. */
export function* psbtOf({ version, inputs, outputs, locktime }: UnsignedTransaction, psbtVersion: 0 | 2): Generator<void, Psbt> {
  const fields: PsbtMap = new Map();
  if (psbtVersion === 0) setField(fields, GLOBAL.transaction, unsignedBytes({ version, inputs, outputs, locktime }));
  else {
    setField(fields, GLOBAL.version, u32Of(version));
    setField(fields, GLOBAL.locktime, u32Of(locktime));
    setField(fields, GLOBAL.inputs, compactSizeOf(inputs.length));
    setField(fields, GLOBAL.outputs, compactSizeOf(outputs.length));
    setField(fields, GLOBAL.psbtVersion, u32Of(psbtVersion));
  }
  const ins: PsbtInput[] = [];
  for (const { txid, index, sequence } of inputs) {
    const own: PsbtMap = new Map();
    if (psbtVersion === 2) {
      setField(own, INPUT.txid, txid);
      setField(own, INPUT.index, u32Of(index));
      setField(own, INPUT.sequence, u32Of(sequence));
    }
    ins.push({ fields: own, txid, index, sequence });
    yield;
  }
  const outs: PsbtOutput[] = [];
  for (const { value, script } of outputs) {
    const own: PsbtMap = new Map();
    if (psbtVersion === 2) {
      setField(own, OUTPUT.amount, value);
      setField(own, OUTPUT.script, script);
    }
    outs.push({ fields: own, value, script });
    yield;
  }
  return { version: psbtVersion, fields, transactionVersion: version, inputs: ins, outputs: outs };
}

/** Its lock time (BIP370); undefined if its inputs need a height and a time. */
export function locktimeOf({ version, fields, inputs }: Psbt): number | undefined {
  const fallback =
    version === 0 ? fieldOf(fields, GLOBAL.transaction)?.readUInt32LE(transactionEnd(fields) - 4) : numberIn(fields, GLOBAL.locktime);
  let [time, height]: (number | undefined)[] = [0, 0];
  for (const input of version === 0 ? [] : inputs) {
    const [ofTime, ofHeight] = [numberIn(input.fields, INPUT.timeLock), numberIn(input.fields, INPUT.heightLock)];
    if (ofTime !== undefined && ofHeight === undefined) height = undefined;
    if (ofTime === undefined && ofHeight !== undefined) time = undefined;
    if (time === undefined && height === undefined) return undefined;
    if (time !== undefined) time = Math.max(time, ofTime ?? 0);
    if (height !== undefined) height = Math.max(height, ofHeight ?? 0);
  }
  return (height ?? 0) || (time ?? 0) || (fallback ?? 0);
}

const transactionEnd = (fields: PsbtMap): number => fieldOf(fields, GLOBAL.transaction)?.length ?? 0;

/** The transaction that is to be signed; undefined as for `locktimeOf`. */
export function unsignedOf(psbt: Psbt): UnsignedTransaction | undefined {
  const locktime = locktimeOf(psbt);
  if (locktime === undefined) return undefined;
  const inputs = psbt.inputs.map(({ txid, index, sequence = FINAL_SEQUENCE }) => ({ txid, index, sequence }));
  return { version: psbt.transactionVersion, inputs, outputs: psbt.outputs, locktime };
}
