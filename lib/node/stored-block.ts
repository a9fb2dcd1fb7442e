// Blocks out of the node's store, as Bitcoin Core would have them: bcoin keeps the bytes that its peers sent
// (`canonicalBlock`).

import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { canonicalBlock } from '../bitcoin/block';
import { UnreadableBlockError } from './errors';
import type { HostHashes } from './host-hash';
import type { HostBlock, HostNode } from './host';

/** Of 2.x (blockstore/common.js): blocks, among undo coins and filters. */
const BLOCK_DATA = 1;
/** `b`, kind of data, hash (blockstore/layout.js). */
const BLOCK_KEY_PREFIX = Buffer.from('6200000001', 'hex');
/** Where a block lies, in 32-bit numbers (blockstore/records.js). The store in memory has the block itself there, which is longer. */
const PLACE_RECORD_LENGTH = 12;
const [FILE, POSITION, BLOCK_LENGTH] = [0, 4, 8] as const;

const [openFile, readFile, closeFile] = [promisify(fs.open), promisify(fs.read), promisify(fs.close)];

export class StoredBlocks {
  readonly #host: HostNode;
  readonly #hashes: HostHashes;

  constructor(host: HostNode, hashes: HostHashes) {
    this.#host = host;
    this.#hashes = hashes;
  }

  /** The whole block; undefined when unknown or pruned. @throws UnreadableBlockError */
  async block(hash: Buffer): Promise<Buffer | undefined> {
    try {
      const stored = await this.#host.chain.getRawBlock(this.#hashes.toHost(hash));
      return stored === null ? undefined : canonicalBlock(stored);
    } catch (error) {
      throw new UnreadableBlockError(hash, error);
    }
  }

  /**
   * `length` bytes from `offset` of the block, which is `blockLength` bytes long; undefined when unknown or pruned. A stored
   * block of another length has superfluous witnesses, and other offsets: only then all of it is read.
   * @throws UnreadableBlockError
   */
  async part(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    const { blocks } = this.#host;
    const record = await blocks?.db.get(Buffer.concat([BLOCK_KEY_PREFIX, hash]));
    if (record === null) return undefined;
    if (blocks === undefined || record?.length !== PLACE_RECORD_LENGTH || record.readUInt32LE(BLOCK_LENGTH) !== blockLength)
      return (await this.block(hash))?.subarray(offset, offset + length);
    try {
      return await readFrom(blocks.filepath(BLOCK_DATA, record.readUInt32LE(FILE)), record.readUInt32LE(POSITION) + offset, length);
    } catch (error) {
      // Thrown away between the one and the other.
      if (await blocks.has(hash)) throw new UnreadableBlockError(hash, error);
      return undefined;
    }
  }
}

/** As bcoin reads a part, without looking for the record once more. @throws an error of the system, RangeError when the file ends before. */
async function readFrom(path: string, position: number, length: number): Promise<Buffer> {
  const file = await openFile(path, 'r');
  try {
    const { bytesRead, buffer } = await readFile(file, Buffer.allocUnsafeSlow(length), 0, length, position);
    if (bytesRead !== length) throw new RangeError(`expected ${length} bytes at ${position} of ${path}, got ${bytesRead}`);
    return buffer;
  } finally {
    await closeFile(file);
  }
}

/** A block of the node's as bytes; it still has those that it was read from. @throws UnreadableBlockError */
export function canonicalBytes(hash: Buffer, block: HostBlock): Buffer {
  try {
    return canonicalBlock(block.toRaw());
  } catch (error) {
    throw new UnreadableBlockError(hash, error);
  }
}
