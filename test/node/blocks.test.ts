import { readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { StoredBlocks } from '../../lib/node/blocks';
import { UnreadableBlockError } from '../../lib/node/errors';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { until } from '../support/expectations/until';
import type { HostNode } from '../../lib/node/host';

const BLOCK_LENGTH = 100;
const POSITION = 8;

/** Whether this system lists open files. */
const DESCRIPTORS = '/proc/self/fd';

describe('parts of blocks in files', () => {
  let folder: string;
  let blocks: StoredBlocks;
  let files: Map<string, number>;

  beforeEach(async () => {
    folder = await newFolder();
    files = new Map();
    blocks = new StoredBlocks(
      {
        blocks: {
          db: { get: (key: Buffer) => Promise.resolve(recordOf(key.subarray(-32))) },
          has: (hash: Buffer) => Promise.resolve(recordOf(hash) !== null),
          filepath: (_: number, file: number) => pathOf(file)
        }
      } as unknown as HostNode,
      (hash) => hash
    );
  });

  afterEach(() => {
    blocks.close();
  });

  const hashOf = (block: number): Buffer => Buffer.alloc(32, block);
  const pathOf = (file: number): string => join(folder, `blk${file}.dat`);

  function recordOf(hash: Buffer): Buffer | null {
    const file = files.get(hash.toString('hex'));
    return file === undefined ? null : Buffer.from(Uint32Array.of(file, POSITION, BLOCK_LENGTH).buffer);
  }

  /** Writes a block of one repeated byte, its number, to a separate file. */
  function store(block: number, file: number): void {
    writeFileSync(pathOf(file), Buffer.concat([Buffer.alloc(POSITION), Buffer.alloc(BLOCK_LENGTH, block)]));
    files.set(hashOf(block).toString('hex'), file);
  }

  const part = (block: number): Promise<Buffer | undefined> => blocks.part(hashOf(block), 10, 20, BLOCK_LENGTH);
  const expected = (block: number): Buffer => Buffer.alloc(20, block);

  function openFiles(): number {
    const paths = readdirSync(DESCRIPTORS).map((descriptor) => {
      try {
        return readlinkSync(join(DESCRIPTORS, descriptor));
      } catch {
        return '';
      }
    });
    return paths.filter((path) => path.startsWith(folder)).length;
  }

  it('are read from more files than stay open, many at once, each again and again', async () => {
    const numbers = Array.from({ length: 200 }, (_, block) => block);
    for (const block of numbers) store(block, block);
    for (let round = 0; round < 3; round++) {
      const parts = await Promise.all([...numbers, ...numbers.slice(0, 3), ...numbers].map(part));
      expect(parts).to.deep.equal([...numbers, ...numbers.slice(0, 3), ...numbers].map(expected));
    }
    const isLinux = process.platform === 'linux';
    if (isLinux) {
      await until(() => openFiles() <= 64);
      expect(openFiles()).to.be.above(0);
    }
    blocks.close();
    if (isLinux) await until(() => openFiles() === 0);
  });

  it('are never read from a file that was deleted, when its number is used again', async () => {
    for (let block = 1; block < 20; block++) {
      store(block, 7);
      expect(await part(block)).to.deep.equal(expected(block));
      expect(await part(block)).to.deep.equal(expected(block));
      files.clear();
      rmSync(pathOf(7));
    }
  });

  it('are read where the same block is now, when its file was replaced by another', async () => {
    store(1, 7);
    expect(await part(1)).to.deep.equal(expected(1));
    rmSync(pathOf(7));
    store(2, 7);
    store(1, 8);
    expect(await part(1)).to.deep.equal(expected(1));
    expect(await part(2)).to.deep.equal(expected(2));
  });

  it('keep no file open for long that was deleted', async () => {
    for (const block of [1, 2, 3]) store(block, block);
    for (const block of [1, 2, 3]) await part(block);
    for (const file of [1, 2]) rmSync(pathOf(file));
    if (process.platform === 'linux') {
      await until(async () => {
        await part(3);
        return openFiles() === 1;
      });
    }
    expect(await part(3)).to.deep.equal(expected(3));
  });

  it('are undefined if the node has pruned the block, and an error if its file is gone or too short', async () => {
    store(1, 1);
    expect(await part(2)).to.equal(undefined);
    rmSync(pathOf(1));
    expect(await caught(part(1))).to.be.instanceOf(UnreadableBlockError);
    writeFileSync(pathOf(1), Buffer.alloc(20));
    expect(await caught(part(1)))
      .to.be.instanceOf(UnreadableBlockError)
      .with.property('message')
      .that.includes('expected 20 bytes at 18');
  });
});
