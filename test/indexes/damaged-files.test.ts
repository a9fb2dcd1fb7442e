import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { IndexWalk } from '../support/index/walk';
import { spendingBlocks } from '../support/chain/mined-blocks';
import { testScale, testSeed } from '../support/process/scale';
import { replaceByUnreadable } from '../support/process/unreadable-file';
import type { StoreCall } from '../support/index/faulty-store';
import type { WalkedIndex } from '../support/index/walked-index';

const WORKED_BLOCKS = 8;
/** Passes over the files follow each other without a pause. */
const SCRUB_MS = 1;
/** The last ones of a table, of which some have no meaning. */
const FOOTER_BYTES = 48;
const SCALE = testScale();

/** `read`: a call of every reader. */
const SUITES = [
  { scripts: false, closed: 6 * SCALE, open: 35 * SCALE, read: 'snapshot.get' },
  { scripts: true, closed: 4 * SCALE, open: 3 * SCALE, read: 'snapshot.head' }
] as const satisfies readonly { scripts: boolean; closed: number; open: number; read: StoreCall }[];

for (const { scripts, read, ...rounds } of SUITES)
  describe(`an index${scripts ? ' by script' : ''} with a damaged file`, function () {
    this.timeout(300_000 * SCALE);
    before(allowEarlySpends);
    after(allowSpendsAsShipped);
    const seed = testSeed();
    let walk: IndexWalk;
    let index: WalkedIndex;

    beforeEach(async () => {
      walk = await IndexWalk.open({ folder: await newFolder(), undoDepth: 1_000, scripts });
      index = scripts ? walk.scripts : walk.main;
      await walk.step({ do: 'mine', plans: spendingBlocks(WORKED_BLOCKS) });
      await restart();
    });
    afterEach(() => walk.close());

    /** Turns the writes in the log into a table. */
    const restart = async (): Promise<void> => {
      await walk.reopen();
      await index.untilAtRest();
    };
    const pathOf = (name: string): string => join(index.folder ?? expect.fail('an index on disk'), name);
    const files = async (pattern: RegExp): Promise<string[]> => (await readdir(pathOf('.'))).filter((name) => pattern.test(name)).sort();
    const firstTable = async (): Promise<string> => (await files(/\.ldb$/))[0] ?? expect.fail('a table');
    const damage = (name: string, bit: number, deletes: boolean): Promise<void> =>
      deletes ? rm(pathOf(name)) : flipBit(pathOf(name), bit);
    const passesSince = (line: number): number => walk.log.lines.slice(line).filter((text) => text.includes('looked through again')).length;

    /** The reasons for which it was built again. No other index ever is. */
    const rebuiltSince = (line: number): string[] => {
      for (const each of walk.indexes) if (each !== index) expect(walk.reasonsSince(line, each)).to.deep.equal([]);
      return walk.reasonsSince(line, index);
    };

    for (const state of ['closed', 'open'] as const)
      it(`that was damaged while it was ${state} is right once its files were checked, and was built again if it had to be, TEST_SEED=${seed}`, async () => {
        const numRuns = rounds[state];
        index.scrubMs = SCRUB_MS;
        const change = fc.record({ which: fc.nat(), bit: fc.nat(), deletes: fc.nat({ max: 3 }).map((roll) => roll === 0) });
        for (const { which, bit, deletes } of fc.sample(change, { seed, numRuns })) {
          await restart();
          const said = walk.log.lines.length;
          const phases: string[] = [];
          const watching = index.state$.subscribe(({ phase }) => phases.push(phase));
          if (state === 'closed') await walk.closeIndexes();
          // Mostly tables: they have nearly all of the data. Other files of an open store do not stay the same.
          const names = await files(state === 'open' || which % 4 > 0 ? /\.ldb$/ : /\.(ldb|log)$|^MANIFEST|^CURRENT$/);
          const name = names[which % names.length] ?? expect.fail('a file');
          const { size } = await stat(pathOf(name));
          if (size > 0) await damage(name, bit, deletes);
          if (state === 'closed') await walk.openIndexes();
          // The first of two passes may have begun before the damage.
          while (passesSince(said) < 2 && rebuiltSince(said).length === 0) await setTimeout(1);
          watching.unsubscribe();
          const lines = rebuiltSince(said);
          const isTold = deletes || (bit % (size * 8)) >> 3 < size - FOOTER_BYTES;
          if (lines.length > 0 || (name.endsWith('.ldb') && isTold)) {
            expect(lines).to.have.length(1);
            expect(lines[0]).to.match(new RegExp(deletes ? name : `[ :/]${name}([ :]|$)`));
            // An open one was closed to readers before anything else was done.
            if (state === 'open') expect(phases.slice(0, 2)).to.deep.equal(['live', 'loading']);
          }
          await index.untilAtRest();
          await index.expectHonest();
        }
        await walk.expectRight();
      });

    for (const deletes of [false, true])
      it(`is built again at once when a read fails because a table is ${deletes ? 'lost' : 'damaged'}, without waiting for its turn`, async () => {
        const name = await firstTable();
        const said = walk.log.lines.length;
        await damage(name, 0, deletes);
        index.store.fail(read, 0);
        expect(await index.expectHonest()).to.equal(false);
        index.store.heal();
        await walk.expectRight();
        const [line, ...others] = rebuiltSince(said);
        expect(others).to.deep.equal([]);
        expect(line).to.match(new RegExp(`^cannot (open|scrub) the store in .*: ${name}[: ]`));
      });

    for (const [kind, pattern] of [
      ['table', /\.ldb$/],
      ['log', /\.log$/],
      ['manifest', /^MANIFEST/],
      ['CURRENT', /^CURRENT$/]
    ] as const)
      it(`is built again if the disk cannot read its ${kind}`, async function () {
        if (process.platform !== 'linux') this.skip();
        await walk.closeIndexes();
        const said = walk.log.lines.length;
        const [name] = await files(pattern);
        await replaceByUnreadable(pathOf(name ?? expect.fail('a file')));
        await walk.openIndexes();
        await walk.expectRight();
        const lines = rebuiltSince(said);
        expect(lines).to.have.length(1);
        expect(lines[0]).to.include(`: ${name}: `);
      });

    it('is never used with a flipped bit in a key', async () => {
      await walk.closeIndexes();
      const said = walk.log.lines.length;
      const name = await firstTable();
      // The height and the index at the end of a key of rows of the index by script, or in the keys of coins (layout.ts).
      const key = (await readFile(pathOf(name))).indexOf(Buffer.from('000000010000', 'hex'));
      expect(key).to.be.above(0);
      await flipBit(pathOf(name), key * 8);
      await walk.openIndexes();
      await walk.expectRight();
      const [line, ...others] = rebuiltSince(said);
      expect(others).to.deep.equal([]);
      expect(line).to.include(`cannot open the store in ${pathOf('.')}: ${name}: `);
    });
  });
