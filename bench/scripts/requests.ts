// The requests to `/api` about scripts with few and with many transactions.

import { Deck } from '../serve/deck';
import { LONG_ROWS, type PopularChain, type PopularScript } from './popular-chain';

export interface RequestRow {
  readonly name: string;
  /** Repeated requests. */
  readonly hot: readonly string[];
  /** Requests that are each made once. */
  readonly cold?: readonly string[];
  /** Target: the most microseconds of processor time. */
  readonly hotGoal?: number;
  readonly coldGoal?: number;
}

const SEED = 17;
/** Number of requests in a cold row. */
const COLD = 3_000;
/** Number of requests for the spends of all outputs of a transaction. */
const COLD_ALL = 200;
/** Number of requests for pages of 25. */
const COLD_PAGES = 480;
const HOT = 10;
const PAGE = 25;
/** One in so many txids of a long history is in `PopularScript.txids`. */
const TXID_EVERY = 4;
/** Number of these txids on a page. */
const PAGE_TXIDS = Math.ceil(PAGE / TXID_EVERY);

const stats = ({ hash }: PopularScript): string => `/api/scripthash/${hash}`;
const pageOf = ({ hash }: PopularScript): string => `/api/scripthash/${hash}/txs`;
const behind = ({ hash }: PopularScript, txid: string): string => `/api/scripthash/${hash}/txs/chain/${txid}`;
const coinsOf = ({ hash }: PopularScript): string => `/api/scripthash/${hash}/utxo`;

/** Except for the first ones, each transaction is used in one row only. */
export function requestRows({ long, usual, single, coins }: PopularChain): RequestRow[] {
  const [firstUsual] = usual;
  if (firstUsual === undefined) throw new Error('expected scripts');
  const singles = new Deck(single, SEED);
  const someSingles = (): PopularScript[] => singles.take(COLD);
  const hotSingles = singles.take(HOT);
  // Scripts whose histories were not read before.
  const histories = new Deck(usual, SEED);
  const hotUsual = histories.take(HOT);
  const third = (usual.length - HOT) / 3;
  /** Cursors one page apart, in a part of the long history. */
  const cursors = (from: number, to: number): string[] =>
    new Deck(
      long.txids.slice((from * LONG_ROWS) / TXID_EVERY, (to * LONG_ROWS) / TXID_EVERY).filter((_, i) => i % PAGE_TXIDS === 0),
      SEED
    ).take(COLD_PAGES);
  const hundredth = long.txids.at(-Math.ceil((99 * PAGE) / TXID_EVERY)) ?? '';
  const transactions = new Deck(long.txids.slice(0, LONG_ROWS / TXID_EVERY / 4), SEED);
  const [hotTransactions, coldTransactions] = [transactions.take(HOT), transactions.take(COLD)];
  const [hotSpends, coldSpends, coldAllSpends] = [transactions.take(HOT), transactions.take(COLD), transactions.take(COLD_ALL)];
  const proofs = [...transactions.take(HOT)];
  const usualSpends = new Deck(
    usual.flatMap(({ txids }) => txids.slice(0, -1)),
    SEED
  ).take(COLD);
  return [
    { name: 'blocks/tip/hash', hot: ['/api/blocks/tip/hash'] },
    { name: 'stats, 1 row', hot: hotSingles.map(stats), cold: someSingles().map(stats) },
    { name: 'stats, 100 rows', hot: hotUsual.map(stats), cold: histories.take(third).map(stats) },
    { name: 'stats, 100,000 rows', hot: [stats(long)] },
    { name: 'first page, 1 row', hot: hotSingles.map(pageOf), cold: someSingles().map(pageOf) },
    { name: 'first page, 100 rows', hot: hotUsual.map(pageOf), cold: histories.take(third).map(pageOf), hotGoal: 500, coldGoal: 5_000 },
    { name: 'first page, 100,000 rows', hot: [pageOf(long)], hotGoal: 500 },
    { name: 'hundredth page', hot: [behind(long, hundredth)], hotGoal: 500 },
    { name: 'pages, old ones', hot: [], cold: cursors(0.26, 0.4).map((txid) => behind(long, txid)), coldGoal: 5_000 },
    { name: 'pages, new ones', hot: [], cold: cursors(0.85, 0.99).map((txid) => behind(long, txid)), coldGoal: 5_000 },
    { name: 'utxo, 1 row', hot: hotSingles.map(coinsOf), cold: someSingles().map(coinsOf) },
    { name: 'utxo, 1 of 100 rows', hot: hotUsual.map(coinsOf), cold: histories.take(third).map(coinsOf) },
    { name: 'utxo, 500 of 500 rows', hot: coins.slice(0, 4).map(coinsOf), cold: coins.slice(4).map(coinsOf) },
    { name: 'utxo, 2 of 100,000 rows', hot: [coinsOf(long)] },
    { name: 'outspend, 1 row', hot: hotSingles.map(({ txids }) => `/api/tx/${txids[0]}/outspend/1`) },
    { name: 'outspend, 100 rows', hot: usualSpends.slice(0, HOT).map(outspend), cold: usualSpends.slice(HOT).map(outspend) },
    { name: 'outspend, 100,000 rows', hot: hotSpends.map(outspend), cold: coldSpends.map(outspend) },
    { name: 'outspends, 100,000 rows', hot: hotSpends.map(outspends), cold: coldAllSpends.map(outspends) },
    { name: 'merkle-proof', hot: proofs.map((txid) => `/api/tx/${txid}/merkle-proof`) },
    {
      name: 'tx',
      hot: hotTransactions.map((txid) => `/api/tx/${txid}`),
      cold: coldTransactions.map((txid) => `/api/tx/${txid}`)
    },
    { name: 'tx/status', hot: hotTransactions.map((txid) => `/api/tx/${txid}/status`) }
  ];
}

const outspend = (txid: string): string => `/api/tx/${txid}/outspend/0`;
const outspends = (txid: string): string => `/api/tx/${txid}/outspends`;
