// scantxoutset: the coins of some scripts, from the index by script.

import { invalidParameter, misc, notFound } from '../../answers/errors';
import { unlessGone } from '../../answers/scripts/totals';
import { networkPrefixes, type AddressPrefixes } from '../../bitcoin/address';
import { writeDescriptor } from '../../bitcoin/descriptor';
import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { DescriptorError, scriptOfDescriptor } from '../../bitcoin/script-descriptor';
import { scriptTypeOf } from '../../bitcoin/script-type';
import { anyOf, described, listOf, named, object } from '../../describe/schema';
import { BLOCK_HASH, COINS, COUNT, FLAG, HEIGHT, HEX, TEXT, TXID } from '../../describe/values';
import { HistoryTooLongError, TooManyCoinsError } from '../../scripts/errors';
import { Slice, nextTurn, runInOrder } from '../../turns/slices';
import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, plainAnswer, type CallContext, type CallDefinition, type RpcClient } from '../call';
import { requireText, typeName, wholeNumber } from '../parameters';
import type { HeaderRecord } from '../../index/types';
import type { ScriptCoin } from '../../scripts/script-coins';

/** Scripts in one call. */
const MOST_SCRIPTS = 10_000;
/** Of keys in the range of a descriptor. */
const MOST_INDEX = 0x7fff_ffff;
const MOST_INDEXES = 1_000_000;
/** Coins in one reply. */
const MOST_COINS = 100_000;

interface FoundCoin extends ScriptCoin {
  readonly script: Buffer;
  readonly blockHash: Buffer;
}

const COIN = named(
  'ScannedCoin',
  object({
    txid: TXID,
    vout: COUNT,
    scriptPubKey: HEX,
    desc: described('An output descriptor with its checksum.', TEXT),
    amount: COINS,
    coinbase: FLAG,
    height: HEIGHT,
    blockhash: BLOCK_HASH,
    confirmations: COUNT
  })
);

export const scanningCalls = {
  scantxoutset: {
    summary: 'The coins of some scripts; with --rest-addresses.',
    parameters: [
      {
        name: 'action',
        type: 'string',
        schema: { enum: ['start', 'abort', 'status'], description: 'A scan takes no time: there is none to abort.' }
      },
      {
        name: 'scanobjects',
        type: 'array',
        isOptional: true,
        usage: '[scanobjects,...]',
        schema: {
          ...listOf(anyOf(TEXT, object({ desc: TEXT }, { range: described('Without effect.', {}) }))),
          maxItems: MOST_SCRIPTS,
          description: 'Output descriptors addr(ADDRESS) and raw(SCRIPT).'
        }
      }
    ],
    result: () =>
      anyOf(
        named(
          'ScannedCoins',
          object({
            success: FLAG,
            txouts: described('The coins that were looked at: those that were found.', COUNT),
            height: HEIGHT,
            bestblock: BLOCK_HASH,
            unspents: listOf(COIN),
            total_amount: COINS
          })
        ),
        { type: 'null' },
        FLAG
      ),
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const action = parameters.text(0);
      if (action === 'status') return plainAnswer(null);
      if (action === 'abort') return plainAnswer(false);
      if (action !== 'start') throw invalidParameter(`Invalid action '${action}'`);
      const objects = parameters.optionalList(1);
      if (objects === undefined) throw misc('scanobjects argument is required for the start action');
      if (objects.length > MOST_SCRIPTS) throw invalidParameter(`More than ${MOST_SCRIPTS} scan objects`);
      const { chain, addressPrefixes } = context.node.network;
      const prefixes = networkPrefixes(chain, addressPrefixes);
      const slice = new Slice();
      const scripts = new Map<string, Buffer>();
      for (const one of objects) {
        if (slice.isOver()) await nextTurn();
        const script = scriptIn(descriptorIn(one), prefixes);
        scripts.set(keyOf(script), script);
      }
      return jsonAnswer(await scan([...scripts.values()], context, client));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** @throws CallError */
export function descriptorIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeName(value) !== 'object') throw invalidParameter('Scan object needs to be either a string or an object');
  const { desc, range } = value as { readonly desc?: unknown; readonly range?: unknown }; // as was checked
  if (desc === undefined || desc === null) throw invalidParameter('Descriptor needs to be provided in scan object');
  const descriptor = requireText(desc);
  if (range !== undefined && range !== null) requireRange(range);
  return descriptor;
}

/** Descriptors of ranges are not known here: the range must be one, and has no effect. @throws CallError -8, -1 */
function requireRange(range: unknown): void {
  const [low, high] = typeof range === 'number' ? [0, range] : pairIn(range);
  const [first, last] = [low, high].map((value) => wholeNumber(value, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)) as [
    number,
    number
  ];
  if (first > last && typeof range !== 'number') throw invalidParameter('Range specified as [begin,end] must not have begin after end');
  if (first < 0) throw invalidParameter('Range should be greater or equal than 0');
  if (last < 0 || last > MOST_INDEX) throw invalidParameter('End of range is too high');
  if (last >= first + MOST_INDEXES) throw invalidParameter('Range is too large');
}

/** @throws CallError -8 */
function pairIn(range: unknown): readonly [number, number] {
  const [low, high, ...more] = Array.isArray(range) ? (range as readonly unknown[]) : [];
  if (typeof low !== 'number' || typeof high !== 'number' || more.length > 0)
    throw invalidParameter('Range must be specified as end or as [begin,end]');
  return [low, high];
}

/** @throws CallError -5 */
export function scriptIn(descriptor: string, prefixes: readonly AddressPrefixes[]): Buffer {
  try {
    return scriptOfDescriptor(descriptor, prefixes);
  } catch (error) {
    throw error instanceof DescriptorError ? notFound(error.message) : error;
  }
}

/** @throws CallError -1 */
async function scan(scripts: readonly Buffer[], context: CallContext, client: RpcClient): Promise<Buffer> {
  const answers = context.scripts();
  if (answers === undefined) throw misc('scantxoutset needs the index by script (--rest-addresses)');
  const goOn = unlessGone(client);
  try {
    return await answers.scripts.read(async (snapshot) => {
      const found: FoundCoin[] = [];
      const slice = new Slice();
      for (const script of scripts) {
        if (slice.isOverAfterStep()) await nextTurn();
        goOn();
        const hash = scriptHashOf(script);
        const totals = (): ReturnType<typeof answers.totals.of> => answers.totals.of(hash, snapshot, client);
        const { coins } = await snapshot.coins(hash, MOST_COINS - found.length, { totals, goOn });
        for (const coin of coins) {
          if (slice.isOverAfterStep()) await nextTurn();
          found.push({ ...coin, script, blockHash: (snapshot.index.headerAt(coin.height) as HeaderRecord).hash }); // up to the tip
        }
      }
      return runInOrder(coinsText(found, snapshot.index.tip, context), client);
    });
  } catch (error) {
    if (error instanceof TooManyCoinsError || error instanceof HistoryTooLongError)
      throw misc(`The scripts have too many coins: ${error.message}`);
    throw error;
  }
}

/** Yields now and then. */
function* coinsText(found: readonly FoundCoin[], tip: HeaderRecord, { node }: CallContext): Generator<void, Buffer> {
  const writer = new JsonWriter(found.length * 512 + 512);
  writer.ascii(`{"success":true,"txouts":${found.length},"height":${tip.height}`);
  writer.hashField(',"bestblock":', tip.hash);
  writer.ascii(',"unspents":[');
  let total = 0;
  for (const [i, coin] of (yield* byOutpoint(found)).entries()) {
    const { script } = coin;
    writer.hashField(i === 0 ? '{"txid":' : ',{"txid":', coin.txid);
    writer.ascii(`,"vout":${coin.index},"scriptPubKey":`);
    writer.hexString(script);
    writer.ascii(',"desc":"');
    writeDescriptor(writer, script, 0, script.length, scriptTypeOf(script), node.network.addressPrefixes);
    writer.amountField('","amount":', coin.value);
    writer.ascii(`,"coinbase":${coin.coinbase},"height":${coin.height}`);
    writer.hashField(',"blockhash":', coin.blockHash);
    writer.ascii(`,"confirmations":${tip.height - coin.height + 1}}`);
    total += coin.value;
    yield;
  }
  writer.amountField('],"total_amount":', total);
  writer.ascii('}');
  return writer.toBuffer();
}

/** In the order of Bitcoin Core's map of coins. The first byte of the txid divides the sorting into turns. */
function* byOutpoint(found: readonly FoundCoin[]): Generator<void, FoundCoin[]> {
  const parts = Array.from({ length: 256 }, (): FoundCoin[] => []);
  for (const coin of found) {
    parts[coin.txid[0] ?? 0]?.push(coin);
    yield;
  }
  for (const part of parts) {
    part.sort((a, b) => a.txid.compare(b.txid) || a.index - b.index);
    yield;
  }
  return parts.flat();
}
