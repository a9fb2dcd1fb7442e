// Reads PSBTs as Bitcoin Core does, and refuses what it refuses, in its words.

import { ByteReader, MalformedBytesError } from '../reader';
import { scanStrippedTransaction, scanWholeTransaction } from '../transaction';
import { broken, brokenBytes, PsbtError } from './errors';
import {
  fieldOf,
  GLOBAL,
  INPUT,
  numberIn,
  OUTPUT,
  PROPRIETARY,
  requireFew,
  setField,
  type Psbt,
  type PsbtInput,
  type PsbtMap,
  type PsbtOutput
} from './psbt';
import {
  leavesIn,
  readBytes,
  readCount,
  readExactly,
  readLeaf,
  readNonce,
  readOutput,
  readParticipants,
  readPath,
  readSchnorr,
  readScript,
  readSignature,
  readTapPath,
  readUnsigned,
  readWholeOutput,
  readWitness,
  requireControlBlock,
  requireKeyLength,
  requireParticipant,
  requirePublicKey,
  requireTree,
  requireXpub
} from './values';
import type { ScannedTransaction } from '../transaction';

const MAGIC = '70736274ff';
const HIGHEST_VERSION = 2;
/** Lock times from here on are times, below they are heights. */
const FIRST_TIME = 500_000_000;

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

/** Reads the value of a field whose key was read; undefined: there is no such field, and its value is kept as it is. */
type ReadValue = (reader: ByteReader, key: Buffer) => Buffer;

type Fields = Readonly<Record<number, ReadValue | undefined>>;

const NOT_IN_V0 = 'is not allowed in PSBTv0';

/** A field with nothing in its key but its type. */
const single =
  (name: string, read: (reader: ByteReader) => Buffer): ReadValue =>
  (reader, key) => {
    requireKeyLength(name, key, 1);
    return read(reader);
  };

const number = (reader: ByteReader): Buffer => readExactly(reader, 4);
const hash = (reader: ByteReader): Buffer => readExactly(reader, 32);

/** A field of version 2. `words`: what errors call it. */
const ofV2 = (name: string, words: string, version: number, read: (reader: ByteReader) => Buffer): ReadValue =>
  single(name, (reader) => {
    if (version < 2) throw broken(`${words} ${NOT_IN_V0}`);
    return read(reader);
  });

const derivation: ReadValue = (reader, key) => {
  requirePublicKey('BIP32 keypath', key);
  return readPath(reader);
};

const tapDerivation =
  (name: 'Input' | 'Output'): ReadValue =>
  (reader, key) => {
    requireKeyLength(`${name} Taproot BIP32 Keypath`, key, 33);
    return readTapPath(reader, name);
  };

const participants =
  (name: 'Input' | 'Output'): ReadValue =>
  (reader, key) => {
    requireKeyLength(`${name} MuSig2 Participants Pubkeys`, key, 34);
    return readParticipants(reader, key, name);
  };

const preimage =
  (name: string, length: number): ReadValue =>
  (reader, key) => {
    requireKeyLength(`Input ${name} Preimage`, key, 1 + length);
    return readBytes(reader);
  };

const proprietary: ReadValue = (reader, key) => {
  const inner = new ByteReader(key, 1);
  readBytes(inner);
  inner.compactSize();
  return readBytes(reader);
};

const GLOBAL_FIELDS: Fields = {
  [GLOBAL.transaction]: single('Global Unsigned TX', readUnsigned),
  [GLOBAL.version]: single('Global Transaction Version', number),
  [GLOBAL.locktime]: single('Global Fallback Locktime', number),
  [GLOBAL.inputs]: single('Global Input Count', readCount),
  [GLOBAL.outputs]: single('Global Output Count', readCount),
  [GLOBAL.modifiable]: single('Global TX Modifiable Flags', (reader) => readExactly(reader, 1)),
  [GLOBAL.xpub]: (reader, key) => {
    requireXpub(key);
    return readPath(reader);
  },
  [GLOBAL.psbtVersion]: single('Global PSBT Version', (reader) => {
    const value = number(reader);
    if (value.readUInt32LE() > HIGHEST_VERSION) throw broken('Unsupported version number');
    return value;
  }),
  [PROPRIETARY]: proprietary
};

const inputFields = (version: number): Fields => ({
  [INPUT.wholeOutput]: single('Input Non-witness UTXO', readWholeOutput),
  [INPUT.output]: single('Input Witness UTXO', readOutput),
  [INPUT.signature]: (reader, key) => {
    requirePublicKey('partial signature pubkey', key);
    return readSignature(reader);
  },
  [INPUT.sighash]: single('Input Sighash Type', number),
  [INPUT.redeemScript]: single('Input redeemScript', readScript),
  [INPUT.witnessScript]: single('Input witnessScript', readScript),
  [INPUT.derivation]: derivation,
  [INPUT.finalScript]: single('Input Final scriptSig', readScript),
  [INPUT.finalWitness]: single('Input Final scriptWitness', readWitness),
  [INPUT.ripemd160]: preimage('RIPEMD160', 20),
  [INPUT.sha256]: preimage('SHA256', 32),
  [INPUT.hash160]: preimage('Hash160', 20),
  [INPUT.hash256]: preimage('Hash256', 32),
  [INPUT.txid]: ofV2('Input Previous TXID', 'Previous txid', version, hash),
  [INPUT.index]: ofV2("Input Previous Output's Index", "Previous output's index", version, number),
  [INPUT.sequence]: ofV2('Input Sequence', 'Sequence', version, number),
  [INPUT.timeLock]: ofV2('Input Required Time Based Locktime', 'Required time based locktime', version, (reader) => {
    const value = number(reader);
    if (value.readUInt32LE() < FIRST_TIME) throw broken(`Required time based locktime is invalid (less than ${FIRST_TIME})`);
    return value;
  }),
  [INPUT.heightLock]: ofV2('Input Required Height Based Locktime', 'Required height based locktime', version, (reader) => {
    const value = number(reader);
    const height = value.readUInt32LE();
    if (height >= FIRST_TIME) throw broken(`Required height based locktime is invalid (greater than or equal to ${FIRST_TIME})`);
    if (height === 0) throw broken('Required height based locktime is invalid (0)');
    return value;
  }),
  [INPUT.tapSignature]: single('Input Taproot Key Path Signature', (reader) => readSchnorr(reader, 'key')),
  [INPUT.tapScriptSignature]: (reader, key) => {
    requireKeyLength('Input Taproot Script Path Signature', key, 65);
    return readSchnorr(reader, 'script');
  },
  [INPUT.tapScript]: (reader, key) => {
    requireControlBlock(key);
    return readLeaf(reader);
  },
  [INPUT.tapDerivation]: tapDerivation('Input'),
  [INPUT.tapKey]: single('Input Taproot Internal Key', hash),
  [INPUT.tapRoot]: single('Input Taproot Merkle Root', hash),
  [INPUT.participants]: participants('Input'),
  [INPUT.nonce]: (reader, key) => {
    requireParticipant(key, 'pubnonce');
    return readNonce(reader);
  },
  [INPUT.partialSignature]: (reader, key) => {
    requireParticipant(key, 'partial sig');
    return hash(reader);
  },
  [PROPRIETARY]: proprietary
});

const outputFields = (version: number): Fields => ({
  [OUTPUT.redeemScript]: single('Output redeemScript', readScript),
  [OUTPUT.witnessScript]: single('Output witnessScript', readScript),
  [OUTPUT.derivation]: derivation,
  [OUTPUT.amount]: ofV2('Output Amount', 'Output amount', version, (reader) => readExactly(reader, 8)),
  [OUTPUT.script]: ofV2('Output Script', 'Output script', version, readScript),
  [OUTPUT.tapKey]: single('Output Taproot Internal Key', hash),
  [OUTPUT.tapTree]: single('Output Taproot Tree Key', (reader) => {
    const tree = readBytes(reader);
    requireTree(leavesIn(new ByteReader(tree)));
    return tree;
  }),
  [OUTPUT.tapDerivation]: tapDerivation('Output'),
  [OUTPUT.participants]: participants('Output'),
  [PROPRIETARY]: proprietary
});

const [INPUTS_V0, INPUTS_V2] = [inputFields(0), inputFields(2)];
const [OUTPUTS_V0, OUTPUTS_V2] = [outputFields(0), outputFields(2)];

/** Values that stand for nothing. */
const isEmpty = (value: Buffer): boolean => value.length === 0;
const isZero = (value: Buffer): boolean => value.every((byte) => byte === 0);
const NOTHING_IN_INPUTS: Readonly<Record<number, ((value: Buffer) => boolean) | undefined>> = {
  [INPUT.output]: (value) => value.readBigInt64LE() === -1n,
  [INPUT.redeemScript]: isEmpty,
  [INPUT.witnessScript]: isEmpty,
  [INPUT.finalScript]: isEmpty,
  [INPUT.finalWitness]: isZero,
  [INPUT.tapKey]: isZero,
  [INPUT.tapRoot]: isZero
};
const NOTHING_IN_OUTPUTS: typeof NOTHING_IN_INPUTS = {
  [OUTPUT.redeemScript]: isEmpty,
  [OUTPUT.witnessScript]: isEmpty,
  [OUTPUT.tapKey]: isZero
};

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
  const fields = yield* readMap(reader, room, GLOBAL_FIELDS, 'global', 'the global');
  const version = versionIn(fields);
  const unsigned = fieldOf(fields, GLOBAL.transaction);
  const transaction = unsigned && scanStrippedTransaction(unsigned);
  const inputs: PsbtInput[] = [];
  const countOf = (type: number, own: number | undefined): number =>
    own ?? new ByteReader(fieldOf(fields, type) ?? Buffer.of(0)).compactSize();
  const inputCount = countOf(GLOBAL.inputs, transaction?.inputCount);
  const ofTransaction = transaction?.inputs;
  while (reader.remaining > 0 && inputs.length < inputCount) {
    const own = yield* readMap(reader, room, version === 0 ? INPUTS_V0 : INPUTS_V2, 'input', 'an input', NOTHING_IN_INPUTS);
    inputs.push(requireWhole(inputIn(own, ofTransaction?.[inputs.length])));
    yield;
  }
  if (inputs.length !== inputCount) throw broken('Inputs provided does not match the number of inputs in transaction.');
  const outputs: PsbtOutput[] = [];
  const outputsOf = transaction?.outputs;
  const outputCount = countOf(GLOBAL.outputs, outputsOf?.length);
  while (reader.remaining > 0 && outputs.length < outputCount) {
    const own = yield* readMap(reader, room, version === 0 ? OUTPUTS_V0 : OUTPUTS_V2, 'output', 'an output', NOTHING_IN_OUTPUTS);
    outputs.push(outputIn(own, outputsOf?.[outputs.length]));
    yield;
  }
  if (outputs.length !== outputCount) throw broken('Outputs provided does not match the number of outputs in transaction.');
  if (reader.remaining > 0) throw new PsbtError('extra data after PSBT');
  // Version 0 need not be said, and is not written.
  if (version === 0) fields.delete(Buffer.of(GLOBAL.psbtVersion).toString('latin1'));
  return { version, fields, transactionVersion: (transaction?.version ?? numberIn(fields, GLOBAL.version) ?? 0) >>> 0, inputs, outputs };
}

function* readMap(
  reader: ByteReader,
  room: PsbtRoom,
  known: Fields,
  name: string,
  place: string,
  nothing: typeof NOTHING_IN_INPUTS = {}
): Generator<void, PsbtMap> {
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
    const value = (known[type] ?? readBytes)(reader, key);
    if (nothing[type]?.(value) !== true) setField(fields, type, value, key);
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
