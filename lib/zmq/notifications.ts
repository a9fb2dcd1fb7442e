// Tells subscribers of blocks and transactions, as Bitcoin Core does over ZeroMQ. It hears of blocks from the index, which has them then, and of
// transactions from the pool, which has changed then: whoever asks after a message gets an answer that is not older. Steps of the chain are
// told once the pool has followed them, which the lock of the chain says.

import { setImmediate } from 'node:timers/promises';
import { Subscription } from 'rxjs';
import { toDisplayOrder } from '../bitcoin/hash';
import { HEADER_LENGTH } from '../bitcoin/header';
import { ByteReader } from '../bitcoin/reader';
import { readTransaction } from '../bitcoin/transaction';
import { messageOf } from '../turns/error-text';
import { Slice } from '../turns/slices';
import { Sockets } from './sockets';
import { Step, type BlockMove, type PoolMove, type Tip, type Told } from './steps';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex, IndexedBlock } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { PoolEvent } from '../node/types/pool';
import type { NodeSource } from '../node/types/source';
import type { ZmqNotifier } from './topics';

/** Blocks that wait with their transactions; of further ones only `sequence` has the hashes. */
const MOST_WAITING_BLOCKS = 100;

const CONNECTED = Buffer.from('C');
const DISCONNECTED = Buffer.from('D');
const ENTERED = Buffer.from('A');
const LEFT = Buffer.from('R');

export interface NotificationsParts {
  readonly node: Pick<NodeSource, 'pool' | 'tip' | 'synced' | 'synced$' | 'rawBlock' | 'withChainLock'>;
  readonly index: Pick<ChainIndex, 'blocks$'>;
  readonly notifiers: readonly ZmqNotifier[];
  readonly logger: Pick<IndexLogger, 'warning'>;
}

export class Notifications {
  readonly #parts: NotificationsParts;
  readonly #sockets = new Sockets();
  /** What has happened and was not told yet. */
  #waiting: (Step | PoolMove)[] = [];
  /** The last one that waits, if it may still go on. */
  #open: Step | undefined;
  #waitingBlocks = 0;
  /** The tip after what was heard of last. */
  #height = -1;
  /** The height from which tips are told: that of the block with which the first download ended; undefined until then. */
  #tipsFrom: number | undefined;
  #subscription: Subscription | undefined;
  #telling: Promise<void> | undefined;

  constructor(parts: NotificationsParts) {
    this.#parts = parts;
  }

  /** @throws NotPublishedError */
  async open(): Promise<void> {
    const { node, index, notifiers } = this.#parts;
    try {
      await this.#sockets.open(notifiers);
    } catch (error) {
      this.#sockets.close();
      throw error;
    }
    this.#subscription = new Subscription();
    this.#subscription.add(index.blocks$.subscribe((block) => this.#onBlock(block)));
    this.#subscription.add(node.pool.events$.subscribe((event) => this.#onPool(event)));
    this.#subscription.add(node.synced$.subscribe(this.#onSynced));
  }

  /** What waits is not told any more. */
  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    this.#waiting = [];
    await this.#telling;
    this.#sockets.close();
  }

  readonly #onSynced = (synced: boolean): void => {
    if (synced) this.#tipsFrom ??= this.#parts.node.tip().height;
  };

  #onBlock({ type, block }: IndexedBlock): void {
    // An index that is built again tells of blocks that were told.
    if (type === 'connect' && block.height <= this.#height) return;
    this.#height = type === 'connect' ? block.height : block.height - 1;
    if (this.#open?.isComplete) this.#open = undefined;
    const isBrief = this.#waitingBlocks >= MOST_WAITING_BLOCKS;
    if (!isBrief) this.#waitingBlocks++;
    this.#growing().move({ type, block, isBrief });
  }

  #onPool(event: PoolEvent): void {
    const { following, sequence } = this.#parts.node.pool;
    switch (event.type) {
      case 'add':
        this.#onChange({ type: 'enter', transaction: event, number: sequence - 1 }, following);
        break;
      case 'remove':
        this.#onChange({ type: 'leave', txid: event.txid, number: sequence - 1, isConfirmed: event.isConfirmed === true }, following);
        break;
      case 'clear': {
        const txids = event.txids ?? [];
        // The chain was reset, which is to leave blocks.
        for (const [i, txid] of txids.entries())
          this.#onChange({ type: 'leave', txid, number: sequence - txids.length + i, isConfirmed: false }, 'disconnect');
      }
    }
  }

  #onChange(change: PoolMove, following: NodeSource['pool']['following']): void {
    if (following === undefined) {
      this.#open = undefined;
      this.#waiting.push(change);
      this.#tell();
      return;
    }
    const isBack = following === 'disconnect';
    if (isBack && this.#open?.isComplete) this.#open = undefined;
    this.#growing().change(change, isBack);
  }

  /** The step that goes on; it ends when the chain is at rest. */
  #growing(): Step {
    if (this.#open === undefined) {
      this.#waiting.push((this.#open = new Step()));
      this.#parts.node
        .withChainLock(() => {
          this.#open = undefined;
          this.#tell();
        })
        .catch(() => undefined); // the chain was closed
    }
    return this.#open;
  }

  #tell(): void {
    this.#telling ??= this.#tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Tells everything but a step that may go on. */
  async #tellAll(): Promise<void> {
    for (;;) {
      const end = this.#open === undefined ? this.#waiting.length : this.#waiting.indexOf(this.#open);
      if (end <= 0) return;
      for (const item of this.#waiting.splice(0, end)) {
        if (this.#subscription?.closed) return;
        for (const told of item instanceof Step ? item.inOrder() : [item]) await this.#tellOne(told);
      }
    }
  }

  async #tellOne(told: Told): Promise<void> {
    try {
      switch (told.type) {
        case 'enter':
          await this.#tellTransaction(told.transaction);
          await this.#tellSequence(told.transaction.txid, ENTERED, told.number);
          break;
        case 'leave':
          await this.#tellSequence(told.txid, LEFT, told.number);
          break;
        case 'tip':
          await this.#tellTip(told);
          break;
        default:
          await this.#tellMove(told);
      }
    } catch (error) {
      this.#parts.logger.warning(`Not all subscribers of ZeroMQ were told: ${messageOf(error)}.`);
    }
  }

  async #tellMove({ type, block, isBrief }: BlockMove): Promise<void> {
    try {
      if (!isBrief) await this.#tellTransactionsOf(block);
    } finally {
      if (!isBrief) this.#waitingBlocks--;
      await this.#tellSequence(block.hash, type === 'connect' ? CONNECTED : DISCONNECTED);
    }
  }

  async #tellTransactionsOf({ hash }: BlockPoint): Promise<void> {
    if (!this.#sockets.has('hashtx') && !this.#sockets.has('rawtx')) return;
    const raw = await this.#parts.node.rawBlock(hash);
    // A reset of the chain throws its blocks away.
    if (raw === undefined) return;
    const slice = new Slice();
    const reader = new ByteReader(raw, HEADER_LENGTH);
    for (let left = reader.compactSize(); left > 0; left--) {
      const { txid, offset, length } = readTransaction(reader);
      await this.#tellTransaction({ txid, raw: raw.subarray(offset, offset + length) });
      if (slice.isOverAfterStep()) await setImmediate();
    }
  }

  async #tellTransaction({ txid, raw }: { readonly txid: Buffer; readonly raw: Buffer }): Promise<void> {
    await this.#sockets.send('hashtx', toDisplayOrder(txid));
    await this.#sockets.send('rawtx', raw);
  }

  /** As Bitcoin Core, not during the first download, which asks nobody for single blocks. Its last blocks may be told after it has ended. */
  async #tellTip({ block: { hash, height }, isBrief }: Tip): Promise<void> {
    this.#onSynced(this.#parts.node.synced);
    if (this.#tipsFrom === undefined || height < this.#tipsFrom || (isBrief && height < this.#height)) return;
    // A chain that becomes shorter later is told, too.
    this.#tipsFrom = 0;
    await this.#sockets.send('hashblock', toDisplayOrder(hash));
    if (!this.#sockets.has('rawblock')) return;
    const raw = await this.#parts.node.rawBlock(hash);
    if (raw !== undefined) await this.#sockets.send('rawblock', raw);
  }

  /** `number`: of the change of the pool. */
  async #tellSequence(hash: Buffer, label: Buffer, number?: number): Promise<void> {
    const parts = [toDisplayOrder(hash), label];
    if (number !== undefined) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(number));
      parts.push(bytes);
    }
    await this.#sockets.send('sequence', Buffer.concat(parts));
  }
}
