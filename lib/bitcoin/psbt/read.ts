// Reads PSBTs as Bitcoin Core does, and refuses what it refuses, in its words.

import { ByteReader, MalformedBytesError } from '../reader';
import { scanStrippedTransaction, scanWholeTransaction } from '../transaction';
import { broken, brokenBytes, PsbtError } from './errors';
import { GLOBAL_MAP, INPUT_MAPS, NOT_IN_V0, OUTPUT_MAPS, type MapForm } from './fields';
import {
  fieldOf,
  GLOBAL,
  INPUT,
  numberIn,
  OUTPUT,
  requireFew,
  setField,
  type Psbt,
  type PsbtInput,
  type PsbtMap,
  type PsbtOutput
} from './psbt';
import { readBytes } from './values';
import type { ScannedTransaction } from '../transaction';

const MAGIC = '70736274ff';

const MOST_BYTES = 8_000_000;
/** Each takes some hundred bytes of memory beside its own. */
const MOST_PARTS = 200_000;

/** How much is still read for one call. */
export class PsbtRoom {
  #bytes = MOST_BYTES;
  #parts = MOST_PARTS;

  /** @throws PsbtError */
  takeBytes(count: number): void {
    this.#bytes -= count;
    if (this.#bytes < 0) throw new PsbtError(`more than ${MOST_BYTES} bytes`);
  }

  /** @throws PsbtError */
  takePart(): void {
    if (--this.#parts < 0) throw new PsbtError(`more than ${MOST_PARTS} inputs, outputs and fields`);
  }
}

/** Reads base64 with nothing else in it. Yields after each field. `room`: of a call. @throws PsbtError */
export function* psbtIn(text: string, room = new PsbtRoom()): Generator<void, Psbt> {
  room.takeBytes(Math.floor((text.length * 3) / 4));
  const bytes = Buffer.from(text, 'base64');
  if (text.length % 4 !== 0 || bytes.toString('base64') !== text) throw new PsbtError('invalid base64');
  try {
    return yield* readPsbt(new ByteReader(bytes), room);
  } catch (error) {
    throw error instanceof MalformedBytesError ? brokenBytes(error) : error;
  }
}

function* readPsbt(reader: ByteReader, room: PsbtRoom): Generator<void, Psbt> {
  if (reader.bytes(MAGIC.length / 2).toString('hex') !== MAGIC) throw broken('Invalid PSBT magic bytes');
  const fields = yield* readMap(reader, room, GLOBAL_MAP);
  const version = versionIn(fields);
  const unsigned = fieldOf(fields, GLOBAL.transaction);
  const transaction = unsigned && scanStrippedTransaction(unsigned);
  const inputs: PsbtInput[] = [];
  const countOf = (type: number, own: number | undefined): number =>
    own ?? new ByteReader(fieldOf(fields, type) ?? Buffer.of(0)).compactSize();
  const inputCount = countOf(GLOBAL.inputs, transaction?.inputCount);
  const ofTransaction = transaction?.inputs;
  while (reader.remaining > 0 && inputs.length < inputCount) {
    const own = yield* readMap(reader, room, INPUT_MAPS[version]);
    inputs.push(requireWhole(inputIn(own, ofTransaction?.[inputs.length])));
    yield;
  }
  if (inputs.length !== inputCount) throw broken('Inputs provided does not match the number of inputs in transaction.');
  const outputs: PsbtOutput[] = [];
  const outputsOf = transaction?.outputs;
  const outputCount = countOf(GLOBAL.outputs, outputsOf?.length);
  while (reader.remaining > 0 && outputs.length < outputCount) {
    const own = yield* readMap(reader, room, OUTPUT_MAPS[version]);
    outputs.push(outputIn(own, outputsOf?.[outputs.length]));
    yield;
  }
  if (outputs.length !== outputCount) throw broken('Outputs provided does not match the number of outputs in transaction.');
  if (reader.remaining > 0) throw new PsbtError('extra data after PSBT');
  // Version 0 need not be said, and is not written.
  if (version === 0) fields.delete(Buffer.of(GLOBAL.psbtVersion).toString('latin1'));
  return { version, fields, transactionVersion: (transaction?.version ?? numberIn(fields, GLOBAL.version) ?? 0) >>> 0, inputs, outputs };
}

function* readMap(reader: ByteReader, room: PsbtRoom, { name, place, values, isNothing }: MapForm): Generator<void, PsbtMap> {
  room.takePart();
  const fields: PsbtMap = new Map();
  const keys = new Set<string>();
  while (reader.remaining > 0) {
    const key = readBytes(reader);
    if (key.length === 0) return fields;
    const text = key.toString('latin1');
    if (keys.has(text)) throw broken(`Duplicate Key, ${name} key "${key.toString('hex')}" already provided`);
    keys.add(text);
    const type = new ByteReader(key).compactSize();
    const value = (values[type] ?? readBytes)(reader, key);
    if (isNothing[type]?.(value) !== true) setField(fields, type, value, key);
    requireFew(fields);
    room.takePart();
    yield;
  }
  throw broken(`Separator is missing at the end of ${place} map`);
}

/** @throws PsbtError if fields of another version are there */
function versionIn(fields: PsbtMap): 0 | 2 {
  const version = numberIn(fields, GLOBAL.psbtVersion) ?? 0;
  const has = (type: number): boolean => fieldOf(fields, type) !== undefined;
  if (version === 0) {
    if (!has(GLOBAL.transaction)) throw broken('No unsigned transaction was provided');
    for (const [type, name] of V2_NAMES) if (has(type)) throw broken(`${name} ${NOT_IN_V0}`);
    return version;
  }
  if (version === 1) throw broken('There is no PSBT version 1');
  for (const type of REQUIRED) if (!has(type)) throw broken(`${V2_NAMES.get(type) ?? ''} is required in PSBTv2`);
  if (has(GLOBAL.transaction)) throw broken('PSBT_GLOBAL_UNSIGNED_TX is not allowed in PSBTv2');
  return 2;
}

const V2_NAMES: ReadonlyMap<number, string> = new Map([
  [GLOBAL.version, 'PSBT_GLOBAL_TX_VERSION'],
  [GLOBAL.locktime, 'PSBT_GLOBAL_FALLBACK_LOCKTIME'],
  [GLOBAL.inputs, 'PSBT_GLOBAL_INPUT_COUNT'],
  [GLOBAL.outputs, 'PSBT_GLOBAL_OUTPUT_COUNT'],
  [GLOBAL.modifiable, 'PSBT_GLOBAL_TX_MODIFIABLE']
]);
const REQUIRED: readonly number[] = [GLOBAL.version, GLOBAL.inputs, GLOBAL.outputs];

function inputIn(fields: PsbtMap, own: ScannedTransaction['inputs'][number] | undefined): PsbtInput {
  if (own !== undefined) return { fields, txid: own.txid, index: own.index, sequence: own.sequence };
  const [txid, index] = [fieldOf(fields, INPUT.txid), numberIn(fields, INPUT.index)];
  if (txid === undefined) throw broken('Previous TXID is required in PSBTv2');
  if (index === undefined) throw broken("Previous output's index is required in PSBTv2");
  return { fields, txid, index, sequence: numberIn(fields, INPUT.sequence) };
}

/** @throws PsbtError unless its whole transaction is the one with the output that is spent */
function requireWhole(input: PsbtInput): PsbtInput {
  const raw = fieldOf(input.fields, INPUT.wholeOutput);
  if (raw === undefined) return input;
  const { txid, outputsOffset } = scanWholeTransaction(raw);
  if (!txid.equals(input.txid)) throw broken('Non-witness UTXO does not match outpoint hash');
  // Not as a list: there may be hundreds of thousands.
  if (input.index >= new ByteReader(raw, outputsOffset).compactSize()) throw broken('Input specifies output index that does not exist');
  return input;
}

function outputIn(fields: PsbtMap, own: ScannedTransaction['outputs'][number] | undefined): PsbtOutput {
  if (own !== undefined) return { fields, value: own.bytes.subarray(own.offset, own.offset + 8), script: own.script };
  const [value, script] = [fieldOf(fields, OUTPUT.amount), fieldOf(fields, OUTPUT.script)];
  if (value === undefined) throw broken('Output amount is required in PSBTv2');
  if (script === undefined) throw broken('Output script is required in PSBTv2');
  return { fields, value, script };
}
