// Blocks out of the node's store, as Bitcoin Core would have them: bcoin keeps the bytes that its peers sent
// (lib/bitcoin/canonical.ts).

import { canonicalBlock } from '../bitcoin/canonical';
import { UnreadableBlockError } from './errors';
import type { HostHashes } from './host-hash';
import type { HostBlock, HostBlockStore, HostNode } from './host';

/** Of 2.x: `b`, kind of data, hash (blockstore/layout.js). */
const BLOCK_KEY_PREFIX = Buffer.from('6200000001', 'hex');
/** File, position and length of a block in 2.x (blockstore/records.js). No block is so short. */
const PLACE_RECORD_LENGTH = 12;
const PLACE_RECORD_BLOCK_LENGTH = 8;

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
    try {
      if (blocks !== undefined && await storedLength(hash, blocks) === blockLength)
        return await blocks.read(hash, offset, length) ?? undefined;
    } catch (error) {
      // Thrown away between the one and the other.
      if (blocks !== undefined && await blocks.has(hash)) throw new UnreadableBlockError(hash, error);
      return undefined;
    }
    return (await this.block(hash))?.subarray(offset, offset + length);
  }
}

/** How long the block is as it is stored. Instead of its place in a file, 2.x in memory has the block itself there. */
async function storedLength(hash: Buffer, blocks: HostBlockStore): Promise<number | undefined> {
  const record = await blocks.db.get(Buffer.concat([BLOCK_KEY_PREFIX, hash]));
  if (record === null) return undefined;
  return record.length === PLACE_RECORD_LENGTH ? record.readUInt32LE(PLACE_RECORD_BLOCK_LENGTH) : record.length;
}

/** A block of the node's as bytes; it still has those that it was read from. @throws UnreadableBlockError */
export function canonicalBytes(hash: Buffer, block: HostBlock): Buffer {
  try {
    return canonicalBlock(block.toRaw());
  } catch (error) {
    throw new UnreadableBlockError(hash, error);
  }
}
