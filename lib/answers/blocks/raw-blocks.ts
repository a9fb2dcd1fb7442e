// Serialized blocks of the node; those that are asked for again come from memory. They are found by hash, so that a cached block stays
// right in any reorganization. Blocks off the active chain are never answered from memory: the node may drop them at any time.

import { LRUCache } from 'lru-cache';
import { transactionOffsets } from '../../bitcoin/block';
import { keyOf } from '../../bitcoin/hash';
import { scanTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { MadeOnce } from '../../server/cache/made-once';
import { chainMoving } from '../../server/errors';
import type { Position, IndexSnapshot, TransactionPosition } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

class RawBlock implements Cached {
  readonly raw: Buffer;
  readonly byteLength: number;
  /** The offset of each transaction, and the end of the last. */
  #offsets: Uint32Array | undefined;

  constructor(raw: Buffer) {
    this.raw = raw;
    this.byteLength = raw.buffer.byteLength;
  }

  /** @throws RangeError when the block has fewer transactions */
  transaction(index: number): Buffer {
    const offsets = (this.#offsets ??= transactionOffsets(this.raw));
    const [start, end] = [offsets[index], offsets[index + 1]];
    if (end === undefined) throw new RangeError(`expected more than ${index} transactions in the block, got ${offsets.length - 1}`);
    return this.raw.subarray(start, end);
  }
}

/** A transaction of a block, whose bytes have not been read yet. */
export interface FoundTransaction {
  readonly block: BlockPoint;
  /** Undefined when the node no longer has the bytes. */
  read(client: Client): Promise<ScannedTransaction | undefined>;
}

/** Reading one part for every this many bytes costs twice as much as reading and scanning the block. */
const BYTES_OF_PART = 16_000;

/** Smaller blocks are read as a whole after this many reads of their parts. */
const LEAST_PARTS = 8;

/** Most blocks whose parts are counted. */
const COUNTED_BLOCKS = 10_000;

export class RawBlocks {
  readonly #node: NodeSource;
  readonly #cached: CacheSection<RawBlock>;
  readonly #reading = new MadeOnce<RawBlock | undefined>();
  /**
   * How much of what makes a block worth reading as a whole its parts have cost since that was last done: from 1 on it is. Known of as many
   * blocks as fit into the cache: parts of more of them are asked for in turn, and each would be dropped before it was of use.
   */
  readonly #spent: LRUCache<string, number>;

  constructor(node: NodeSource, cache: AnswerCache) {
    this.#node = node;
    this.#cached = cache.section('block');
    this.#spent = new LRUCache({ max: COUNTED_BLOCKS, maxSize: cache.maxBytes });
  }

  /** Blocks whose parts are counted. */
  get counted(): number {
    return this.#spent.size;
  }

  /** A block; one that is not of the active chain is not kept. Undefined when the node does not have it, or no longer. */
  async block(point: BlockPoint, client: Client, isActive = true): Promise<Buffer | undefined> {
    return isActive ? (await this.#block(point, client))?.raw : this.#node.rawBlock(point.hash);
  }

  /** Whether a block of the active chain is better read as a whole than in part. */
  isAtHand(point: BlockPoint): boolean {
    return this.#node.readsWholeBlocks || this.#spentOn(point) >= 1 || this.#fromMemory(point) !== undefined;
  }

  /** Some bytes of a block of the active chain. Undefined when the node no longer has them. */
  part(point: BlockPoint, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    const spent = this.#spentOn(point) + 1 / Math.max(LEAST_PARTS, blockLength / BYTES_OF_PART);
    this.#spent.set(keyOf(point.hash), spent, { size: blockLength });
    return this.#node.rawBlockPart(point.hash, offset, length, blockLength);
  }

  /** Finds a transaction of the active chain without reading its bytes. @throws NotYetKnownError */
  find(txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined {
    const position = snapshot.position(txid);
    if (position === undefined) return undefined;
    return this.#inBlock(position, txid, snapshot);
  }

  /** As `find`, for a transaction whose position is known. */
  at(position: Position, txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined {
    const { height, index } = position;
    const run = snapshot.headerRun(height, 1);
    return run && this.#inBlock({ block: { hash: run.lastHash, height }, index }, txid, snapshot);
  }

  #inBlock({ block, index }: TransactionPosition, txid: Buffer, snapshot: IndexSnapshot): FoundTransaction {
    const inPart = this.isAtHand(block) ? undefined : snapshot.locationAt({ height: block.height, index });
    return {
      block,
      read: async (client) => {
        const raw =
          inPart === undefined
            ? (await this.#block(block, client))?.transaction(index)
            : await this.part(block, inPart.offset, inPart.length, inPart.blockLength);
        // The index has only short hashes of txids: on a collision these are the bytes of another transaction.
        const transaction = raw && scanTransaction(raw);
        return transaction?.txid.equals(txid) === true ? transaction : undefined;
      }
    };
  }

  /** Whether the node has pruned a block of the active chain. */
  isPruned({ height }: BlockPoint): boolean {
    return this.#node.pruned && height < this.#node.pruneHeight();
  }

  /**
   * For a block of the index's chain that the node does not have: a reset deletes blocks before it announces that.
   * @throws HttpError 503 unless the node's chain has the block at the same height.
   */
  async requireActive({ hash, height }: BlockPoint): Promise<void> {
    const node = this.#node;
    const active = await node.activeHash(height);
    // `resetting` is read after the wait: the node's cached hashes by height are not dropped before a reset is over.
    if (node.resetting || node.tip().height < height || active?.equals(hash) !== true) throw chainMoving();
  }

  async #block(point: BlockPoint, client: Client): Promise<RawBlock | undefined> {
    const { hash } = point;
    const key = keyOf(hash);
    return (
      this.#fromMemory(point) ??
      this.#reading.get(key, client, async () => {
        const raw = await this.#node.rawBlock(hash);
        if (raw === undefined) return undefined;
        const block = new RawBlock(raw);
        if (this.#spentOn(point) >= 1) this.#cached.set(key, block);
        else this.#cached.setIfAskedBefore(key, () => block);
        this.#spent.delete(key);
        return block;
      })
    );
  }

  #spentOn({ hash }: BlockPoint): number {
    return this.#spent.get(keyOf(hash)) ?? 0;
  }

  #fromMemory(point: BlockPoint): RawBlock | undefined {
    return this.isPruned(point) ? undefined : this.#cached.get(keyOf(point.hash));
  }
}
