// The rows of today's edition: endpoints that 0.17 does not have, and JSON with more fields than in 0.17.

import { strict as assert } from 'node:assert';
import { display, type ChainReader } from './chain-reader';
import { Deck } from './deck';
import { blockWithCoinsFields, headerFields, modernPoolFields, spentBinary, spentFields } from './expected';
import { asBytes, asFields, ask, type Format, type Question } from './questions';
import { allRows, COLD, FEW, SEED, type ColdQuestions, type Row } from './rows';
import { LARGE_FROM, LARGE_TO } from './serving-chain';

/** 0.17's rows whose JSON has more fields now, and rows with which others are compared. */
const SHARED = [
  'tx.json',
  'headers/1.json',
  'headers/2000.json',
  'chaininfo',
  'mempool/info',
  'getutxos 1, json',
  'getutxos 15, json',
  'block.bin',
  'block.bin, 40 in turn',
  'block/notxdetails',
  'block/notxdetails, 40 in turn'
];

/** Ahead of Bitcoin Core. */
const TARGET = 1;

const MOST_HEADERS = 2_000;
/** Number of heights at which endpoints with several headers begin. */
const RUN_STARTS = 8;

export function modernRows(chain: ChainReader): Row[] {
  const shared = allRows(chain).filter(({ name }) => SHARED.includes(name));
  return [
    ...shared.map(withoutRecorded),
    ...poolRows(chain),
    ...blockRows(chain),
    ...headerRows(chain),
    ...spentRows(chain),
    ...filterRows(chain),
    {
      name: 'deploymentinfo',
      questions: [asFields('deploymentinfo', () => ({ hash: chain.hash(chain.tipHeight), height: chain.tipHeight }))],
      target: TARGET
    }
  ];
}

/** The recorded figures of 0.17 and 29 are for other bytes. */
function withoutRecorded({ name, questions, own, cold }: Row): Row {
  return {
    name,
    questions,
    target: TARGET,
    ...(own !== undefined && { own }),
    ...(cold && { cold: { questions: () => cold.questions(), target: TARGET } })
  };
}

function poolRows(chain: ChainReader): Row[] {
  const txids = ask(
    'mempool/contents',
    'json',
    (body) => {
      const waiting = chain.pool().map(({ tx }) => display(tx.hash()));
      assert.deepEqual((JSON.parse(body.toString()) as string[]).sort(), waiting.sort());
    },
    '?verbose=false'
  );
  return [
    {
      name: 'mempool/contents, 5000',
      questions: [asFields('mempool/contents', () => modernPoolFields(chain))],
      own: '/mempool',
      target: TARGET
    },
    { name: 'mempool/contents?verbose=false', questions: [txids], own: '/mempool', target: TARGET }
  ];
}

const largeHeights = Array.from({ length: LARGE_TO - LARGE_FROM + 1 }, (_, i) => LARGE_FROM + i);

function blockRows(chain: ChainReader): Row[] {
  const json = (height: number): Question => asFields(`block/${chain.hash(height)}`, () => blockWithCoinsFields(chain, height));
  const part = (height: number): Question => {
    const bytes = chain.block(height).toRaw();
    return asBytes(`blockpart/${chain.hash(height)}`, 'bin', () => bytes, `?offset=0&size=${bytes.length}`);
  };
  const own = `/block/${chain.hash(LARGE_TO)}`;
  return [
    { name: 'block.json', questions: [json(LARGE_TO)], own, target: TARGET },
    { name: 'block.json, 40 in turn', questions: largeHeights.map(json), own, target: TARGET },
    { name: 'blockpart.bin', questions: [part(LARGE_TO)], like: 'block.bin', isNew: true },
    { name: 'blockpart.bin, 40 in turn', questions: largeHeights.map(part), like: 'block.bin, 40 in turn', isNew: true }
  ];
}

function headerRows(chain: ChainReader): Row[] {
  const byHeight = (height: number, format: 'bin' | 'hex'): Question =>
    format === 'bin'
      ? asBytes(`blockhashbyheight/${height}`, 'bin', () => chain.block(height).hash())
      : ask(`blockhashbyheight/${height}`, 'hex', (body) => {
          assert.equal(body.toString(), `${chain.hash(height)}\n`);
        });
  const headers = (first: number, count: number, format: Format): Question => {
    const heights = Array.from({ length: count }, (_, i) => first + i);
    const [path, query] = [`headers/${chain.hash(first)}`, `?count=${count}`];
    return format === 'json'
      ? asFields(path, () => heights.map((height) => headerFields(chain, height)), query)
      : asBytes(path, format, () => Buffer.concat(heights.map((height) => chain.header(height))), query);
  };
  const few = Array.from({ length: FEW }, (_, i) => 1 + 40 * i);
  const cold = (question: (height: number) => Question): ColdQuestions => ({
    questions: () => new Deck(allHeights(chain), SEED).take(COLD).map(question),
    target: TARGET
  });
  const name = (height: number): Question => byHeight(height, 'bin');
  const one = (height: number): Question => headers(height, 1, 'bin');
  return [
    { name: 'blockhashbyheight.bin', questions: few.map(name), cold: cold(name), target: TARGET },
    { name: 'blockhashbyheight.hex', questions: few.map((height) => byHeight(height, 'hex')), target: TARGET },
    { name: 'headers?count=1.bin', questions: few.map(one), cold: cold(one), target: TARGET },
    { name: 'headers?count=2000.bin', questions: runStarts.map((height) => headers(height, MOST_HEADERS, 'bin')), target: TARGET },
    { name: 'headers?count=2000.json', questions: runStarts.map((height) => headers(height, MOST_HEADERS, 'json')), target: TARGET }
  ];
}

const allHeights = (chain: ChainReader): number[] => Array.from({ length: chain.tipHeight }, (_, i) => 1 + i);

/** Where runs of headers begin. */
const runStarts = Array.from({ length: RUN_STARTS }, (_, i) => LARGE_TO + 1 + 10 * i);

function spentRows(chain: ChainReader): Row[] {
  const bin = (height: number): Question => asBytes(`spenttxouts/${chain.hash(height)}`, 'bin', () => spentBinary(chain, height));
  const json = (height: number): Question => asFields(`spenttxouts/${chain.hash(height)}`, () => spentFields(chain, height));
  return [
    { name: 'spenttxouts.bin', questions: [bin(LARGE_TO)], target: TARGET, like: 'block.bin' },
    { name: 'spenttxouts.bin, 40 in turn', questions: largeHeights.map(bin), target: TARGET, like: 'block.bin, 40 in turn' },
    { name: 'spenttxouts.json', questions: [json(LARGE_TO)], target: TARGET },
    { name: 'spenttxouts.json, 40 in turn', questions: largeHeights.map(json), target: TARGET }
  ];
}

/** Only the frame of filters is checked: bcoin 1.x makes no filters. */
function filterRows(chain: ChainReader): Row[] {
  const filter = (height: number): Question =>
    ask(`blockfilter/basic/${chain.hash(height)}`, 'bin', (body) => {
      assert.equal(body[0], BASIC);
      assert.ok(body.subarray(1, 33).equals(chain.block(height).hash()), 'expected the hash of the block behind the type');
    });
  const headers = (first: number): Question =>
    ask(
      `blockfilterheaders/basic/${chain.hash(first)}`,
      'bin',
      (body) => {
        assert.equal(body.length, MOST_HEADERS * 32);
      },
      `?count=${MOST_HEADERS}`
    );
  return [
    {
      name: 'blockfilter.bin',
      questions: [filter(LARGE_TO)],
      cold: { questions: () => new Deck(allHeights(chain), SEED).take(COLD).map(filter), target: TARGET },
      target: TARGET
    },
    { name: 'blockfilter.bin, 40 in turn', questions: largeHeights.map(filter), target: TARGET },
    { name: 'blockfilterheaders?count=2000.bin', questions: runStarts.map(headers), target: TARGET }
  ];
}

const BASIC = 0;
