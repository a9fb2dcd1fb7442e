// The rows of the table: what is asked, what right answers are, and what Bitcoin Core took.

import { strict as assert } from 'node:assert';
import { display, type ChainBlock, type ChainReader, type ChainTransaction } from './chain-reader';
import { blockFields, chainInfoFields, coinsBinary, coinsFields, compareFields, headerFields, poolFields, readJson, transactionFields, type FoundCoin } from './expected';
import { LARGE_FROM, LARGE_TO } from './serving-chain';

export interface Question {
  readonly path: string;
  readonly contentType: string;
  /** @throws AssertionError for a wrong answer. */
  readonly check: (body: Buffer) => void;
}

export interface Row {
  readonly name: string;
  /** Asked in turn. */
  readonly questions: readonly Question[];
  /** The path of bcoin's own interface to the like, if there is one. */
  readonly own?: string;
  /** Microseconds of processor time that the better of Bitcoin Core 0.17 and 29 took (recorded), and how many times ours that shall be. */
  readonly core?: number;
  readonly target?: number;
}

const TYPES = { bin: 'application/octet-stream', hex: 'text/plain', json: 'application/json' } as const;
type Format = keyof typeof TYPES;

const ask = (path: string, format: Format, check: Question['check']): Question => ({ path: `/rest/${path}.${format}`, contentType: TYPES[format], check });

/** The same bytes in bin and hex. */
const asBytes = (path: string, format: 'bin' | 'hex', bytes: () => Buffer): Question => ask(path, format, (body) => {
  const right = bytes();
  assert.ok(body.equals(format === 'bin' ? right : Buffer.from(`${right.toString('hex')}\n`)), `${path}.${format}: other bytes than bcoin's`);
});

const asFields = (path: string, fields: () => unknown): Question => ask(path, 'json', (body) => {
  assert.equal(body.at(-1), 0x0a);
  compareFields(readJson(body), fields());
});

interface Place {
  readonly block: ChainBlock;
  readonly transaction: ChainTransaction;
}

const FEW = 60;
const MOST_OUTPOINTS = 15;
const HOT_BLOCKS = 3;

export async function allRows(chain: ChainReader): Promise<Row[]> {
  const large = Array.from({ length: LARGE_TO - LARGE_FROM + 1 }, (_, i) => chain.block(LARGE_FROM + i));
  const coins = await unspentCoins(chain, large, 10 * MOST_OUTPOINTS);
  return [...transactionRows(large), ...headerRows(chain), ...stateRows(chain), ...coinRows(chain, coins), ...blockRows(chain)];
}

function transactionRows(large: readonly ChainBlock[]): Row[] {
  const spread = (blocks: readonly ChainBlock[], count: number): Place[] => blocks.flatMap((block) =>
    Array.from({ length: Math.ceil(count / blocks.length) }, (_, i) => ({ block, transaction: block.txs[1 + 37 * i] ?? block.txs[0] }))
      .filter((place): place is Place => place.transaction !== undefined));
  const hot = spread(large.slice(-HOT_BLOCKS), FEW);
  const question = (format: Format) => ({ block, transaction }: Place): Question => {
    const path = `tx/${display(transaction.hash())}`;
    return format === 'json' ? asFields(path, () => transactionFields(transaction, block.hash())) : asBytes(path, format, () => transaction.toRaw());
  };
  const own = `/tx/${display(hot[0]?.transaction.hash() ?? '')}`;
  return [
    { name: 'tx.bin', questions: hot.map(question('bin')), own, core: 46, target: 1.3 },
    { name: 'tx.bin, of 40 blocks', questions: spread(large, 800).map(question('bin')), core: 46 },
    { name: 'tx.hex', questions: hot.map(question('hex')), own, core: 46, target: 1.3 },
    { name: 'tx.json', questions: hot.map(question('json')), own, core: 94, target: 1.6 }
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
  return [
    { name: 'headers/1.bin', questions: single('bin'), core: 35, target: 1.3 },
    { name: 'headers/1.json', questions: single('json') },
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
    { name: 'mempool/contents, 5000', questions: [asFields('mempool/contents', () => poolFields(chain))], own: '/mempool', core: 48_000, target: 8 }
  ];
}

function coinRows(chain: ChainReader, coins: readonly FoundCoin[]): Row[] {
  const question = (asked: readonly FoundCoin[], format: Format): Question => {
    const path = `getutxos/${asked.map(({ txid, index }) => `${display(txid)}-${index}`).join('/')}`;
    return format === 'json' ? asFields(path, () => coinsFields(chain, asked)) : asBytes(path, format, () => coinsBinary(chain, asked));
  };
  const inRuns = (count: number, format: Format): Question[] =>
    Array.from({ length: coins.length / count }, (_, i) => question(coins.slice(i * count, (i + 1) * count), format));
  const [first] = coins;
  return [
    { name: 'getutxos 1, json', questions: inRuns(1, 'json'), own: `/coin/${display(first?.txid ?? '')}/${first?.index ?? 0}`, core: 43, target: 1.3 },
    { name: 'getutxos 15, bin', questions: inRuns(MOST_OUTPOINTS, 'bin'), core: 47, target: 1.1 },
    { name: 'getutxos 15, json', questions: inRuns(MOST_OUTPOINTS, 'json'), core: 109, target: 1.6 }
  ];
}

function blockRows(chain: ChainReader): Row[] {
  const heights = Array.from({ length: LARGE_TO - LARGE_FROM + 1 }, (_, i) => LARGE_FROM + i);
  const bytes = (format: 'bin' | 'hex') => (height: number): Question => asBytes(`block/${chain.hash(height)}`, format, () => chain.block(height).toRaw());
  const json = (height: number): Question => asFields(`block/${chain.hash(height)}`, () => blockFields(chain, height, true));
  const summary = (height: number): Question => asFields(`block/notxdetails/${chain.hash(height)}`, () => blockFields(chain, height, false));
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

/** Of different transactions all over the blocks. */
async function unspentCoins(chain: ChainReader, blocks: readonly ChainBlock[], count: number): Promise<FoundCoin[]> {
  const found: FoundCoin[] = [];
  for (const block of blocks) {
    const wanted = found.length + Math.ceil(count / blocks.length);
    for (const transaction of block.txs.slice(1)) {
      const coin = await chain.coin(transaction.hash(), 0);
      if (coin !== null) found.push({ txid: transaction.hash(), index: 0, height: coin.height, value: coin.value, script: coin.script });
      if (found.length === wanted) break;
    }
  }
  return found.slice(0, count);
}
