import { cp, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { putRecord, recordOf } from '../../lib/index/records/layout';
import { groupKey } from '../../lib/scripts/records/block-txids';
import { allowEarlySpends, allowSpendsAsShipped } from '../support/chain/early-spends';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { IndexWalk } from '../support/index/walk';
import { spendingBlocks } from '../support/chain/mined-blocks';
import { testScale, testSeed } from '../support/process/scale';
import { replaceByUnreadable } from '../support/process/unreadable-file';

const UNDO_DEPTH = 12;
const SCALE = testScale();

describe('txids that are damaged on the disk', function () {
  this.timeout(300_000 * SCALE);
  before(allowEarlySpends);
  after(allowSpendsAsShipped);
  const seed = testSeed();
  let walk: IndexWalk;
  let folder: string;
  let said: number;

  beforeEach(async () => {
    walk = await IndexWalk.open({ folder: await newFolder(), undoDepth: UNDO_DEPTH, scripts: true });
    await walk.step({ do: 'mine', plans: spendingBlocks(6) });
    folder = walk.scripts.folder ?? expect.fail('an index on disk');
    said = walk.log.lines.length;
  });
  afterEach(() => walk.close());

  const path = (): string => join(folder, 'PAGES');
  /** Whether txids were repaired since the last call. The index must not have been filled again. */
  const wereRepaired = (): boolean => {
    const lines = walk.log.lines.slice(said);
    said += lines.length;
    expect(lines.filter((line) => line.includes('Filling the index by script again'))).to.deep.equal([]);
    expect(lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
    return lines.some((line) => line.startsWith('warning The txids of the index by script are damaged'));
  };

  const change = fc.record({ how: fc.constantFrom('flip', 'flip', 'cut', 'delete'), where: fc.nat() });

  async function damage({ how, where }: { readonly how: string; readonly where: number }): Promise<void> {
    if (how === 'flip') await flipBit(path(), where);
    else if (how === 'cut') await truncate(path(), where % (await stat(path())).size);
    else await rm(path());
  }

  it(`while it is closed are found and taken from the blocks again, whatever the damage, TEST_SEED=${seed}`, async () => {
    walk.scripts.scrubMs = 1;
    let repaired = 0;
    const changes = fc.sample(change, { seed, numRuns: 6 * SCALE });
    for (const { how, where } of changes) {
      await walk.closeIndexes();
      await damage({ how, where });
      await walk.openIndexes();
      await walk.scripts.untilAtRest();
      await walk.scripts.expectHonest();
      await walk.expectRight();
      if (wereRepaired()) repaired++;
    }
    expect(repaired).to.equal(changes.length);
  });

  it('while it is open are found by a reader, or by a pass over the files', async () => {
    for (const scrubMs of [0, 1]) {
      walk.scripts.scrubMs = scrubMs;
      await walk.reopen();
      // Pages that a reader has read before are kept in memory, and right.
      if (scrubMs > 0) await walk.expectRight();
      else await walk.scripts.untilAtRest();
      await flipBit(path(), 5_000);
      const isAnswered = await walk.scripts.expectHonest();
      if (scrubMs === 0) expect(isAnswered, 'whether it was answered').to.equal(false);
      while (!wereRepaired()) await setTimeout(5);
      await walk.expectRight();
    }
  });

  it('are no reason to fill the index again, unless the records do not fit the blocks either', async () => {
    const { store } = walk.scripts;
    await walk.closeIndexes();
    await store.open();
    const key = groupKey(0);
    const record = Buffer.from(recordOf(key, store.get(key) ?? expect.fail('a record')));
    record.writeUInt8(record.readUInt8(6 + 6 * 5 + 3) ^ 1, 6 + 6 * 5 + 3);
    await store.batch([putRecord(key, record)], { durable: true });
    await store.close();
    await walk.openIndexes();
    await walk.scripts.untilAtRest();
    await flipBit(path(), 1_000);
    expect(await walk.scripts.expectHonest(), 'whether it was answered').to.equal(false);
    await walk.expectRight();
    const [reason, ...others] = walk.reasonsSince(said, walk.scripts);
    expect(others).to.deep.equal([]);
    expect(reason).to.include('the checksum of the txids of the block at height 5');
  });

  it('are a reason to fill the index again if the disk can neither read nor write them', async function () {
    if (process.platform !== 'linux') this.skip();
    await walk.closeIndexes();
    await replaceByUnreadable(path());
    await walk.openIndexes();
    await walk.expectRight();
    const [reason, ...others] = walk.reasonsSince(said, walk.scripts);
    expect(others).to.deep.equal([]);
    expect(reason).to.include('EIO');
  });

  /** Closes the indexes as a power cut leaves them: `lost` is done to the files. */
  async function powerCut(lost: () => Promise<void>): Promise<void> {
    await walk.closeIndexes();
    await lost();
    await walk.openIndexes();
    await walk.expectRight();
  }

  it('by a power cut, from which the pages come back as they were before some blocks', async () => {
    await walk.closeIndexes();
    await cp(path(), `${folder}-PAGES`);
    await walk.openIndexes();
    await walk.step({ do: 'mine', plans: spendingBlocks(40) });
    expect(wereRepaired()).to.equal(false);
    await powerCut(() => cp(`${folder}-PAGES`, path()));
    expect(wereRepaired()).to.equal(true);
    // Other blocks in their places.
    await walk.closeIndexes();
    await cp(path(), `${folder}-PAGES`);
    await walk.openIndexes();
    await walk.step({ do: 'fork', back: 8, plans: spendingBlocks(9) });
    expect(wereRepaired()).to.equal(false);
    await powerCut(() => cp(`${folder}-PAGES`, path()));
    expect(wereRepaired()).to.equal(true);
  });

  it('by a power cut, from which the records come back as they were before a reorganization, but the pages do not', async () => {
    const mined = spendingBlocks(30);
    await walk.step({ do: 'mine', plans: mined });
    await walk.closeIndexes();
    await cp(folder, `${folder}-before`, { recursive: true });
    await walk.openIndexes();
    await walk.step({ do: 'fork', back: 8, plans: spendingBlocks(9) });
    wereRepaired();
    await powerCut(async () => {
      await cp(path(), `${folder}-before/PAGES`);
      await rm(folder, { recursive: true });
      await cp(`${folder}-before`, folder, { recursive: true });
    });
    // The records are rewound without the pages, and the blocks written again.
    wereRepaired();
    await walk.step({ do: 'mine', plans: spendingBlocks(2) });
  });
});
