// Calls on PSBTs that need no keys.

import { randomInt } from 'node:crypto';
import { styleOf } from '../../answers/answers';
import { CallError, CODES, invalidParameter, misc } from '../../answers/errors';
import { findTransaction, requireOrdinary } from '../../answers/transactions/raw-transaction';
import { networkPrefixes } from '../../bitcoin/address';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { PsbtError } from '../../bitcoin/psbt/errors';
import { combined, joined, SameInputError } from '../../bitcoin/psbt/merge';
import { fieldOf, INPUT, setField, type Psbt } from '../../bitcoin/psbt/psbt';
import { psbtIn, PsbtRoom } from '../../bitcoin/psbt/read';
import { updateInputs } from '../../bitcoin/psbt/update';
import { serializedPsbt } from '../../bitcoin/psbt/write';
import { scanWholeTransaction } from '../../bitcoin/transaction';
import { anyOf, listOf, object } from '../../describe/schema';
import { TEXT } from '../../describe/values';
import { nextTurn, runInSlices, Slice } from '../../turns/slices';
import { psbtSchema, psbtText } from '../../views/psbt';
import { jsonAnswer, plainAnswer, type Answer, type CallContext, type CallDefinition, type RpcClient } from '../call';
import { requireText, type Parameter } from '../parameters';
import { PSBT_TEXT } from './creating';
import { descriptorIn, scriptIn } from './scanning';

/** PSBTs, or inputs whose outputs are looked up, in one call. */
const MOST_PSBTS = 1_000;
const MOST_LOOKUPS = 1_000;
/** Each input has a copy of its transaction. */
const MOST_LOOKED_UP_BYTES = 32_000_000;
const MOST_DESCRIPTORS = 1_000;

const PSBT: Parameter = { name: 'psbt', type: 'string', schema: PSBT_TEXT };

const PSBTS: Parameter = { name: 'txs', type: 'array', usage: '["psbt",...]', schema: { ...listOf(PSBT_TEXT), maxItems: MOST_PSBTS } };

const DESCRIPTORS: Parameter = {
  name: 'descriptors',
  type: 'array',
  isOptional: true,
  usage: '["",{"desc":"str","range":n or [n,n]},...]',
  schema: {
    ...listOf(anyOf(TEXT, object({ desc: TEXT }, { range: {} }))),
    maxItems: MOST_DESCRIPTORS,
    description: 'Output descriptors addr(ADDRESS) and raw(SCRIPT), which have nothing that an input could lack.'
  }
};

export const psbtCalls = {
  decodepsbt: {
    summary: 'A PSBT as JSON.',
    parameters: [PSBT],
    result: psbtSchema,
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const psbt = await read(parameters.text(0), client);
      return jsonAnswer(await runInSlices(psbtText(psbt, styleOf(context)), client));
    }
  },
  combinepsbt: {
    summary: 'PSBTs of one transaction as one.',
    parameters: [PSBTS],
    result: () => PSBT_TEXT,
    isHeavy: () => true,
    answer: async (parameters, _, client) => {
      const [first, ...others] = await readAll(parameters.list(0), client);
      if (first === undefined) throw invalidParameter("Parameter 'txs' cannot be empty");
      const one = await decoded(combined([first, ...others]), client);
      if (one === undefined) throw invalidParameter('PSBTs not compatible (different transactions)');
      return await psbtAnswer(one, client);
    }
  },
  joinpsbts: {
    summary: 'PSBTs of version 0 as one of a transaction with all of their inputs and outputs, in any order.',
    parameters: [PSBTS],
    result: () => PSBT_TEXT,
    isHeavy: () => true,
    answer: async (parameters, _, client) => {
      const list = parameters.list(0);
      if (list.length < 2) throw invalidParameter('At least two PSBTs are required to join PSBTs.');
      const psbts = await readAll(list, client, ({ version }) => {
        if (version !== 0) throw invalidParameter('joinpsbts only operates on version 0 PSBTs');
      });
      try {
        return await psbtAnswer(await decoded(joined(psbts, shuffled), client), client);
      } catch (error) {
        if (!(error instanceof SameInputError)) throw error;
        const { txid, index } = error.input;
        throw invalidParameter(`Input ${toDisplayHex(txid)}:${index} exists in multiple PSBTs`);
      }
    }
  },
  utxoupdatepsbt: {
    summary: 'A PSBT with the outputs that it spends, from chain and pool.',
    parameters: [PSBT, DESCRIPTORS],
    result: () => PSBT_TEXT,
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      await requireWithoutKeys(parameters.optionalList(1) ?? [], context);
      const psbt = await read(parameters.text(0), client);
      await addTransactions(psbt, context, client);
      await runInSlices(updateInputs(psbt), client);
      return await psbtAnswer(psbt, client);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

const psbtAnswer = async (psbt: Psbt, client: RpcClient): Promise<Answer> =>
  plainAnswer((await runInSlices(serializedPsbt(psbt), client)).toString('base64'));

/** @throws CallError -22 */
const read = (text: string, client: RpcClient, room?: PsbtRoom): Promise<Psbt> => decoded(psbtIn(text, room), client);

/** @throws CallError -22 */
async function decoded<T>(view: Generator<void, T>, client: RpcClient): Promise<T> {
  try {
    return await runInSlices(view, client);
  } catch (error) {
    throw error instanceof PsbtError ? new CallError(CODES.deserialization, `TX decode failed ${error.message}`) : error;
  }
}

/** @throws CallError -3, -8, -22 */
async function readAll(list: readonly unknown[], client: RpcClient, check: (psbt: Psbt) => void = () => undefined): Promise<Psbt[]> {
  if (list.length > MOST_PSBTS) throw invalidParameter(`More than ${MOST_PSBTS} PSBTs`);
  const psbts: Psbt[] = [];
  const room = new PsbtRoom();
  for (const text of list) {
    const psbt = await read(requireText(text), client, room);
    check(psbt);
    psbts.push(psbt);
  }
  return psbts;
}

/** In an order that nobody can foresee. Yields after each. */
function* shuffled<T>(list: readonly T[]): Generator<void, T[]> {
  const order = [...list];
  for (let left = order.length; left > 1; left--) {
    const [last, other] = [left - 1, randomInt(left)];
    [order[last], order[other]] = [order[other] as T, order[last] as T]; // within
    yield;
  }
  return order;
}

/** Others have keys and scripts, which would have to be derived. @throws CallError -5, -8 */
async function requireWithoutKeys(descriptors: readonly unknown[], { node }: Pick<CallContext, 'node'>): Promise<void> {
  if (descriptors.length > MOST_DESCRIPTORS) throw invalidParameter(`More than ${MOST_DESCRIPTORS} descriptors`);
  const { chain, addressPrefixes } = node.network;
  const prefixes = networkPrefixes(chain, addressPrefixes);
  const slice = new Slice();
  for (const one of descriptors) {
    if (slice.isOver()) await nextTurn();
    scriptIn(descriptorIn(one), prefixes);
  }
}

/** The transactions from which inputs spend, as far as chain and pool have them. */
async function addTransactions(psbt: Psbt, context: CallContext, client: RpcClient): Promise<void> {
  const lacking = psbt.inputs.filter(({ fields }) => fieldOf(fields, INPUT.wholeOutput) === undefined);
  const known = new Map<string, { readonly raw: Buffer; readonly outputs: number } | undefined>();
  const slice = new Slice();
  let bytes = 0;
  for (const { fields, txid, index } of lacking) {
    if (slice.isOverAfterStep()) await nextTurn();
    const key = keyOf(txid);
    if (!known.has(key)) {
      if (known.size === MOST_LOOKUPS) throw misc(`More than ${MOST_LOOKUPS} transactions would be looked up`);
      const raw = await rawOf(txid, context, client);
      known.set(key, raw && { raw, outputs: scanWholeTransaction(raw).outputs.length });
    }
    const found = known.get(key);
    if (found === undefined || index >= found.outputs) continue;
    bytes += found.raw.length;
    if (bytes > MOST_LOOKED_UP_BYTES) throw misc(`The transactions would take more than ${MOST_LOOKED_UP_BYTES} bytes`);
    setField(fields, INPUT.wholeOutput, found.raw);
  }
}

async function rawOf(txid: Buffer, context: CallContext, client: RpcClient): Promise<Buffer | undefined> {
  try {
    requireOrdinary(txid, context);
    return (await findTransaction(txid, context, client)).raw;
  } catch (error) {
    if (error instanceof CallError && error.code === CODES.notFound) return undefined;
    throw error;
  }
}
