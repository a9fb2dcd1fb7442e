import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { decodeBaseCoin } from '../../lib/index/records/base-coin';
import { baseOf } from '../support/base-index';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';
import type { Store } from '../../lib/store/store';
import type { BlockPlan } from '../support/mined-blocks';

/** Letters of the records of an index, by the way in which it was started. */
const KINDS_OF_RECORD = {
  blocks: {
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
  },
  coins: { B: 'the base', c: 'a coin of the base', s: 'coins of the base that a block spent', d: 'what undoes a block' }
} as const;
const FLIPS_PER_KIND = 4;

const spending: BlockPlan = {
  repeat: undefined,
  transactions: [
    { spends: [3, 60], outputs: [0, 1, 3] },
    { spends: [199], outputs: [2] }
  ]
};
const WORKED_BLOCKS = 12;

const workedBlocks = (count: number): BlockPlan[] => Array.from({ length: count }, () => spending);

function flipped(bytes: Buffer, pick: number): Buffer {
  const copy = Buffer.from(bytes);
  const bit = pick % (copy.length * 8);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/**
 * One of the records whose keys begin with a letter. Of undo records, filters and heights by hash: one of the last blocks, which will be
 * undone; of coins of the base: one that counts.
 */
async function recordAt(store: Store, letter: string, pick: number): Promise<readonly [key: Buffer, value: Buffer]> {
  const records: (readonly [Buffer, Buffer])[] = [];
  for await (const record of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) records.push(record);
  if (letter === 'b') records.sort(([, a], [, b]) => a.compare(b));
  const eligible = 'dbfgs'.includes(letter)
    ? records.slice(-WORKED_BLOCKS)
    : letter === 'c'
      ? records.filter(([key, value]) => decodeBaseCoin(key, value, baseOf(store)) !== undefined)
      : records;
  return eligible[pick % eligible.length] ?? expect.fail(`a record under ${letter}`);
}

for (const bootstrap of ['blocks', 'coins'] as const) {
  describe(`a damaged record of an index that started from ${bootstrap}`, function () {
    this.timeout(300_000 * testScale());
    const seed = testSeed();
    let walk: IndexWalk;
    let height: number;

    before(async () => {
      walk = await IndexWalk.open({ disk: true, undoDepth: 1_000, bootstrap, filters: true });
      ({ height } = walk.host.chain);
    });
    after(() => walk.close());

    for (const [letter, what] of Object.entries(KINDS_OF_RECORD[bootstrap])) {
      it(`is never answered from, is reported, and is repaired: ${what}, TEST_SEED=${seed}`, async () => {
        const picks = fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: FLIPS_PER_KIND * testScale() });
        for (const [which, bit] of picks) {
          // On a chain that grew with every flipped bit, the checks would take longer and longer.
          await walk.nodeStep({ do: 'reset', back: walk.host.chain.height - height });
          await walk.untilAtRest();
          // Rebuilding from coins leaves no blocks above the base.
          await walk.nodeStep({ do: 'mine', plans: workedBlocks(WORKED_BLOCKS) });
          await walk.expectRight();
          await walk.index.close();
          const said = walk.log.lines.length;
          await walk.store.open();
          const [key, value] = await recordAt(walk.store, letter, which);
          await walk.store.batch([{ type: 'put', key, value: flipped(value, bit) }], { durable: false });
          await walk.store.close();
          await walk.stepUnchecked({ do: 'restart', closed: undefined, opened: undefined });
          await walk.untilAtRest();
          walk.expectHonest();
          await walk.untilAtRest();
          walk.expectHonest();
          await walk.nodeStep({ do: 'fork', back: WORKED_BLOCKS, plans: workedBlocks(WORKED_BLOCKS + 1) });
          await walk.expectRight();
          expect(
            walk.log.lines.slice(said).filter((line) => line.includes('Rebuilding the index')),
            key.toString('hex')
          ).to.have.length(1);
        }
      });
    }
  });
}
