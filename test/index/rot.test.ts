import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { IndexUnavailableError } from '../../lib/index/errors';
import { flipBit } from '../support/flipped-bit';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';
import type { BlockPlan } from '../support/mined-blocks';

const FLIPS = 60;
/** Passes over the files follow each other without a pause. */
const SCRUB_MS = 1;

const worked = (count: number): BlockPlan[] =>
  Array.from({ length: count }, () => ({ repeat: undefined, transactions: [{ spends: [3, 60], outputs: [0, 1, 3] }] }));

describe('an index with a file that is damaged while it is open', function () {
  this.timeout(120_000 * testScale());
  const seed = testSeed();
  let folder: string;
  let walk: IndexWalk;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-rot-'));
    walk = await IndexWalk.on({ folder, undoDepth: 1_000, turn: 0 });
    await walk.index.open();
    await walk.step({ do: 'mine', plans: worked(8) });
  });
  afterEach(() => walk.close());

  /** Turns the writes in the log into a table. */
  const restart = async (): Promise<void> => {
    await walk.stepUnchecked({ do: 'restart', closed: undefined, opened: undefined });
    await walk.untilAtRest();
  };
  const tables = async (): Promise<string[]> => (await readdir(join(folder, 'index'))).filter((name) => name.endsWith('.ldb')).sort();
  const linesSince = (first: number, text: string): string[] => walk.log.lines.slice(first).filter((line) => line.includes(text));

  it(`is right again once its files were checked, and was rebuilt if it had to be, TEST_SEED=${seed}`, async () => {
    let found = 0;
    walk.scrubMs = SCRUB_MS;
    for (const [which, pick] of fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: FLIPS * testScale() })) {
      await restart();
      const names = await tables();
      const name = names[which % names.length] ?? expect.fail('a table');
      const said = walk.log.lines.length;
      const phases: string[] = [];
      const watching = walk.index.state$.subscribe(({ phase }) => phases.push(phase));
      await flipBit(join(folder, 'index', name), pick);
      // The first of two passes may have begun before the damage.
      while (linesSince(said, 'looked through again').length < 2 && linesSince(said, 'Rebuilding the index').length === 0)
        await setTimeout(1);
      const [anew] = linesSince(said, 'Rebuilding the index');
      if (anew !== undefined) {
        found++;
        expect(anew).to.include(`${name}: `);
        // The index was closed to readers before anything else was done.
        expect(phases.slice(0, 2)).to.deep.equal(['live', 'loading']);
      }
      watching.unsubscribe();
      expect(await walk.untilAtRest()).to.equal('live');
      walk.expectHonest();
    }
    await walk.expectRight();
    // Few bits have no meaning: only the padding of a footer.
    expect(found).to.be.above((FLIPS * testScale()) / 2);
  });

  it('is rebuilt at once when a read fails, without waiting for its turn', async () => {
    await restart();
    const [name = ''] = await tables();
    await flipBit(join(folder, 'index', name), 0);
    const said = walk.log.lines.length;
    walk.store.fail('snapshot.get', 0);
    expect(() => walk.index.reader.read((snapshot) => snapshot.coin(Buffer.alloc(32), 0))).to.throw(IndexUnavailableError);
    walk.store.heal();
    await walk.expectRight();
    expect(linesSince(said, 'Rebuilding the index').join()).to.include(`${name}: `);
  });
});
