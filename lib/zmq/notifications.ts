// Publishes blocks and transactions over ZeroMQ, as Bitcoin Core does. Events come from the index and the pool once these have changed, so
// that a client that asks after a message gets an answer that is not older. A step of the chain is published once the pool has followed it,
// when the lock of chain and pool is free.

import { setImmediate } from 'node:timers/promises';
import { Subscription } from 'rxjs';
import { toDisplayOrder } from '../bitcoin/hash';
import { HEADER_LENGTH } from '../bitcoin/header';
import { ByteReader } from '../bitcoin/reader';
import { readTransaction } from '../bitcoin/transaction';
import { messageOf } from '../system/error-text';
import { Slice } from '../turns/slices';
import { Sockets } from './sockets';
import { Step, type BlockMove, type PoolMove, type Tip, type Published } from './steps';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex, IndexedBlock } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { FollowedMove, PoolEvent } from '../node/types/pool';
import type { NodeSource } from '../node/types/source';
import type { ZmqNotifier } from './topics';

/** Blocks that wait with their transactions; of further ones only `sequence` has the hashes. */
const MOST_WAITING_BLOCKS = 100;

const CONNECTED = Buffer.from('C');
const DISCONNECTED = Buffer.from('D');
const ENTERED = Buffer.from('A');
const LEFT = Buffer.from('R');

export interface NotificationsParts {
  readonly node: Pick<NodeSource, 'pool' | 'tip' | 'synced$' | 'rawBlock' | 'withChainLock'>;
  readonly index: Pick<ChainIndex, 'blocks$'>;
  readonly notifiers: readonly ZmqNotifier[];
  readonly logger: Pick<IndexLogger, 'warning'>;
}

export class Notifications {
  readonly #parts: NotificationsParts;
  readonly #sockets = new Sockets();
  /** What has happened and was not published yet. */
  readonly #waiting: (Step | PoolMove)[] = [];
  /** The last one that waits, if it may still go on. */
  #open: Step | undefined;
  #waitingBlocks = 0;
  /** The tip after what was heard of last. */
  #height = -1;
  /** The height from which tips are published: that of the block with which the first download ended; undefined until then. */
  #tipsFrom: number | undefined;
  #subscription: Subscription | undefined;
  #publishing: Promise<void> | undefined;

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

  /** What waits is not published any more. */
  async close(): Promise<void> {
    this.#subscription?.unsubscribe();
    await this.#publishing;
    this.#sockets.close();
  }

  readonly #onSynced = (synced: boolean): void => {
    if (synced) this.#tipsFrom ??= this.#parts.node.tip().height;
  };

  #onBlock({ type, block }: IndexedBlock): void {
    // An index that is built again emits blocks that were published before.
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
      case 'remove': {
        const isConflict = following?.type === 'connect' && event.replacement !== undefined;
        const by = event.isConfirmed ? 'block' : isConflict ? 'conflict' : undefined;
        this.#onChange({ type: 'leave', txid: event.txid, number: sequence - 1, ...(by && { by }) }, following);
        break;
      }
      case 'clear': {
        const txids = event.txids ?? [];
        for (const [i, txid] of txids.entries()) this.#onChange({ type: 'leave', txid, number: sequence - txids.length + i }, following);
      }
    }
  }

  #onChange(change: PoolMove, following: FollowedMove | undefined): void {
    if (following === undefined) {
      this.#open = undefined;
      this.#waiting.push(change);
      this.#publish();
      return;
    }
    if (following.type === 'disconnect' && this.#open?.isComplete) this.#open = undefined;
    this.#growing().change(change, following);
  }

  /** The step that goes on; it ends when the chain is at rest. */
  #growing(): Step {
    if (this.#open === undefined) {
      this.#waiting.push((this.#open = new Step()));
      this.#parts.node
        .withChainLock(() => {
          this.#open = undefined;
          this.#publish();
        })
        .catch(() => undefined); // the chain was closed
    }
    return this.#open;
  }

  #publish(): void {
    this.#publishing ??= this.#publishAll().finally(() => {
      this.#publishing = undefined;
    });
  }

  /** Publishes everything but a step that may go on. */
  async #publishAll(): Promise<void> {
    for (;;) {
      const end = this.#open === undefined ? this.#waiting.length : this.#waiting.indexOf(this.#open);
      if (end <= 0) return;
      for (const item of this.#waiting.splice(0, end)) {
        if (this.#subscription?.closed) return;
        for (const published of item instanceof Step ? item.inOrder() : [item]) await this.#publishOne(published);
      }
    }
  }

  async #publishOne(published: Published): Promise<void> {
    try {
      switch (published.type) {
        case 'enter':
          await this.#publishTransaction(published.transaction);
          await this.#publishSequence(published.transaction.txid, ENTERED, published.number);
          break;
        case 'leave':
          await this.#publishSequence(published.txid, LEFT, published.number);
          break;
        case 'tip':
          await this.#publishTip(published);
          break;
        default:
          await this.#publishMove(published);
      }
    } catch (error) {
      this.#parts.logger.warning(`Not all subscribers of ZeroMQ were notified: ${messageOf(error)}.`);
    }
  }

  async #publishMove({ type, block, isBrief }: BlockMove): Promise<void> {
    try {
      if (!isBrief) await this.#publishTransactionsOf(block);
    } finally {
      if (!isBrief) this.#waitingBlocks--;
      await this.#publishSequence(block.hash, type === 'connect' ? CONNECTED : DISCONNECTED);
    }
  }

  async #publishTransactionsOf({ hash }: BlockPoint): Promise<void> {
    if (!this.#sockets.has('hashtx') && !this.#sockets.has('rawtx')) return;
    const raw = await this.#parts.node.rawBlock(hash);
    // A reset of the chain throws its blocks away.
    if (raw === undefined) return;
    const slice = new Slice();
    const reader = new ByteReader(raw, HEADER_LENGTH);
    for (let left = reader.compactSize(); left > 0; left--) {
      const { txid, offset, length } = readTransaction(reader);
      await this.#publishTransaction({ txid, raw: raw.subarray(offset, offset + length) });
      if (slice.isOverAfterStep()) await setImmediate();
    }
  }

  async #publishTransaction({ txid, raw }: { readonly txid: Buffer; readonly raw: Buffer }): Promise<void> {
    await this.#sockets.send('hashtx', toDisplayOrder(txid));
    await this.#sockets.send('rawtx', raw);
  }

  /** As in Bitcoin Core, not during the first download, whose last blocks may be published after it has ended. */
  async #publishTip({ block: { hash, height }, isBrief }: Tip): Promise<void> {
    if (this.#tipsFrom === undefined || height < this.#tipsFrom || (isBrief && height < this.#height)) return;
    // From then on the tip of a chain that becomes shorter is published, too.
    this.#tipsFrom = 0;
    await this.#sockets.send('hashblock', toDisplayOrder(hash));
    if (!this.#sockets.has('rawblock')) return;
    const raw = await this.#parts.node.rawBlock(hash);
    if (raw !== undefined) await this.#sockets.send('rawblock', raw);
  }

  /** `number`: of the change of the pool. */
  async #publishSequence(hash: Buffer, label: Buffer, number?: number): Promise<void> {
    const parts = [toDisplayOrder(hash), label];
    if (number !== undefined) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(number));
      parts.push(bytes);
    }
    await this.#sockets.send('sequence', Buffer.concat(parts));
  }
}
