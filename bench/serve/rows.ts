// The rows of the table: requests, right answers, and Bitcoin Core's times. Cold questions are
// asked once each, so that no part of an answer is in memory: they walk in random order over
// transactions, outpoints and heights of the whole chain.

import { display, type ChainBlock, type ChainReader, type ChainTransaction } from './chain-reader';
import {
  blockFields,
  chainInfoFields,
  coinsBinary,
  coinsFields,
  headerFields,
  poolFields,
  transactionFields,
  type FoundCoin
} from './expected';
import { Deck } from './deck';
import { asBytes, asFields, type Format, type Question } from './questions';
import { LARGE_FROM, LARGE_TO } from './serving-chain';
import type { HostHash } from '../../lib/node/host';

export interface Row {
  readonly name: string;
  /** Asked in turn. */
  readonly questions: readonly Question[];
  /** Absent if there are too few different questions for a measurement. */
  readonly cold?: ColdQuestions;
  /** The path of bcoin's own interface to a similar answer, if there is one. */
  readonly own?: string;
  /** Recorded processor time of the better of Bitcoin Core 0.17 and 29, in microseconds; and the target, its multiple of the plugin's. */
  readonly core?: number;
  readonly target?: number;
  /** The row whose reply should cost about as much for the same number of bytes. */
  readonly like?: string;
  /** No released Bitcoin Core has such an endpoint: none is asked. */
  readonly isNew?: true;
}

export interface ColdQuestions {
  /** Questions that may be asked once, and that no other row has asked before. */
  questions(): Question[];
  /** Target: how many times the plugin's figure the better of Bitcoin Core's figures is. */
  readonly target: number;
}

interface Place {
  readonly block: ChainBlock;
  readonly transaction: ChainTransaction;
}

export const FEW = 60;
const MOST_OUTPOINTS = 15;
const HOT_BLOCKS = 3;
/** One in so many transactions of a block is asked for repeatedly, the others once. */
const HOT_STEP = 37;
export const SEED = 13;

/** Number of questions in a cold row: 20,000 for the rounds, the others before them. */
export const COLD = 24_000;
/** Number of questions for 15 outpoints each. */
const COLD_LONG = 6_000;

/** Of the edition 0.17. */
export function allRows(chain: ChainReader): Row[] {
  const large = Array.from({ length: LARGE_TO - LARGE_FROM + 1 }, (_, i) => chain.block(LARGE_FROM + i));
  return [...transactionRows(large), ...headerRows(chain), ...stateRows(chain), ...coinRows(chain), ...blockRows(chain)];
}

function transactionRows(large: readonly ChainBlock[]): Row[] {
  const isHot = (position: number): boolean => position % HOT_STEP === 1;
  const placesIn = (block: ChainBlock): Place[] => block.txs.map((transaction) => ({ block, transaction }));
  const spread = (blocks: readonly ChainBlock[], count: number): Place[] =>
    blocks.flatMap((block) =>
      placesIn(block)
        .filter((_, position) => isHot(position))
        .slice(0, Math.ceil(count / blocks.length))
    );
  const hot = spread(large.slice(-HOT_BLOCKS), FEW);
  const others = new Deck(
    large.flatMap((block) => placesIn(block).filter((_, position) => position > 0 && !isHot(position))),
    SEED
  );
  const question =
    (format: Format) =>
    ({ block, transaction }: Place): Question => {
      const path = `tx/${display(transaction.hash())}`;
      return format === 'json'
        ? asFields(path, () => transactionFields(transaction, block.hash()))
        : asBytes(path, format, () => transaction.toRaw());
    };
  const cold = (format: Format): ColdQuestions => ({ questions: () => others.take(COLD).map(question(format)), target: 1.2 });
  const own = `/tx/${display(hot[0]?.transaction.hash() ?? '')}`;
  return [
    { name: 'tx.bin', questions: hot.map(question('bin')), cold: cold('bin'), own, core: 46, target: 1.3 },
    { name: 'tx.bin, of 40 blocks', questions: spread(large, 800).map(question('bin')), core: 46 },
    { name: 'tx.hex', questions: hot.map(question('hex')), cold: cold('hex'), own, core: 46, target: 1.3 },
    { name: 'tx.json', questions: hot.map(question('json')), cold: cold('json'), own, core: 94, target: 1.6 }
  ];
}

function headerRows(chain: ChainReader): Row[] {
  const headers = (first: number, count: number, format: Format): Question => {
    const heights = Array.from({ length: count }, (_, i) => first + i);
    const path = `headers/${count}/${chain.hash(first)}`;
    return format === 'json'
      ? asFields(path, () => heights.map((height) => headerFields(chain, height)))
      : asBytes(path, format, () => Buffer.concat(heights.map((height) => chain.header(height))));
  };
  const single = (format: Format): Question[] => Array.from({ length: FEW }, (_, i) => headers(1 + 40 * i, 1, format));
  const many = (format: Format): Question[] => Array.from({ length: 8 }, (_, i) => headers(LARGE_TO + 1 + 10 * i, 2_000, format));
  const heights = Array.from({ length: chain.tipHeight }, (_, i) => 1 + i);
  const cold = (format: Format): ColdQuestions => ({
    questions: () => new Deck(heights, SEED).take(COLD).map((height) => headers(height, 1, format)),
    target: 1.2
  });
  return [
    { name: 'headers/1.bin', questions: single('bin'), cold: cold('bin'), core: 35, target: 1.3 },
    { name: 'headers/1.json', questions: single('json'), cold: cold('json') },
    { name: 'headers/2000.bin', questions: many('bin'), core: 283, target: 4 },
    { name: 'headers/2000.hex', questions: many('hex'), core: 394, target: 2 },
    { name: 'headers/2000.json', questions: many('json'), core: 14_100, target: 10 }
  ];
}

function stateRows(chain: ChainReader): Row[] {
  const waiting = chain.pool();
  const info = { size: waiting.length, bytes: waiting.reduce((sum, { size }) => sum + size, 0) };
  return [
    { name: 'chaininfo', questions: [asFields('chaininfo', () => chainInfoFields(chain))], own: '/', core: 41, target: 1.3 },
    { name: 'mempool/info', questions: [asFields('mempool/info', () => info)], core: 33, target: 1.3 },
    {
      name: 'mempool/contents, 5000',
      questions: [asFields('mempool/contents', () => poolFields(chain))],
      own: '/mempool',
      core: 48_000,
      target: 8
    }
  ];
}

function coinRows(chain: ChainReader): Row[] {
  const coins = new Deck(unspentCoins(chain), SEED);
  const question = (asked: readonly FoundCoin[], format: Format): Question => {
    const path = `getutxos/${asked.map(({ txid, index }) => `${display(txid)}-${index}`).join('/')}`;
    return format === 'json' ? asFields(path, () => coinsFields(chain, asked)) : asBytes(path, format, () => coinsBinary(chain, asked));
  };
  const inRuns = (list: readonly FoundCoin[], count: number, format: Format): Question[] =>
    Array.from({ length: list.length / count }, (_, i) => question(list.slice(i * count, (i + 1) * count), format));
  const most = MOST_OUTPOINTS;
  const hot = coins.take(10 * most);
  const [first] = hot;
  const own = `/coin/${display(first?.txid ?? '')}/${first?.index ?? 0}`;
  const cold = (count: number, format: Format, target: number): ColdQuestions => ({
    questions: () => inRuns(coins.take(count * (count === 1 ? COLD : COLD_LONG)), count, format),
    target
  });
  return [
    { name: 'getutxos 1, json', questions: inRuns(hot, 1, 'json'), cold: cold(1, 'json', 1.2), own, core: 43, target: 1.3 },
    { name: 'getutxos 15, bin', questions: inRuns(hot, most, 'bin'), cold: cold(most, 'bin', 1), core: 47, target: 1.1 },
    { name: 'getutxos 15, json', questions: inRuns(hot, most, 'json'), cold: cold(most, 'json', 1.4), core: 109, target: 1.6 }
  ];
}

/** Of the large blocks. */
function unspentCoins(chain: ChainReader): FoundCoin[] {
  const nameOf = (hash: HostHash, index: number): string => `${display(hash)}-${index}`;
  const spent = new Set<string>();
  const made: FoundCoin[] = [];
  for (let height = LARGE_FROM; height <= LARGE_TO; height++)
    for (const transaction of chain.block(height).txs) {
      for (const { prevout } of transaction.inputs) spent.add(nameOf(prevout.hash, prevout.index));
      const txid = transaction.hash();
      for (const [index, { value, script }] of transaction.outputs.entries())
        if (!script.isUnspendable()) made.push({ txid, index, height, value, script });
    }
  return made.filter(({ txid, index }) => !spent.has(nameOf(txid, index)));
}

function blockRows(chain: ChainReader): Row[] {
  const heights = Array.from({ length: LARGE_TO - LARGE_FROM + 1 }, (_, i) => LARGE_FROM + i);
  const bytes =
    (format: 'bin' | 'hex') =>
    (height: number): Question =>
      asBytes(`block/${chain.hash(height)}`, format, () => chain.block(height).toRaw());
  const json = (height: number): Question => asFields(`block/${chain.hash(height)}`, () => blockFields(chain, height, true));
  const summary = (height: number): Question =>
    asFields(`block/notxdetails/${chain.hash(height)}`, () => blockFields(chain, height, false));
  const one = heights.slice(-1);
  const own = `/block/${chain.hash(LARGE_TO)}`;
  return [
    { name: 'block.bin', questions: one.map(bytes('bin')), core: 925, target: 2 },
    { name: 'block.bin, 40 in turn', questions: heights.map(bytes('bin')), core: 925, target: 2 },
    { name: 'block.hex', questions: one.map(bytes('hex')), core: 2_070, target: 4 },
    { name: 'block.hex, 40 in turn', questions: heights.map(bytes('hex')), core: 2_070, target: 1 },
    { name: 'block/notxdetails', questions: one.map(summary), core: 6_400, target: 8 },
    { name: 'block/notxdetails, 40 in turn', questions: heights.map(summary), core: 6_400, target: 8 },
    { name: 'block.json', questions: one.map(json), own, core: 137_000, target: 6 },
    { name: 'block.json, 40 in turn', questions: heights.map(json), core: 137_000, target: 6 }
  ];
}
