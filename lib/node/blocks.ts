// Blocks from the node's store, as Bitcoin Core would write them: bcoin stores the bytes that its peers sent
// (`canonicalBlock`).

import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import { canonicalBlock } from '../bitcoin/block';
import { keyOf } from '../bitcoin/hash';
import { UnreadableBlockError } from './errors';
import type { HostNode, ToHostHash } from './host';

/** The number of the kind of data for blocks; undo coins and filters have others (blockstore/common.js of 2.x). */
const BLOCK_DATA = 1;
/** A key is `b`, the kind of data, the hash (blockstore/layout.js). */
const BLOCK_KEY_PREFIX = Buffer.from('6200000001', 'hex');
/** File, position and length of a block, in 32-bit numbers (blockstore/records.js). A store in memory holds the block itself instead. */
const LOCATION_RECORD_LENGTH = 12;
const [FILE, POSITION, BLOCK_LENGTH] = [0, 4, 8] as const;

/** Enough for the newest blocks of the main network, some two months of them. */
const MOST_OPEN_FILES = 64;
const MOST_LOCATIONS = 10_000;

const [openFile, readFile] = [promisify(fs.open), promisify(fs.read)];

/** Where the bytes of a block are. */
interface Location {
  readonly path: string;
  readonly position: number;
  readonly length: number;
}

export class StoredBlocks {
  readonly #host: HostNode;
  readonly #toHost: ToHostHash;
  readonly #files = new BlockFiles();
  /** bcoin never moves a block: its file is deleted at most. */
  readonly #locations = new LRUCache<string, Location>({ max: MOST_LOCATIONS });

  constructor(host: HostNode, toHost: ToHostHash) {
    this.#host = host;
    this.#toHost = toHost;
  }

  /** The whole block; undefined when unknown or pruned. @throws UnreadableBlockError */
  async block(hash: Buffer): Promise<Buffer | undefined> {
    try {
      const stored = await this.#host.chain.getRawBlock(this.#toHost(hash));
      return stored === null ? undefined : canonicalBlock(stored);
    } catch (error) {
      throw new UnreadableBlockError(hash, error);
    }
  }

  /**
   * `length` bytes from `offset` of the block, which is `blockLength` bytes long; undefined when unknown or pruned. A stored
   * block of another length has superfluous witnesses, and so other offsets: only then the whole block is read.
   * @throws UnreadableBlockError
   */
  async part(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    const { blocks } = this.#host;
    const key = keyOf(hash);
    const location = this.#locations.get(key) ?? (await this.#find(hash));
    if (location === undefined) return undefined;
    if (location === 'elsewhere' || location.length !== blockLength) return (await this.block(hash))?.subarray(offset, offset + length);
    this.#locations.set(key, location);
    try {
      return await this.#files.read(location.path, location.position + offset, length);
    } catch (error) {
      this.#locations.delete(key);
      // The block may have been pruned since its record was read.
      if ((await blocks?.has(hash)) === true) throw new UnreadableBlockError(hash, error);
      return undefined;
    }
  }

  /** `elsewhere`: in memory, or in the chain's database. undefined: the block is unknown or pruned. */
  async #find(hash: Buffer): Promise<Location | 'elsewhere' | undefined> {
    const { blocks } = this.#host;
    const record = await blocks?.db.get(Buffer.concat([BLOCK_KEY_PREFIX, hash]));
    if (record === null) return undefined;
    if (blocks === undefined || record?.length !== LOCATION_RECORD_LENGTH) return 'elsewhere';
    return {
      path: blocks.filepath(BLOCK_DATA, record.readUInt32LE(FILE)),
      position: record.readUInt32LE(POSITION),
      length: record.readUInt32LE(BLOCK_LENGTH)
    };
  }

  /** Closes all files. A later read opens its file again. */
  close(): void {
    this.#files.close();
  }
}

interface OpenFile {
  readonly descriptor: number;
  readers: number;
  isCached: boolean;
}

/**
 * Reads parts of files. The files read last stay open, since opening and closing a file costs more than twice as much as a
 * read. Reads go through the thread pool: a synchronous read would be cheaper from the page cache, but from a slow disk it
 * would stop the whole node for milliseconds.
 */
class BlockFiles {
  readonly #cached = new LRUCache<string, OpenFile>({
    max: MOST_OPEN_FILES,
    dispose: (file) => {
      file.isCached = false;
      closeUnused(file);
    }
  });

  /** @throws an error of the system, RangeError when the file ends too early */
  async read(path: string, position: number, length: number): Promise<Buffer> {
    const file = this.#find(path) ?? { descriptor: await openFile(path, 'r'), readers: 0, isCached: true };
    file.readers++;
    // Another read may have opened the same file: then the descriptor opened last is cached, and the other is closed after its read.
    if (this.#cached.peek(path) !== file) this.#cached.set(path, file);
    try {
      const { bytesRead, buffer } = await readFile(file.descriptor, Buffer.allocUnsafeSlow(length), 0, length, position);
      if (bytesRead !== length) throw new RangeError(`expected ${length} bytes at ${position} of ${path}, got ${bytesRead}`);
      return buffer;
    } finally {
      file.readers--;
      closeUnused(file);
    }
  }

  close(): void {
    this.#cached.clear();
  }

  /** The open file of a path; not if the file was deleted, since another file may have its name by now. */
  #find(path: string): OpenFile | undefined {
    const file = this.#cached.get(path);
    if (file === undefined || fs.fstatSync(file.descriptor).nlink > 0) return file;
    this.#cached.delete(path);
    return undefined;
  }
}

function closeUnused({ descriptor, readers, isCached }: OpenFile): void {
  if (readers === 0 && !isCached) fs.close(descriptor, () => undefined);
}
