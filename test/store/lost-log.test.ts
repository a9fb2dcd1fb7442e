// LevelDB starts another log when its write buffer is full, and keeps the previous one until the buffer is a table. Only
// the last log is forced to the disk: a power cut can take the end of the previous one, up to any byte.

import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { StoreError } from '../../lib/store/errors';
import { DiskStore } from '../../lib/store/disk-store';
import { caught } from '../support/expectations/caught';

const MIB = 2 ** 20;
const BLOCK = 32_768;
/** Two more than fill the write buffer. */
const WRITES = 34;

const keyAt = (i: number): Buffer => Buffer.from(`k${i}`);

describe('a store with two logs', () => {
  let folder: string;
  /** Files of a store that was killed right after a durable write. */
  let left: string;
  let logs: string[] | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-logs-'));
    left = join(folder, 'left');
    // The write buffer may have become a table, and its log may be gone, before the files are copied.
    do logs = await leaveFiles();
    while (logs === undefined);
  });

  /** The names of the logs among the files of a running store; undefined: there are no longer two. */
  async function leaveFiles(): Promise<string[] | undefined> {
    const running = join(folder, 'running');
    for (const path of [running, left]) await rm(path, { recursive: true, force: true });
    await mkdir(left);
    const store = new DiskStore(running);
    await store.open();
    for (let i = 0; i < WRITES; i++)
      await store.batch([{ type: 'put', key: keyAt(i), value: Buffer.alloc(MIB, i) }], { durable: i === WRITES - 1 });
    // The manifest first: it says which logs are in use.
    const names = readdirSync(running)
      .filter((name) => name !== 'LOCK')
      .sort()
      .reverse();
    const found = names.filter((name) => name.endsWith('.log')).sort();
    for (const name of names) if (existsSync(join(running, name))) copyFileSync(join(running, name), join(left, name));
    const areThere = found.length === 2 && found.every((name) => existsSync(join(running, name)));
    await store.close();
    return areThere ? found : undefined;
  }

  afterEach(() => rm(folder, { recursive: true }));

  it('has all writes, as long as both logs are whole', async () => {
    expect(logs).to.have.length(2);
    const store = new DiskStore(left);
    await store.open();
    for (let i = 0; i < WRITES; i++) expect(store.get(keyAt(i))?.[0], `write ${i}`).to.equal(i);
    await store.close();
  });

  it('is opened when the first log is cut off and nothing whole follows in the second one', async () => {
    const [first, second] = logs as [string, string];
    await truncate(join(left, first), (await stat(join(left, first))).size - 1);
    await truncate(join(left, second), BLOCK);
    const store = new DiskStore(left);
    await store.open();
    const there = Array.from({ length: WRITES }, (_, i) => store.get(keyAt(i)) !== undefined);
    expect(there.lastIndexOf(true)).to.equal(there.indexOf(false) - 1);
    await store.close();
  });

  for (const [what, lengthOf] of Object.entries({
    'all of it': () => 0,
    'everything after the first write': () => Math.ceil((MIB + 100) / BLOCK) * BLOCK - BLOCK,
    'everything after a block in the middle': (size: number) => Math.floor(size / 2 / BLOCK) * BLOCK,
    'its last byte': (size: number) => size - 1
  })) {
    it(`is not opened when the first log has lost ${what}`, async () => {
      const [first] = logs as [string, string];
      await truncate(join(left, first), lengthOf((await stat(join(left, first))).size));
      const error = await caught(new DiskStore(left).open());
      expect(error).to.be.instanceOf(StoreError).with.property('reason', 'corrupt');
      expect(error).to.have.property('message').that.includes(`${first} is damaged`);
    });
  }
});
