// The pool as a whole: its size, its fees, and the txids of its transactions.

import { PoolView } from '../../answers/pool/pool-view';
import { inPath, inQuery, json } from '../../describe/open-api';
import { described, listOf, named, object, tuple } from '../../describe/schema';
import { ASKED_HASH, COUNT, FEE_RATE, SATOSHIS, TXID, VBYTES } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { sorted } from '../../turns/sorted';
import { rustDoubleText } from '../../views/esplora/double';
import { JsonWriter } from '../../views/json-writer';
import { findHash, findNumber, jsonReply } from '../reply';
import { TXIDS_PER_SLICE, txidsText } from './txids-text';
import type { RecentTransaction, ScriptPool } from '../../pool/by-script/script-pool';
import type { PoolSummary } from '../../pool/summary';
import type { Endpoint, EsploraContext, Route } from '../endpoint';
import type { EsploraReply } from '../reply';

/** Txids on one page. */
const MOST_TXIDS = 10_000;

const RECENT_SECONDS = 5;

export function mempoolRoutes({ pool, fees }: EsploraContext): Route[] {
  const txids = new PoolView(pool, () => txidsText(pool.transactions().map(({ txid }) => txid)));
  const page = pageEndpoint(new PoolView(pool, () => txidsInOrder(pool)));
  return [
    {
      method: 'GET',
      path: '/mempool',
      endpoint: async () => jsonReply(summaryText(await fees.summary())),
      isHeavy: true,
      operation: { id: 'getMempool', summary: 'The pool in figures.', answer: json('The figures.', SUMMARY) }
    },
    {
      method: 'GET',
      path: '/mempool/txids',
      endpoint: async () => jsonReply(await txids.get()),
      isHeavy: true,
      operation: { id: 'getMempoolTxids', summary: 'The transactions of the pool, by txid.', answer: json('The txids.', listOf(TXID)) }
    },
    {
      method: 'GET',
      path: '/mempool/txids/page',
      endpoint: page,
      isHeavy: true,
      operation: {
        id: 'getMempoolTxidsPage',
        summary: 'The first txids of the pool, in their own order.',
        parameters: [MOST],
        answer: PAGE
      }
    },
    {
      method: 'GET',
      path: '/mempool/txids/page/:last',
      endpoint: page,
      isHeavy: true,
      operation: {
        id: 'getMempoolTxidsPageAfter',
        summary: 'The txids of the pool after one, in their own order.',
        parameters: [inPath('last', 'The last txid of the page before.', ASKED_HASH), MOST],
        answer: PAGE
      }
    },
    {
      method: 'GET',
      path: '/mempool/recent',
      endpoint: () => Promise.resolve(recentReply(pool.recent())),
      operation: {
        id: 'getRecentTransactions',
        summary: 'The transactions that entered the pool last.',
        answer: json('The newest first.', listOf(RECENT))
      }
    }
  ];
}

const MOST = inQuery('max_txs', 'The most txids.', { type: 'integer', minimum: 0, default: MOST_TXIDS });

const PAGE = json('The txids, in ascending order of their bytes.', { ...listOf(TXID), maxItems: MOST_TXIDS });

/** What `summaryText` writes. */
const SUMMARY = named(
  'MempoolSummary',
  object({
    count: described('The number of transactions.', COUNT),
    vsize: VBYTES,
    total_fee: SATOSHIS,
    fee_histogram: described(
      'From the highest fee rates down: a fee rate, and the virtual bytes that pay at least that.',
      listOf(tuple(FEE_RATE, VBYTES))
    )
  })
);

/** What `recentReply` writes. */
const RECENT = named(
  'RecentTransaction',
  object({ txid: TXID, fee: SATOSHIS, vsize: VBYTES, value: described('Satoshis of all outputs that it spends.', SATOSHIS) })
);

function summaryText({ count, vsize, totalFee, histogram }: PoolSummary): string {
  const bins = histogram.map((bin) => `[${rustDoubleText(bin.rate)},${bin.vsize}]`);
  return `{"count":${count},"vsize":${vsize},"total_fee":${totalFee},"fee_histogram":[${bins.join(',')}]}`;
}

function recentReply(recent: readonly RecentTransaction[]): EsploraReply {
  const writer = new JsonWriter();
  writer.ascii('[');
  for (const [i, { txid, fee, vsize, inputValue }] of recent.entries()) {
    writer.hashField(i === 0 ? '{"txid":' : ',{"txid":', txid);
    writer.ascii(`,"fee":${fee},"vsize":${vsize},"value":${inputValue}}`);
  }
  writer.ascii(']');
  return { ...jsonReply(writer.toBuffer()), maxAge: RECENT_SECONDS };
}

/** The page after a txid, even if the pool no longer has it. A malformed txid counts as none. */
function pageEndpoint(order: PoolView<readonly Buffer[]>): Endpoint {
  return async (request) => {
    const last = findHash(request.optional('last') ?? '');
    const most = Math.min(findNumber(request.query('max_txs') ?? '') ?? MOST_TXIDS, MOST_TXIDS);
    const txids = await order.get();
    const start = last === undefined ? 0 : placeBehind(last, txids);
    return jsonReply(await runInSlices(txidsText(txids.slice(start, start + most)), request));
  };
}

/** The pool's txids, sorted by their bytes in wire order. */
function* txidsInOrder(pool: ScriptPool): Generator<void, readonly Buffer[]> {
  const txids = pool.transactions().map(({ txid }) => txid);
  // Comparing the first bytes as numbers takes a tenth of the time, and they are hardly ever equal.
  const beginnings = new Float64Array(txids.length);
  const places: number[] = [];
  for (const [i, txid] of txids.entries()) {
    beginnings[i] = txid.readUIntBE(0, 6);
    places.push(i);
    if (i % TXIDS_PER_SLICE === 0) yield;
  }
  const compare = (a: number, b: number): number =>
    (beginnings[a] as number) - (beginnings[b] as number) || Buffer.compare(txids[a] as Buffer, txids[b] as Buffer);
  const order = yield* sorted(places, compare);
  return order.map((i) => txids[i] as Buffer); // each is below the length
}

/** The place after a txid in an ascending list. */
function placeBehind(txid: Buffer, txids: readonly Buffer[]): number {
  let [from, to] = [0, txids.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (Buffer.compare(txids[middle] as Buffer, txid) <= 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
