import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { BlockFiles } from '../../lib/fleet/reader/block-files';
import { Keeping } from '../../lib/fleet/reader/keeping';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { until } from '../support/expectations/until';

const SIZE = 1_000;

describe('the blocks that a reader keeps on its disk', () => {
  let folder: string;
  let log: MemoryLog;

  beforeEach(async () => {
    folder = await newFolder();
    log = new MemoryLog();
  });

  async function open(mostBytes: number): Promise<BlockFiles> {
    const files = new BlockFiles(folder, mostBytes, new Keeping('A block', log));
    await files.open();
    return files;
  }

  const hashOf = (n: number): Buffer => Buffer.alloc(32, n);
  const blockOf = (n: number): { readonly raw: Buffer; readonly undo: Buffer } => ({
    raw: Buffer.alloc(SIZE, n),
    undo: Buffer.alloc(10, n)
  });
  const pathOf = (n: number): string => join(folder, toDisplayHex(hashOf(n)).slice(-2), toDisplayHex(hashOf(n)));
  async function kept(): Promise<number> {
    const folders = await readdir(folder);
    const names = await Promise.all(folders.map((each) => readdir(join(folder, each))));
    return names.flat().length;
  }

  it('are read whole and in part, with and without undo record, also after a restart', async () => {
    const files = await open(100 * SIZE);
    await files.put(hashOf(1), blockOf(1));
    await files.put(hashOf(2), { raw: blockOf(2).raw });
    for (const each of [files, await open(100 * SIZE)]) {
      expect(await each.get(hashOf(1))).to.deep.equal(blockOf(1));
      expect(await each.get(hashOf(2))).to.deep.equal({ raw: blockOf(2).raw });
      expect(await each.get(hashOf(3))).to.equal(undefined);
      expect(await each.part(hashOf(1), 5, 20)).to.deep.equal(Buffer.alloc(20, 1));
      expect(await each.part(hashOf(3), 0, 1)).to.equal(undefined);
    }
    // What is there is not written again, unless more of it is known now.
    expect(await files.part(hashOf(2), SIZE - 5, 5)).to.deep.equal(Buffer.alloc(5, 2));
    await files.put(hashOf(2), blockOf(2));
    expect(await files.get(hashOf(2))).to.deep.equal(blockOf(2));
    expect(await files.part(hashOf(2), SIZE - 5, 5)).to.deep.equal(Buffer.alloc(5, 2));
    await files.put(hashOf(2), { raw: blockOf(2).raw });
    expect(await files.get(hashOf(2))).to.deep.equal(blockOf(2));
    expect(log.lines).to.deep.equal([]);
  });

  it('are kept whoever else writes the same block at the same time', async () => {
    const files = await open(100 * SIZE);
    await Promise.all(Array.from({ length: 8 }, () => files.put(hashOf(1), blockOf(1))));
    expect(log.lines).to.deep.equal([]);
    expect(await files.get(hashOf(1))).to.deep.equal(blockOf(1));
    expect(await kept()).to.equal(1);
  });

  it('are looked for among what else a system leaves in a folder, after a power failure as well', async () => {
    await (await open(100 * SIZE)).put(hashOf(1), blockOf(1));
    await mkdir(join(folder, 'lost+found'));
    await writeFile(join(folder, '.DS_Store'), 'x');
    await mkdir(join(pathOf(2), '..'), { recursive: true });
    await writeFile(pathOf(2), '');
    await mkdir(join(pathOf(3), '..'), { recursive: true });
    await writeFile(pathOf(3), Buffer.alloc(12));
    await writeFile(`${pathOf(3)}.tmp`, Buffer.alloc(100));
    await writeFile(join(pathOf(1), '..', 'notes'), 'x');
    const files = await open(100 * SIZE);
    expect(files.size.entries).to.equal(1);
    expect(await files.get(hashOf(1))).to.deep.equal(blockOf(1));
    for (const n of [2, 3]) {
      expect(await files.get(hashOf(n))).to.equal(undefined);
      expect(await readdir(join(pathOf(n), '..'))).to.deep.equal([]);
    }
    expect(log.lines).to.deep.equal([]);
  });

  it('leave nothing that takes room when they cannot be written', async () => {
    const files = await open(100 * SIZE);
    await mkdir(pathOf(1), { recursive: true });
    await files.put(hashOf(1), blockOf(1));
    expect(log.lines).to.have.length(1);
    expect(await readdir(join(pathOf(1), '..'))).to.deep.equal([basename(pathOf(1))]);
  });

  it('are no more bytes than they may be: those used last stay, also after a restart', async () => {
    const files = await open(3.5 * SIZE);
    for (const n of [1, 2, 3]) await files.put(hashOf(n), blockOf(n));
    await files.get(hashOf(1));
    await files.part(hashOf(2), 0, 1);
    await files.put(hashOf(4), blockOf(4));
    await until(async () => (await kept()) === 3);
    expect(await files.get(hashOf(3))).to.equal(undefined);
    for (const n of [1, 2]) expect(await files.get(hashOf(n))).to.deep.equal(blockOf(n));
    // The oldest files go when there is room for one alone.
    for (const [n, seconds] of [
      [2, 3_000],
      [1, 2_000],
      [4, 1_000]
    ] as const)
      await utimes(pathOf(n), seconds, seconds);
    const smaller = await open(1.5 * SIZE);
    await until(async () => (await kept()) === 1);
    expect(await smaller.get(hashOf(2))).to.deep.equal(blockOf(2));
  });

  it('are none where a file is damaged, cut off or gone', async () => {
    const files = await open(100 * SIZE);
    for (const n of [1, 2, 3, 4]) await files.put(hashOf(n), blockOf(n));
    const bytes = await readFile(pathOf(1));
    bytes[500] = 9;
    await writeFile(pathOf(1), bytes);
    await writeFile(pathOf(2), bytes.subarray(0, 50));
    await rm(pathOf(3));
    const again = await open(100 * SIZE);
    await writeFile(pathOf(4), '');
    // Nothing is taken from a file that was not found sound.
    expect(await again.part(hashOf(1), 0, 10)).to.equal(undefined);
    for (const n of [1, 2, 4]) expect(await again.get(hashOf(n)), `${n}`).to.equal(undefined);
    expect(log.lines.filter((text) => text.includes('is damaged'))).to.have.length(3);
    expect(await files.get(hashOf(3))).to.equal(undefined);
    // A new one may take its place.
    await again.put(hashOf(1), { raw: blockOf(1).raw });
    expect(await again.get(hashOf(1))).to.deep.equal({ raw: blockOf(1).raw });
  });

  it('are left out while they cannot be written, which is said once', async () => {
    const files = await open(100 * SIZE);
    const obstacle = join(folder, toDisplayHex(hashOf(1)).slice(-2));
    await writeFile(obstacle, 'in the way');
    for (let i = 0; i < 3; i++) await files.put(hashOf(1), blockOf(1));
    expect(await files.get(hashOf(1))).to.equal(undefined);
    await rm(obstacle);
    for (let i = 0; i < 2; i++) await files.put(hashOf(1), blockOf(1));
    expect(await files.get(hashOf(1))).to.deep.equal(blockOf(1));
    const [first, ...others] = log.lines;
    expect(first).to.include(`warning A block is not kept on the disk: `).and.to.include(obstacle);
    expect(others).to.deep.equal(['info A block is kept on the disk again.']);
  });
});
