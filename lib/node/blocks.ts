// Blocks from the node's store, as Bitcoin Core would write them: bcoin stores the bytes that its peers sent
// (`canonicalBlock`).

import { LRUCache } from 'lru-cache';
import { canonicalBlock } from '../bitcoin/block';
import { keyOf } from '../bitcoin/hash';
import { UnreadableBlockError } from './errors';
import { OpenFiles, type OpenFile } from './open-files';
import type { HostNode, ToHostHash } from './host';

/** The number of the kind of data for blocks; undo coins and filters have others (blockstore/common.js of 2.x). */
const BLOCK_DATA = 1;
/** A key is `b`, the kind of data, the hash (blockstore/layout.js). */
const BLOCK_KEY_PREFIX = Buffer.from('6200000001', 'hex');
/** File, position and length of a block, in 32-bit numbers (blockstore/records.js). A store in memory holds the block itself instead. */
const LOCATION_RECORD_LENGTH = 12;
const [FILE, POSITION, BLOCK_LENGTH] = [0, 4, 8] as const;

const MOST_LOCATIONS = 10_000;

/** Where the bytes of a block are. */
interface Location {
  readonly file: OpenFile;
  readonly position: number;
  readonly length: number;
}

export class StoredBlocks {
  readonly #host: HostNode;
  readonly #toHost: ToHostHash;
  readonly #files = new OpenFiles();
  /** bcoin never moves a block: where it was is where it is, as long as that file stays open. */
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
    try {
      const location = this.#known(hash) ?? (await this.#find(hash));
      if (location === undefined) return undefined;
      if (location !== 'elsewhere' && location.length === blockLength)
        return await this.#files.read(location.file, location.position + offset, length);
    } catch (error) {
      // The block may have been pruned since its record was read.
      if ((await blocks?.has(hash)) === true) throw new UnreadableBlockError(hash, error);
      return undefined;
    }
    return (await this.block(hash))?.subarray(offset, offset + length);
  }

  #known(hash: Buffer): Location | undefined {
    const location = this.#locations.get(keyOf(hash));
    return location !== undefined && this.#files.isOpen(location.file) ? location : undefined;
  }

  /** `elsewhere`: in memory, or in the chain's database. undefined: the block is unknown or pruned. */
  async #find(hash: Buffer): Promise<Location | 'elsewhere' | undefined> {
    const { blocks } = this.#host;
    const record = await blocks?.db.get(Buffer.concat([BLOCK_KEY_PREFIX, hash]));
    if (record === null) return undefined;
    if (blocks === undefined || record?.length !== LOCATION_RECORD_LENGTH) return 'elsewhere';
    const file = await this.#files.open(blocks.filepath(BLOCK_DATA, record.readUInt32LE(FILE)));
    const location = { file, position: record.readUInt32LE(POSITION), length: record.readUInt32LE(BLOCK_LENGTH) };
    this.#locations.set(keyOf(hash), location);
    return location;
  }

  /** Closes all files. A later read opens its file again. */
  close(): void {
    this.#files.close();
  }
}
