import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { flipBit } from '../support/flipped-bit';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';
import type { WalkedScripts } from '../support/walked-scripts';
import type { BlockPlan } from '../support/mined-blocks';
import type { Store } from '../../lib/store/store';

/** Kinds of records by the letters of their keys. */
const KINDS_OF_RECORD = {
  '\0': 'the layout',
  G: 'the network',
  S: 'the secret',
  T: 'the tip',
  d: 'what undoes a block',
  i: 'txids',
  s: 'rows'
} as const;
const FLIPS_PER_KIND = 1;
const FILES = 6;
const WORKED_BLOCKS = 8;
/** Passes over the files follow each other without a pause. */
const SCRUB_MS = 1;

const worked = (count: number): BlockPlan[] =>
  Array.from({ length: count }, () => ({
    repeat: undefined,
    transactions: [
      { spends: [3, 60], outputs: [0, 1, 3] },
      { spends: [199], outputs: [2] }
    ]
  }));

const scriptsOf = ({ scripts }: IndexWalk): WalkedScripts => scripts ?? expect.fail('a walk with an index by script');

/** Lines that say that an index is made again: only ever the index by script. */
function anewSince(walk: IndexWalk, line: number): string[] {
  const lines = walk.log.lines.slice(line).filter((text) => /Rebuilding the index|Filling the index by script again/.test(text));
  for (const text of lines) expect(text).to.match(/^warning Filling the index by script again: /);
  return lines;
}

function flipped(bytes: Buffer, pick: number): Buffer {
  const copy = Buffer.from(bytes);
  const bit = pick % (copy.length * 8);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** One of the records whose keys begin with a letter; of undo records one of the last blocks, which will be undone. */
async function recordAt(store: Store, letter: string, pick: number): Promise<readonly [key: Buffer, value: Buffer]> {
  const records: (readonly [Buffer, Buffer])[] = [];
  for await (const record of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) records.push(record);
  const eligible = letter === 'd' ? records.slice(-WORKED_BLOCKS) : records;
  return eligible[pick % eligible.length] ?? expect.fail(`a record under ${letter}`);
}

// An index on disk is filled, and has rows that share records.
for (const disk of testScale() > 1 ? [false, true] : [false])
  describe(`a damaged record of an index by script ${disk ? 'on disk' : 'in memory'}`, function () {
    this.timeout(300_000 * testScale());
    const seed = testSeed();
    let walk: IndexWalk;

    before(async () => {
      walk = await IndexWalk.open({ disk, undoDepth: WORKED_BLOCKS + 1, scripts: true });
    });
    after(() => walk.close());

    for (const [letter, what] of Object.entries(KINDS_OF_RECORD)) {
      it(`is never answered from, is reported, and is repaired: ${what}, TEST_SEED=${seed}`, async () => {
        const { store } = scriptsOf(walk);
        for (const [which, bit] of fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: FLIPS_PER_KIND * testScale() })) {
          await walk.nodeStep({ do: 'mine', plans: worked(WORKED_BLOCKS) });
          await walk.expectRight();
          const said = walk.log.lines.length;
          await scriptsOf(walk).close();
          await store.open();
          const [key, value] = await recordAt(store, letter, which);
          await store.batch([{ type: 'put', key, value: flipped(value, bit) }], { durable: false });
          await store.close();
          await walk.reopen();
          await scriptsOf(walk).untilAtRest();
          await walk.expectHonestScripts();
          await scriptsOf(walk).untilAtRest();
          await walk.expectHonestScripts();
          await walk.nodeStep({ do: 'fork', back: WORKED_BLOCKS, plans: worked(WORKED_BLOCKS + 1) });
          await walk.expectRight();
          expect(anewSince(walk, said), key.toString('hex')).to.have.length(1);
        }
      });
    }
  });

describe('an index by script with a damaged file', function () {
  this.timeout(300_000 * testScale());
  const seed = testSeed();
  let folder: string;
  let walk: IndexWalk;
  const path = (): string => join(folder, 'scripts');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-damaged-scripts-'));
    walk = await IndexWalk.on({ folder, undoDepth: 1_000, turn: 0, scripts: true });
    await walk.openIndex();
    await walk.step({ do: 'mine', plans: worked(WORKED_BLOCKS) });
  });
  after(() => walk.close());

  const files = async (pattern: RegExp): Promise<string[]> => (await readdir(path())).filter((name) => pattern.test(name)).sort();
  /** Turns the writes in the log into a table. */
  const restart = async (): Promise<void> => {
    await walk.reopen();
    await scriptsOf(walk).untilAtRest();
  };

  it(`is right once its files were checked, and was filled again if it had to be, TEST_SEED=${seed}`, async () => {
    const change = fc.record({ which: fc.nat(), bit: fc.nat(), deletes: fc.boolean(), isOpen: fc.boolean() });
    let anew = 0;
    scriptsOf(walk).scrubMs = SCRUB_MS;
    for (const { which, bit, deletes, isOpen } of fc.sample(change, { seed, numRuns: FILES * testScale() })) {
      await restart();
      // Only the tables of an open store stay the same.
      const tables = await files(/\.ldb$/);
      const names = isOpen || which % 3 > 0 ? tables : await files(/\.(ldb|log)$|^MANIFEST|^CURRENT$/);
      const name = names[which % names.length] ?? expect.fail('a file');
      const said = walk.log.lines.length;
      if (!isOpen) await scriptsOf(walk).close();
      // Closing turns the log into a table.
      if ((await files(/./)).includes(name)) {
        if (deletes) await rm(join(path(), name));
        else await flipBit(join(path(), name), bit);
      }
      if (!isOpen) await walk.reopen();
      const looked = (): string[] => walk.log.lines.slice(said).filter((line) => line.includes('looked through again'));
      // The first of two passes may have begun before the damage.
      while (looked().length < 2 && anewSince(walk, said).length === 0) await setTimeout(1);
      await walk.expectRight();
      anew += anewSince(walk, said).length;
    }
    // Few bits have no meaning: only the padding of a footer.
    expect(anew).to.be.above((FILES * testScale()) / 3);
    scriptsOf(walk).scrubMs = 0;
  });

  it('is never used with a flipped bit in a key: tables with the tip are read first', async () => {
    await restart();
    await scriptsOf(walk).close();
    const said = walk.log.lines.length;
    const [name = ''] = await files(/\.ldb$/);
    const table = join(path(), name);
    const bytes = await readFile(table);
    // The height and the index at the end of a key of rows (layout.ts).
    const key = bytes.indexOf(Buffer.from('000000010000', 'hex'));
    expect(key).to.be.above(0);
    await flipBit(table, key * 8);
    await walk.reopen();
    await walk.expectRight();
    expect(anewSince(walk, said)).to.have.length(1);
    expect(anewSince(walk, said)[0]).to.include(`cannot open the store in ${path()}: ${name}: `);
  });

  it('is filled again at once when a read fails because a table is lost', async () => {
    await restart();
    const [name = ''] = await files(/\.ldb$/);
    const said = walk.log.lines.length;
    await rm(join(path(), name));
    scriptsOf(walk).store.fail('snapshot.load', 0);
    await walk.expectHonestScripts();
    scriptsOf(walk).store.heal();
    await walk.expectRight();
    expect(anewSince(walk, said)).to.deep.equal([
      `warning Filling the index by script again: cannot open the store in ${path()}: ${name} is missing.`
    ]);
  });
});
