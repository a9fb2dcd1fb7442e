// PSBTs as bytes, in the order of Bitcoin Core: it writes the types in an order of its own, and what has the same type sorted.

import { hash160 } from '../hash';
import { KEY_LENGTH } from '../secp256k1';
import { scanWholeTransaction } from '../transaction';
import { withLength } from '../unsigned-transaction';
import { fieldOf, GLOBAL, INPUT, OUTPUT, PROPRIETARY, type Psbt, type PsbtField, type PsbtMap } from './psbt';
import { XPUB_KEY_AT } from './values';

const MAGIC = Buffer.from('70736274ff', 'hex');
const SEPARATOR = Buffer.of(0);

type MapKind = 'global' | 'input' | 'output';

/** What an input has until it is final. */
const UNTIL_FINAL: readonly number[] = [
  ...[INPUT.signature, INPUT.sighash, INPUT.redeemScript, INPUT.witnessScript, INPUT.derivation],
  ...[INPUT.ripemd160, INPUT.sha256, INPUT.hash160, INPUT.hash256],
  ...[INPUT.tapSignature, INPUT.tapScriptSignature, INPUT.tapScript, INPUT.tapDerivation, INPUT.tapKey, INPUT.tapRoot],
  ...[INPUT.participants, INPUT.nonce, INPUT.partialSignature]
];

/** The types of each kind of map, in the order in which they are written. */
const ORDERS: Readonly<Record<MapKind, readonly number[]>> = {
  global: [
    ...[GLOBAL.transaction, GLOBAL.xpub, GLOBAL.version, GLOBAL.locktime, GLOBAL.inputs, GLOBAL.outputs],
    ...[GLOBAL.modifiable, GLOBAL.psbtVersion, PROPRIETARY]
  ],
  input: [
    ...[INPUT.wholeOutput, INPUT.output, ...UNTIL_FINAL, INPUT.finalScript, INPUT.finalWitness],
    ...[INPUT.txid, INPUT.index, INPUT.sequence, INPUT.timeLock, INPUT.heightLock, PROPRIETARY]
  ],
  output: [
    ...[OUTPUT.redeemScript, OUTPUT.witnessScript, OUTPUT.derivation, OUTPUT.amount, OUTPUT.script, PROPRIETARY],
    ...[OUTPUT.tapKey, OUTPUT.tapTree, OUTPUT.tapDerivation, OUTPUT.participants]
  ]
};

/** Yields after each input and output. */
export function* serializedPsbt({ fields, inputs, outputs }: Psbt): Generator<void, Buffer> {
  const parts = [MAGIC, ...mapBytes(fields, 'global')];
  for (const input of inputs) {
    for (const part of mapBytes(input.fields, 'input')) parts.push(part);
    yield;
  }
  for (const output of outputs) {
    for (const part of mapBytes(output.fields, 'output')) parts.push(part);
    yield;
  }
  return Buffer.concat(parts);
}

function* mapBytes(fields: PsbtMap, of: MapKind): Generator<Buffer, void> {
  const isFinal = of === 'input' && [INPUT.finalScript, INPUT.finalWitness].some((type) => fieldOf(fields, type) !== undefined);
  for (const type of ORDERS[of]) {
    if (isFinal && UNTIL_FINAL.includes(type)) continue;
    for (const field of sortedFields(fields, type, of)) yield* fieldBytes(field, of);
  }
  for (const field of unknownFields(fields, of)) yield* fieldBytes(field, of);
  yield SEPARATOR;
}

function* fieldBytes({ key, value }: PsbtField, of: MapKind): Generator<Buffer, void> {
  yield withLength(key);
  // Whole transactions are written without their witnesses.
  yield withLength(of === 'input' && key[0] === INPUT.wholeOutput ? scanWholeTransaction(value).stripped : value);
}

/** The fields of a type, sorted. */
export function sortedFields(fields: PsbtMap, type: number, of: MapKind): PsbtField[] {
  return [...fields.values()].filter((field) => field.type === type).sort(COMPARE[of][type] ?? byKey);
}

/** Those of which nothing is known, sorted. */
export function unknownFields(fields: PsbtMap, of: MapKind): PsbtField[] {
  const known = new Set(ORDERS[of]);
  return [...fields.values()].filter(({ type }) => !known.has(type)).sort(byKey);
}

type Compare = (a: PsbtField, b: PsbtField) => number;

const byKey: Compare = (a, b) => a.key.compare(b.key);

/** Where fields of one type are not sorted by their keys. */
const COMPARE: Readonly<Record<MapKind, Readonly<Record<number, Compare | undefined>>>> = {
  global: {
    // By the path, then by the key, then by the chain code before it.
    [GLOBAL.xpub]: (a, b) =>
      comparePaths(a.value, b.value) || a.key.subarray(1 + XPUB_KEY_AT).compare(b.key.subarray(1 + XPUB_KEY_AT)) || byKey(a, b)
  },
  input: {
    [INPUT.signature]: (a, b) => keyHashOf(a).compare(keyHashOf(b)),
    // By the script, without its version at the end, then by the version; short control blocks first.
    [INPUT.tapScript]: (a, b) =>
      a.value.subarray(0, -1).compare(b.value.subarray(0, -1)) ||
      (a.value.at(-1) ?? 0) - (b.value.at(-1) ?? 0) ||
      a.key.length - b.key.length ||
      byKey(a, b),
    [INPUT.nonce]: byAggregate,
    [INPUT.partialSignature]: byAggregate
  },
  output: {}
};

/** Of a path of keys: its numbers one by one. */
function comparePaths(a: Buffer, b: Buffer): number {
  const fingerprints = a.subarray(0, 4).compare(b.subarray(0, 4));
  if (fingerprints !== 0) return fingerprints;
  for (let at = 4; at < a.length && at < b.length; at += 4) {
    const difference = a.readUInt32LE(at) - b.readUInt32LE(at);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Of fields that are being sorted. */
const keyHashes = new WeakMap<PsbtField, Buffer>();

function keyHashOf(field: PsbtField): Buffer {
  const known = keyHashes.get(field) ?? hash160(field.key.subarray(1));
  keyHashes.set(field, known);
  return known;
}

/** A participant stands before the aggregate key, and is sorted behind it and the leaf. */
function byAggregate(a: PsbtField, b: PsbtField): number {
  const parts = ({ key }: PsbtField): [Buffer, Buffer] => [key.subarray(1 + KEY_LENGTH), key.subarray(1, 1 + KEY_LENGTH)];
  const [[groupA, memberA], [groupB, memberB]] = [parts(a), parts(b)];
  return groupA.compare(groupB) || memberA.compare(memberB);
}
