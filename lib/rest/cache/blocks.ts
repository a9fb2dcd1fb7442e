// Serialized blocks and transactions of the node, the recent and the much asked for from
// memory. Both are found by hash, so that what is kept stays right whatever the chain does.

import { transactionOffsets } from '../../bitcoin/block';
import { scanTransaction } from '../../bitcoin/transaction';
import { AGAIN, memoryOf, type AnswerCache, type Kept, type Shelf } from './answers';
import { chainMoving } from '../errors';
import { MadeOnce } from './made-once';
import type { IndexSnapshot, TransactionLocation, TransactionPosition } from '../../index/types';
import type { BlockPoint, NodeSource } from '../../node/types';
import type { Waiting } from '../server/work-queue';

interface KeptBlock extends Kept {
  readonly raw: Buffer;
  /** Where each transaction begins; last, the end. Found when first asked for. */
  offsets?: Uint32Array;
}

interface KeptTransaction extends Kept {
  readonly raw: Buffer;
  readonly blockHash: Buffer;
}

/** A transaction's bytes, or where to read them. */
export type FoundTransaction =
  | { readonly block: BlockPoint; readonly raw: Buffer }
  | { readonly block: BlockPoint; readonly place: TransactionPosition }
  | { readonly block: BlockPoint; readonly location: TransactionLocation };

export const keyOf = (hash: Buffer): string => hash.toString('latin1');

export class RawBlocks {
  private readonly blocks: Shelf<KeptBlock>;
  private readonly transactions: Shelf<KeptTransaction>;
  private readonly reading = new MadeOnce<Buffer | undefined>();

  constructor(private readonly node: NodeSource, cache: AnswerCache) {
    this.blocks = cache.shelf('block');
    this.transactions = cache.shelf('transaction');
  }

  /** Undefined when the node does not have it any more. */
  block(point: BlockPoint, client: Waiting): Buffer | Promise<Buffer | undefined> {
    return this.kept(point)?.raw ?? this.read(point, client);
  }

  /** Looks for a transaction of the active chain: as little as is needed to get at its bytes. @throws NotYetKnownError */
  find(txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined {
    const place = snapshot.position(txid);
    if (place === undefined) return undefined;
    const { block } = place;
    const kept = this.kept(block);
    if (kept !== undefined) {
      const raw = ifOf(txid, transactionIn(kept, place));
      return raw && { block, raw };
    }
    if (this.node.readsWholeBlocks) return { block, place };
    const alone = this.isPruned(block) ? undefined : this.transactions.get(keyOf(txid));
    if (alone?.blockHash.equals(block.hash) === true) return { block, raw: alone.raw };
    const location = snapshot.location(txid);
    return location && { block, location };
  }

  /** The bytes of a transaction that was found. Undefined when the node has them no more, or when they are another transaction's. */
  async transaction(txid: Buffer, found: FoundTransaction, client: Waiting): Promise<Buffer | undefined> {
    if ('raw' in found) return found.raw;
    if ('place' in found) {
      const raw = await this.block(found.block, client);
      return raw && ifOf(txid, transactionIn(this.kept(found.block) ?? { raw, byteLength: 0 }, found.place));
    }
    const { block, offset, length, blockLength } = found.location;
    const part = await this.node.rawBlockPart(block.hash, offset, length, blockLength);
    const raw = part && ifOf(txid, part);
    if (raw !== undefined) this.transactions.set(keyOf(txid), { raw, blockHash: block.hash, byteLength: memoryOf(raw) });
    return raw;
  }

  /** The first that come, and later those that are worth more than what is kept. */
  private keep(key: string, raw: Buffer): void {
    const byteLength = memoryOf(raw);
    const isWorthIt = this.blocks.isWorthKeeping(key, byteLength, AGAIN);
    if (isWorthIt || this.blocks.hasRoomFor(byteLength)) this.blocks.set(key, { raw, byteLength });
  }

  /** What the node has thrown away is not kept either. */
  private kept(point: BlockPoint): KeptBlock | undefined {
    return this.isPruned(point) ? undefined : this.blocks.get(keyOf(point.hash));
  }

  /** Whether the node has thrown the block away, if it is of the active chain. */
  isPruned({ height }: BlockPoint): boolean {
    return this.node.pruned && height < this.node.pruneHeight();
  }

  /**
   * For a block of the index' chain that the node does not have: a reset deletes blocks before it says so.
   * @throws RestError 503 unless the node's chain has the block where the index has it.
   */
  async requireActive({ hash, height }: BlockPoint): Promise<void> {
    const { node } = this;
    const active = await node.activeHash(height);
    // Asked last: what the node remembers by height is forgotten once the reset is over.
    if (node.resetting || node.tip().height < height || active?.equals(hash) !== true) throw chainMoving();
  }

  private read({ hash }: BlockPoint, client: Waiting): Promise<Buffer | undefined> {
    const key = keyOf(hash);
    return this.reading.get(key, client, async () => {
      const raw = await this.node.rawBlock(hash);
      if (raw !== undefined) this.keep(key, raw);
      return raw;
    }) as Promise<Buffer | undefined>; // it was not kept
  }
}

/** The index knows hashes of txids, which might be those of another transaction: that is not the one that was asked for. */
function ifOf(txid: Buffer, raw: Buffer): Buffer | undefined {
  return scanTransaction(raw).txid.equals(txid) ? raw : undefined;
}

function transactionIn(block: KeptBlock, { index: position }: TransactionPosition): Buffer {
  const offsets = block.offsets ??= transactionOffsets(block.raw);
  const [start, end] = [offsets[position], offsets[position + 1]];
  if (start === undefined || end === undefined) throw new RangeError(`expected more than ${position} transactions in the block, got ${offsets.length - 1}`);
  return block.raw.subarray(start, end);
}
