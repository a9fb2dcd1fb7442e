import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { IndexWalk } from '../support/index-walk';
import { testScale, testSeed } from '../support/scale';

const ROUNDS = 10;

describe('an index with a file that is damaged while it is closed', function () {
  this.timeout(300_000 * testScale());
  const seed = testSeed();
  let folder: string;
  let walk: IndexWalk;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-damaged-'));
    walk = await IndexWalk.on({ folder, undoDepth: 1_000, turn: 0 });
    await walk.index.open();
    await walk.step({
      do: 'mine',
      plans: Array.from({ length: 8 }, () => ({ repeat: undefined, transactions: [{ spends: [3, 60], outputs: [0, 1, 3] }] }))
    });
  });
  after(() => walk.close());

  it(`is right when it is open again, and was rebuilt if it had to be, TEST_SEED=${seed}`, async () => {
    for (const [which, pick] of fc.sample(fc.tuple(fc.nat(), fc.nat()), { seed, numRuns: ROUNDS * testScale() })) {
      // Turns the writes in the log into a table.
      await walk.step({ do: 'restart', closed: undefined, opened: undefined });
      await walk.index.close();
      const said = walk.log.lines.length;
      const file = await flipOneBit(which, pick);
      await walk.step({ do: 'restart', closed: undefined, opened: undefined });
      const anew = walk.log.lines.slice(said).filter((line) => line.includes('Rebuilding the index'));
      expect(anew.length, file).to.be.lessThan(2);
      // Few bits have no meaning: only the padding of a footer.
      if (anew[0] !== undefined) expect(anew[0]).to.match(new RegExp(`[: ]${file}[: ]`));
    }
  });

  async function flipOneBit(which: number, pick: number): Promise<string> {
    const index = join(folder, 'index');
    const files = (await readdir(index)).filter((name) => /\.(ldb|log)$|^MANIFEST|^CURRENT$/.test(name)).sort();
    // Mostly tables: they have nearly all of the data.
    const tables = files.filter((name) => name.endsWith('.ldb'));
    const kind = which % 4 === 0 ? files : tables;
    const file = kind[which % kind.length] ?? expect.fail('a file');
    const bytes = await readFile(join(index, file));
    if (bytes.length === 0) return file;
    const bit = pick % (bytes.length * 8);
    bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    await writeFile(join(index, file), bytes);
    return file;
  }
});
