import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { decodeBaseCoin } from '../../lib/index/records/base-coin';
import { baseOf } from '../support/index/base-index';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { flipped } from '../support/index/flipped-bit';
import { IndexWalk } from '../support/index/walk';
import { spendingBlocks } from '../support/chain/mined-blocks';
import { testScale, testSeed } from '../support/process/scale';
import type { Store } from '../../lib/store/store';
import type { WalkedIndex } from '../support/index/walked-index';

/** Kinds of records by the letters of their keys. */
type Kinds = Readonly<Record<string, string>>;

const OF_BLOCKS: Kinds = {
  F: 'how far filters are',
  G: 'the network',
  S: 'the secret',
  T: 'the tip',
  b: 'a height by hash',
  d: 'what undoes a block',
  f: 'a filter',
  g: 'the hashes of a filter',
  h: 'a header',
  l: 'lengths of transactions',
  o: 'coins',
  p: 'a position'
};
const OF_COINS: Kinds = { B: 'the base', c: 'a coin of the base', s: 'coins of the base that a block spent', d: 'what undoes a block' };
const OF_SCRIPTS: Kinds = {
  '\0': 'the layout',
  G: 'the network',
  P: 'the txids of the last page',
  S: 'the secret',
  T: 'the tip',
  d: 'what undoes a block',
  n: 'the numbers of transactions',
  s: 'rows'
};
/** A filled index also says what has reached the disk. */
const OF_FILLED_SCRIPTS: Kinds = { ...OF_SCRIPTS, M: 'how many blocks have their txids on the disk' };

const WORKED_BLOCKS = 12;
const SCALE = testScale();
const MAIN = { scripts: false, disk: true, undoDepth: 1_000, filters: true, letters: 'dbfgs', flips: 2 * SCALE } as const;
const SCRIPTS = {
  scripts: true,
  bootstrap: 'blocks',
  undoDepth: WORKED_BLOCKS + 1,
  kinds: OF_SCRIPTS,
  letters: 'd',
  flips: SCALE
} as const;

/** `letters`: of records that are damaged where the last blocks made them, which will be undone. */
const SUITES = [
  { ...MAIN, bootstrap: 'blocks', kinds: OF_BLOCKS },
  { ...MAIN, bootstrap: 'coins', kinds: OF_COINS },
  { ...SCRIPTS, disk: false },
  // An index by script on disk is filled, and has rows that share records.
  ...(SCALE > 1 ? [{ ...SCRIPTS, disk: true, kinds: OF_FILLED_SCRIPTS }] : [])
] as const;

/** One of the records whose keys begin with a letter. `isLast`: one of the last blocks. Of coins of the base: one that counts. */
async function recordAt(store: Store, letter: string, isLast: boolean, pick: number): Promise<readonly [key: Buffer, value: Buffer]> {
  const records: (readonly [Buffer, Buffer])[] = [];
  for await (const record of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) records.push(record);
  if (letter === 'b') records.sort(([, a], [, b]) => a.compare(b));
  const eligible = isLast
    ? records.slice(-WORKED_BLOCKS)
    : letter === 'c'
      ? records.filter(([key, value]) => decodeBaseCoin(key, value, baseOf(store)) !== undefined)
      : records;
  return eligible[pick % eligible.length] ?? expect.fail(`a record under ${letter}`);
}

for (const { kinds, letters, flips, ...options } of SUITES) {
  const { scripts, disk, bootstrap } = options;
  describe(`a damaged record of an index${scripts ? ' by script' : ''} ${disk ? 'on disk' : 'in memory'} that started from ${bootstrap}`, function () {
    this.timeout(300_000 * SCALE);
    before(allowEarlySpends);
    after(allowSpendsAsShipped);
    const seed = testSeed();
    let walk: IndexWalk;
    let index: WalkedIndex;
    let height: number;

    before(async () => {
      walk = await IndexWalk.open(options);
      index = scripts ? walk.scripts : walk.main;
      ({ height } = walk.host.chain);
    });
    after(() => walk.close());

    for (const [letter, what] of Object.entries(kinds)) {
      it(`is never answered from, is reported, and is repaired: ${what}, TEST_SEED=${seed}`, async () => {
        for (const [which, bit] of fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: flips })) {
          // On a chain that grew with every flipped bit, the checks would take longer and longer.
          await walk.nodeStep({ do: 'reset', back: walk.host.chain.height - height });
          await index.untilAtRest();
          // Rebuilding from coins leaves no blocks above the base.
          await walk.nodeStep({ do: 'mine', plans: spendingBlocks(WORKED_BLOCKS) });
          await walk.expectRight();
          await walk.closeIndexes();
          const said = walk.log.lines.length;
          await index.store.open();
          const [key, value] = await recordAt(index.store, letter, letters.includes(letter), which);
          await index.store.batch([{ type: 'put', key, value: flipped(value, bit) }], { durable: false });
          await index.store.close();
          await walk.openIndexes();
          for (let time = 0; time < 2; time++) {
            await index.untilAtRest();
            await index.expectHonest();
          }
          await walk.nodeStep({ do: 'fork', back: WORKED_BLOCKS, plans: spendingBlocks(WORKED_BLOCKS + 1) });
          await walk.expectRight();
          // It alone was built again, and once.
          for (const each of walk.indexes)
            expect(walk.reasonsSince(said, each), key.toString('hex')).to.have.length(each === index ? 1 : 0);
        }
      });
    }
  });
}
