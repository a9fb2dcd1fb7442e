// PSBTs of one transaction become one, and those of several transactions become one of a larger transaction.

import { hash256 } from '../hash';
import { FINAL_SEQUENCE } from '../transaction';
import { unsignedBytes, type UnsignedTransaction } from '../unsigned-transaction';
import {
  fieldOf,
  GLOBAL,
  INPUT,
  locktimeOf,
  psbtOf,
  requireFew,
  setField,
  unsignedOf,
  type Psbt,
  type PsbtField,
  type PsbtInput,
  type PsbtMap
} from './psbt';
import { requireFits } from './values';

const NO_FIELDS: PsbtMap = new Map();

/** Bits of what may be changed: only together, but for this one. */
const HAS_SINGLE = 0b100;

/** Of all PSBTs of one transaction; undefined if they are of several, or of different versions. What the first one has stays.
 * Yields after each map. @throws PsbtError for more than a PSBT may have */
export function* combined([first, ...others]: readonly [Psbt, ...Psbt[]]): Generator<void, Psbt | undefined> {
  const id = idOf(first);
  for (const other of others) {
    if (other.version !== first.version || id === undefined || idOf(other) !== id) return undefined;
    yield;
  }
  for (const other of others) {
    mergeModifiable(first.fields, other.fields);
    addMissing(first.fields, other.fields);
    yield;
    for (const [i, { fields }] of first.outputs.entries()) {
      addMissing(fields, other.outputs[i]?.fields ?? NO_FIELDS);
      yield;
    }
  }
  for (const [i, { fields }] of first.inputs.entries()) {
    const leaves = new Set(leavesOf(fields));
    for (const other of others) {
      addMissingOfInput(fields, other.inputs[i]?.fields ?? NO_FIELDS, leaves);
      yield;
    }
  }
  return first;
}

/** Sequences may change in version 2 (BIP370). */
function idOf(psbt: Psbt): string | undefined {
  const unsigned = unsignedOf(psbt);
  if (unsigned === undefined) return undefined;
  const inputs = psbt.version === 0 ? unsigned.inputs : unsigned.inputs.map((input) => ({ ...input, sequence: 0 }));
  return hash256(unsignedBytes({ ...unsigned, inputs })).toString('hex');
}

function addMissing(to: PsbtMap, from: PsbtMap): void {
  for (const [key, field] of from) if (!to.has(key)) to.set(key, field);
  requireFew(to);
}

/** `leaves`: those that are there, which keep their control blocks; new ones are added to them. Kinds of hashes are not merged. */
function addMissingOfInput(to: PsbtMap, from: PsbtMap, leaves: Set<string>): void {
  for (const [key, field] of from) {
    if (to.has(key) || field.type === INPUT.sighash || (field.type === INPUT.tapScript && leaves.has(leafOf(field)))) continue;
    to.set(key, field);
  }
  for (const leaf of leavesOf(from)) leaves.add(leaf);
  requireFew(to);
}

const leafOf = ({ value }: PsbtField): string => value.toString('latin1');

const leavesOf = (fields: PsbtMap): string[] => [...fields.values()].filter(({ type }) => type === INPUT.tapScript).map(leafOf);

function mergeModifiable(to: PsbtMap, from: PsbtMap): void {
  const [ours, theirs] = [to, from].map((fields) => fieldOf(fields, GLOBAL.modifiable)?.[0]);
  if (ours === undefined && theirs === undefined) return;
  const [a, b] = [ours ?? 0, theirs ?? 0];
  setField(to, GLOBAL.modifiable, Buffer.of((a & b & ~HAS_SINGLE) | ((a | b) & HAS_SINGLE)));
}

/** An input is in several of them. */
export class SameInputError extends Error {
  override readonly name = 'SameInputError';

  constructor(readonly input: PsbtInput) {
    super('an input is in several PSBTs');
  }
}

/** What no longer holds once there are other inputs and outputs. */
const SIGNED: readonly number[] = [INPUT.signature, INPUT.finalScript, INPUT.finalWitness];

/**
 * One of version 0 with the inputs and outputs of all, which are of version 0, in the order that `shuffled` gives them; of the highest
 * version of their transactions, with the lowest lock time. Yields now and then.
 * @throws SameInputError, PsbtError for more than a PSBT may have
 */
export function* joined(psbts: readonly Psbt[], shuffled: <T>(list: readonly T[]) => Generator<void, readonly T[]>): Generator<void, Psbt> {
  const inputs = new Map<string, PsbtInput>();
  for (const psbt of psbts) {
    for (const input of psbt.inputs) {
      const key = `${input.txid.toString('hex')}${input.index}`;
      if (inputs.has(key)) throw new SameInputError(input);
      inputs.set(key, input);
      yield;
    }
  }
  const ins = yield* shuffled([...inputs.values()]);
  const outs = yield* shuffled(psbts.flatMap(({ outputs }) => outputs));
  const unsigned: UnsignedTransaction = {
    version: Math.max(1, ...psbts.map(({ transactionVersion }) => transactionVersion)),
    inputs: ins.map(({ txid, index, sequence = FINAL_SEQUENCE }) => ({ txid, index, sequence })),
    outputs: outs,
    locktime: Math.min(...psbts.map((psbt) => locktimeOf(psbt) ?? 0))
  };
  const { fields } = yield* psbtOf(unsigned, 0);
  requireFits(fieldOf(fields, GLOBAL.transaction)?.length ?? 0);
  for (const psbt of psbts) addMissing(fields, psbt.fields);
  const own: PsbtInput[] = [];
  for (const input of ins) {
    own.push({ ...input, fields: new Map([...input.fields].filter(([, { type }]) => !SIGNED.includes(type))) });
    yield;
  }
  return { version: 0, fields, transactionVersion: unsigned.version, inputs: own, outputs: outs };
}
