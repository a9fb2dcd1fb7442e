// Transactions to be signed: as such, and as PSBTs.

import { CallError, CODES, invalidParameter, typeError } from '../../answers/errors';
import { amountOf } from '../../answers/transactions/amounts';
import { networkPrefixes, scriptOfDestination } from '../../bitcoin/address';
import { psbtOf } from '../../bitcoin/psbt/psbt';
import { serializedPsbt } from '../../bitcoin/psbt/write';
import { OP_PUSHDATA1, OP_PUSHDATA2, OP_PUSHDATA4, OP_RETURN } from '../../bitcoin/script';
import { FINAL_SEQUENCE, LAST_REPLACEABLE_SEQUENCE } from '../../bitcoin/transaction';
import {
  amountBytes,
  unsignedBytes,
  type UnsignedInput,
  type UnsignedOutput,
  type UnsignedTransaction
} from '../../bitcoin/unsigned-transaction';
import { anyOf, described, listOf, object } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, COUNT, FLAG, HEX, TEXT } from '../../describe/values';
import { hexAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import { parseHash, requireText, typeName, wholeNumber, type Parameter, type Parameters } from '../parameters';
import { runInSlices } from '../../turns/slices';
import { decodedTransaction, IS_WITNESS } from './transactions';

/** The highest that makes a transaction wait for its lock time. */
const LOCKING_SEQUENCE = 0xffff_fffe;
const HIGHEST_LOCKTIME = 0xffff_ffff;
const HIGHEST_VERSION = 3;

/** Inputs, or outputs: more do not fit into a block. */
const MOST_PARTS = 33_000;

const PARAMETERS: readonly Parameter[] = [
  {
    name: 'inputs',
    type: 'array',
    usage: '[{"txid":"hex","vout":n,"sequence":n},...]',
    schema: listOf(object({ txid: ASKED_HASH, vout: COUNT }, { sequence: COUNT }))
  },
  {
    name: 'outputs',
    type: 'any',
    usage: '[{"address":amount,...},{"data":"hex"},...]',
    schema: described(
      'Addresses with amounts in BTC, and `data` with hex: objects in a list, or one object.',
      anyOf({ type: 'array' }, { type: 'object' })
    )
  },
  { name: 'locktime', type: 'number', isOptional: true, schema: { ...COUNT, default: 0 } },
  {
    name: 'replaceable',
    type: 'bool',
    isOptional: true,
    schema: { ...FLAG, default: true, description: 'Whether it may be replaced (BIP125).' }
  },
  { name: 'version', type: 'number', isOptional: true, schema: { ...COUNT, default: 2 } }
];

const PSBT_VERSION: Parameter = {
  name: 'psbt_version',
  type: 'number',
  isOptional: true,
  schema: { enum: [0, 2], default: 2, description: 'Of the PSBT.' }
};

export const PSBT_TEXT = { ...TEXT, description: 'A PSBT in base64.' } as const;

export const creatingCalls = {
  createrawtransaction: {
    summary: 'A transaction without signatures.',
    parameters: PARAMETERS,
    result: () => HEX,
    isHeavy: () => true,
    answer: async (parameters, context, client) => hexAnswer(unsignedBytes(await runInSlices(transactionIn(parameters, context), client)))
  },
  createpsbt: {
    summary: 'A transaction without signatures as a PSBT.',
    parameters: [...PARAMETERS, PSBT_VERSION],
    result: () => PSBT_TEXT,
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const transaction = await runInSlices(transactionIn(parameters, context), client);
      return plainAnswer(await runInSlices(psbtTextOf(transaction, versionIn(parameters, 5)), client));
    }
  },
  converttopsbt: {
    summary: 'A serialized transaction as a PSBT.',
    parameters: [
      { name: 'hexstring', type: 'string', schema: ASKED_HEX },
      {
        name: 'permitsigdata',
        type: 'bool',
        isOptional: true,
        schema: { ...FLAG, default: false, description: 'Whether its signatures are dropped; otherwise it must not have any.' }
      },
      IS_WITNESS,
      PSBT_VERSION
    ],
    result: () => PSBT_TEXT,
    isHeavy: () => true,
    answer: async (parameters, _, client) => {
      const { inputs, hasWitness, outputs, version, locktime } = await decodedTransaction(parameters, 2, client);
      if (!parameters.flag(1, false) && (hasWitness || inputs.some(({ scriptLength }) => scriptLength > 0)))
        throw new CallError(CODES.deserialization, 'Inputs must not have scriptSigs and scriptWitnesses');
      const unsigned = {
        version: version >>> 0,
        inputs: inputs.map(({ txid, index, sequence }) => ({ txid, index, sequence })),
        outputs: outputs.map(({ bytes, offset, script }) => ({ value: bytes.subarray(offset, offset + 8), script })),
        locktime
      };
      return plainAnswer(await runInSlices(psbtTextOf(unsigned, versionIn(parameters, 3)), client));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

function* psbtTextOf(transaction: UnsignedTransaction, version: 0 | 2): Generator<void, string> {
  const psbt = yield* psbtOf(transaction, version);
  return (yield* serializedPsbt(psbt)).toString('base64');
}

/** @throws CallError -8 */
function versionIn(parameters: Parameters, position: number): 0 | 2 {
  const version = parameters.has(position) ? parameters.integer(position, 2, 0, 0xffff_ffff) : 2;
  if (version !== 0 && version !== 2) throw invalidParameter('The PSBT version can only be 2 or 0');
  return version;
}

/** Yields after each input and output. @throws CallError */
function* transactionIn(parameters: Parameters, context: Pick<CallContext, 'node'>): Generator<void, UnsignedTransaction> {
  const replaceable = parameters.has(3) ? parameters.flag(3, true) : undefined;
  const locktime = parameters.any(2) ?? 0;
  const version = parameters.has(4) ? parameters.integer(4, 2, 0, 0xffff_ffff) : 2;
  if (!isWithin(locktime, HIGHEST_LOCKTIME)) throw invalidParameter('Invalid parameter, locktime out of range');
  if (version < 1 || version > HIGHEST_VERSION) throw invalidParameter(`Invalid parameter, version out of range(1~${HIGHEST_VERSION})`);
  const list = parameters.list(0);
  if (list.length > MOST_PARTS) throw invalidParameter(`Invalid parameter, more than ${MOST_PARTS} inputs`);
  const sequence = replaceable !== false ? LAST_REPLACEABLE_SEQUENCE : locktime > 0 ? LOCKING_SEQUENCE : FINAL_SEQUENCE;
  const inputs: UnsignedInput[] = [];
  for (const input of list) {
    inputs.push(inputOf(input, sequence));
    yield;
  }
  const outputs = yield* outputsOf(pairsIn(parameters.any(1)), context);
  if (replaceable === true && inputs.length > 0 && inputs.every((input) => input.sequence > LAST_REPLACEABLE_SEQUENCE))
    throw invalidParameter('Invalid parameter combination: Sequence number(s) contradict replaceable option');
  return { version, inputs, outputs, locktime };
}

/** @throws CallError -1 unless it is a whole number */
function isWithin(value: unknown, most: number): value is number {
  const number = wholeNumber(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  return number >= 0 && number <= most;
}

function inputOf(value: unknown, otherwise: number): UnsignedInput {
  const { txid, vout, sequence = null } = objectOf(value);
  const hash = parseHash(requireText(txid ?? null), 'txid');
  if (typeof vout !== 'number') throw invalidParameter('Invalid parameter, missing vout key');
  const index = wholeNumber(vout, -0x8000_0000, 0x7fff_ffff);
  if (index < 0) throw invalidParameter('Invalid parameter, vout cannot be negative');
  if (typeof sequence !== 'number') return { txid: hash, index, sequence: otherwise };
  if (!isWithin(sequence, FINAL_SEQUENCE)) throw invalidParameter('Invalid parameter, sequence number is out of range');
  return { txid: hash, index, sequence };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeName(value) !== 'object') throw typeError(`JSON value of type ${typeName(value)} is not of expected type object`);
  return value as Readonly<Record<string, unknown>>; // as was checked
}

/** Names and values, of one object or of a list of objects with one of them each. @throws CallError */
function pairsIn(value: unknown): [string, unknown][] {
  if (value === undefined) throw invalidParameter('Invalid parameter, output argument must be non-null');
  if (typeName(value) === 'object') return Object.entries(objectOf(value));
  if (!Array.isArray(value)) throw typeError(`JSON value of type ${typeName(value)} is not of expected type array`);
  return (value as readonly unknown[]).map((item) => {
    if (typeName(item) !== 'object') throw invalidParameter('Invalid parameter, key-value pair not an object as expected');
    const [pair, ...more] = Object.entries(objectOf(item));
    if (pair === undefined || more.length > 0) throw invalidParameter('Invalid parameter, key-value pair must contain exactly one key');
    return pair;
  });
}

function* outputsOf(
  pairs: readonly (readonly [string, unknown])[],
  { node }: Pick<CallContext, 'node'>
): Generator<void, UnsignedOutput[]> {
  if (pairs.length > MOST_PARTS) throw invalidParameter(`Invalid parameter, more than ${MOST_PARTS} outputs`);
  const { chain, addressPrefixes } = node.network;
  const prefixes = networkPrefixes(chain, addressPrefixes);
  const scripts = new Set<string>();
  let hasData = false;
  const outputs: UnsignedOutput[] = [];
  for (const [name, value] of pairs) {
    yield;
    if (name === 'data') {
      if (hasData) throw invalidParameter('Invalid parameter, duplicate key: data');
      hasData = true;
      outputs.push({ value: amountBytes(0), script: Buffer.concat([Buffer.of(OP_RETURN), pushOf(dataOf(value))]) });
      continue;
    }
    if (value === null) throw typeError('Amount is not a number or string');
    const satoshis = amountOf(value, 0);
    const script = scriptOfDestination(name, prefixes);
    if (typeof script === 'string') throw new CallError(CODES.notFound, `Invalid Bitcoin address: ${name}`);
    const key = script.toString('latin1');
    if (scripts.has(key)) throw invalidParameter(`Invalid parameter, duplicated address: ${name}`);
    scripts.add(key);
    outputs.push({ value: amountBytes(satoshis), script });
  }
  return outputs;
}

function dataOf(value: unknown): Buffer {
  // Bitcoin Core reads any JSON value as a text (UniValue::getValStr).
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : value === true ? '1' : '';
  // Of larger numbers the last digits are not those that were written.
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value);
  if (!isExact || text === '' || text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text))
    throw invalidParameter(`Data must be hexadecimal string (not '${text}')`);
  return Buffer.from(text, 'hex');
}

/** A push of bytes, in its shortest form but for small numbers. */
function pushOf(data: Buffer): Buffer {
  const { length } = data;
  if (length < OP_PUSHDATA1) return Buffer.concat([Buffer.of(length), data]);
  const [opcode, bytes] = length < 0x100 ? [OP_PUSHDATA1, 1] : length < 0x1_0000 ? [OP_PUSHDATA2, 2] : [OP_PUSHDATA4, 4];
  const head = Buffer.alloc(1 + bytes);
  head[0] = opcode;
  head.writeUIntLE(length, 1, bytes);
  return Buffer.concat([head, data]);
}
