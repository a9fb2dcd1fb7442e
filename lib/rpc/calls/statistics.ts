// Figures of the chain and of single blocks.

import { findActiveBlock, type KnownBlock } from '../../answers/blocks/known-block';
import { invalidParameter, misc } from '../../answers/errors';
import { scanBlock } from '../../bitcoin/block';
import { fromDisplayHex, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH, timeOf } from '../../bitcoin/header';
import { subsidyAt } from '../../bitcoin/subsidy';
import { anyOf, described, listOf, named, object } from '../../describe/schema';
import { ASKED_HASH, BLOCK_HASH, COUNT, HEIGHT, INTEGER, NUMBER, TEXT, TIME } from '../../describe/values';
import { chainMoving } from '../../server/errors';
import { runInSlices } from '../../turns/slices';
import { blockStatsSchema, blockSums } from '../../views/block-stats';
import { doubleText } from '../../views/json-writer';
import { jsonAnswer, plainAnswer, type CallContext, type CallDefinition, type RpcClient } from '../call';
import { blockNotFound } from '../errors';
import { knownBlock, refuseBlock } from '../known-block';
import { parseHash, requireText, wholeNumber } from '../parameters';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';

/** Blocks of a month. */
const MONTH_BLOCKS = 4_320;

/** Headers between two yields. */
const HEADERS_PER_STEP = 2_000;

/** Blocks whose coinbases replaced earlier ones with the same txid. */
const REPEATED = [
  '00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caec',
  '00000000000743f190a18c5577a3c2d2a1f610ae9601ac046a38084ccb7cd721'
].map(fromDisplayHex);

export const statisticsCalls = {
  getchaintxstats: {
    summary: 'How many transactions the chain and its last blocks have.',
    parameters: [
      {
        name: 'nblocks',
        type: 'number',
        isOptional: true,
        schema: { ...COUNT, description: 'The last blocks; those of a month unless given.' }
      },
      { name: 'blockhash', type: 'string', isOptional: true, schema: described('The last of them; the tip unless given.', ASKED_HASH) }
    ],
    result: () =>
      named(
        'ChainTransactions',
        object(
          {
            time: described('Of the last block, Unix time in seconds.', TIME),
            window_final_block_hash: BLOCK_HASH,
            window_final_block_height: HEIGHT,
            window_block_count: COUNT
          },
          {
            txcount: described('Transactions up to the last block; lacking if some blocks are not known.', COUNT),
            window_interval: described('Seconds between the median times past of the first and the last block.', INTEGER),
            window_tx_count: COUNT,
            txrate: described('Transactions for each second.', NUMBER)
          }
        )
      ),
    answer: async (parameters, { reader, node }, client) => {
      const hash = parameters.has(1) ? parameters.hash(1) : undefined;
      if (hash !== undefined && reader.read((snapshot) => snapshot.heightOf(hash)) === undefined)
        throw (await node.entry(hash)) === undefined ? blockNotFound() : invalidParameter('Block is not in main chain');
      return reader.read(async (snapshot) => {
        const last = hash === undefined ? snapshot.tip : snapshot.headerAt(snapshot.heightOf(hash) ?? -1);
        if (last === undefined) throw chainMoving();
        const blocks = parameters.has(0) ? parameters.integer(0) : Math.max(0, Math.min(MONTH_BLOCKS, last.height - 1));
        if (blocks < 0 || (blocks > 0 && blocks >= last.height))
          throw invalidParameter("Invalid block count: should be between 0 and the block's height - 1");
        const first = snapshot.headerAt(last.height - blocks) as HeaderRecord; // not above the last
        const { before, all } = await runInSlices(transactionsUpTo(first.height, last.height, snapshot), client);
        const seconds = last.medianTime - first.medianTime;
        const parts = [
          `{"time":${timeOf(last.header)}`,
          ...(all === undefined ? [] : [`"txcount":${all}`]),
          `"window_final_block_hash":"${toDisplayHex(last.hash)}","window_final_block_height":${last.height},"window_block_count":${blocks}`,
          ...(blocks === 0 ? [] : [`"window_interval":${seconds}`]),
          ...(blocks === 0 || all === undefined || before === undefined ? [] : [`"window_tx_count":${all - before}`]),
          ...(blocks === 0 || all === undefined || before === undefined || seconds <= 0
            ? []
            : [`"txrate":${doubleText((all - before) / seconds)}`])
        ];
        return jsonAnswer(Buffer.from(`${parts.join(',')}}`));
      });
    }
  },
  getblockstats: {
    summary: 'What the transactions of a block add up to.',
    parameters: [
      { name: 'hash_or_height', type: 'any', schema: described('The block, by hash or height.', anyOf(ASKED_HASH, HEIGHT)) },
      {
        name: 'stats',
        type: 'array',
        isOptional: true,
        usage: 'stats',
        schema: described('The names of those that are wanted; all unless given.', listOf(TEXT))
      }
    ],
    result: blockStatsSchema,
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const block = await blockIn(parameters.any(0) ?? null, context);
      const wanted = (parameters.optionalList(1) ?? []).map(requireText);
      const stats = await statsOf(block, context, client);
      if (wanted.length === 0) return plainAnswer(stats);
      return plainAnswer(chosen(stats, wanted));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** The transactions of the chain up to two heights; undefined where some blocks are not known. Yields now and then. */
function* transactionsUpTo(
  first: number,
  last: number,
  snapshot: IndexSnapshot
): Generator<void, { readonly before: number | undefined; readonly all: number | undefined }> {
  let count: number | undefined = 0;
  let before: number | undefined;
  for (let height = 0; height <= last;) {
    const most = (height <= first ? first : last) - height + 1;
    const run = snapshot.headerRun(height, Math.min(HEADERS_PER_STEP, most));
    if (run === undefined) break;
    for (let i = 0; i < run.count; i++) {
      const { transactionCount } = run.detailsAt(i);
      count = transactionCount === 0 || count === undefined ? undefined : count + transactionCount;
    }
    height += run.count;
    if (height === first + 1) before = count;
    yield;
  }
  return { before, all: count };
}

/** Those of these names, in their order; of unknown names the first is an error. There may be very many, so they are not sorted. @throws CallError */
function chosen(stats: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, unknown>> {
  const known = new Set<string>();
  let unknown: string | undefined;
  for (const name of names) {
    if (Object.hasOwn(stats, name)) known.add(name);
    else if (unknown === undefined || name < unknown) unknown = name;
  }
  if (unknown !== undefined) throw invalidParameter(`Invalid selected statistic '${unknown}'`);
  return Object.fromEntries([...known].sort().map((name) => [name, stats[name]]));
}

/** The block of a hash or a height of the chain. @throws CallError */
async function blockIn(value: unknown, context: CallContext): Promise<KnownBlock> {
  if (typeof value === 'number') {
    const height = wholeNumber(value, -0x8000_0000, 0x7fff_ffff);
    const tip = context.reader.read((snapshot) => snapshot.tip.height);
    if (height < 0) throw invalidParameter(`Target block height ${height} is negative`);
    if (height > tip) throw invalidParameter(`Target block height ${height} after current tip ${tip}`);
    const hash = context.reader.read((snapshot) => snapshot.headerAt(height)?.hash);
    const block = hash && findActiveBlock(hash, context);
    if (block === undefined) throw chainMoving();
    return block;
  }
  return knownBlock(parseHash(requireText(value), 'hash_or_height'), context);
}

/** @throws CallError -1 */
async function statsOf(block: KnownBlock, context: CallContext, client: RpcClient) {
  const { hash, height, medianTime } = block;
  const { blocks, node, spent } = context;
  const raw = (await blocks.block(block, client, block.tip !== undefined)) ?? (await refuseBlock(block, context));
  // A coinbase alone spends nothing.
  const coins = raw[HEADER_LENGTH] === 1 ? [] : await spent.of(hash);
  if (coins === undefined) throw misc('Undo data not available');
  const coinbaseMakesNoCoins = height === 0 || REPEATED.some((repeated) => repeated.equals(hash));
  const sums = await runInSlices(blockSums(scanBlock(raw), { spent: coins, coinbaseMakesNoCoins }), client);
  return {
    avgfee: sums.avgfee,
    avgfeerate: sums.avgfeerate,
    avgtxsize: sums.avgtxsize,
    blockhash: toDisplayHex(hash),
    feerate_percentiles: sums.feerate_percentiles,
    height,
    ins: sums.ins,
    maxfee: sums.maxfee,
    maxfeerate: sums.maxfeerate,
    maxtxsize: sums.maxtxsize,
    medianfee: sums.medianfee,
    mediantime: medianTime,
    mediantxsize: sums.mediantxsize,
    minfee: sums.minfee,
    minfeerate: sums.minfeerate,
    mintxsize: sums.mintxsize,
    outs: sums.outs,
    subsidy: subsidyAt(height, node.network.halvingInterval),
    swtotal_size: sums.swtotal_size,
    swtotal_weight: sums.swtotal_weight,
    swtxs: sums.swtxs,
    time: timeOf(raw),
    total_out: sums.total_out,
    total_size: sums.total_size,
    total_weight: sums.total_weight,
    totalfee: sums.totalfee,
    txs: sums.txs,
    utxo_increase: sums.utxo_increase,
    utxo_size_inc: sums.utxo_size_inc,
    utxo_increase_actual: sums.utxo_increase_actual,
    utxo_size_inc_actual: sums.utxo_size_inc_actual
  };
}
