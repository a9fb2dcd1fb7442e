// Searches blocks and pool for outputs that pay to the scripts of orders, and has the merchant look after its payments. It needs no
// index by script: each block is read once. At start it reads the blocks that came while the merchant was off, from the block up to
// which the chain was searched. Events are hints; the chain of the index is the truth.

import { setImmediate } from 'node:timers/promises';
import { merge, type Observable, type Subscription } from 'rxjs';
import { keyOf, toDisplayHex } from '../bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../bitcoin/header';
import { ByteReader, MalformedBytesError } from '../bitcoin/reader';
import { scanTransaction, scanWholeTransaction, type ScannedTransaction } from '../bitcoin/transaction';
import { Loop } from '../follow/loop';
import { IndexUnavailableError } from '../index/errors';
import { listen } from '../node/events';
import { unavailable } from '../server/errors';
import { detailsOf } from '../system/error-text';
import { Slice } from '../turns/slices';
import type { ChainIndex, IndexReader } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { PoolEvent, PoolRemoval } from '../node/types/pool';
import type { NodeSource } from '../node/types/source';
import type { PayingOutput } from '../payments/rules/payment';
import type { ServerLogger } from '../server/logger';
import type { Merchant } from './orders/merchant';
import type { PaymentStore } from './orders/store';

/** How often payments are reviewed when no block comes. */
const REVIEW_MS = 10 * 60_000;

/** After an error, of the disk for example. */
const FAILED_PAUSE_MS = 10_000;

/** How many blocks are searched again if the node does not know the block that was searched last. */
const STEP_BACK = 100;

export interface FollowerLogger extends ServerLogger {
  info(message: string): void;
  warning(message: string): void;
}

export interface ChainFollowerParts {
  readonly node: Pick<NodeSource, 'entry' | 'pool' | 'rawBlock' | 'resetting'>;
  readonly index: Pick<ChainIndex, 'blocks$'> & { readonly reader: IndexReader };
  /** Whether node and index are in sync: the chain is searched only then. */
  readonly ready$: Observable<boolean>;
  readonly merchant: Merchant;
  readonly store: Pick<PaymentStore, 'position' | 'savePosition'>;
  readonly logger: FollowerLogger;
  /** Is told of each step that has looked at everything, and of blocks that the chain has taken back. */
  readonly listener?: { settled(): void; reorganized(): void } | undefined;
  /** By default ten minutes. */
  readonly reviewMs?: number | undefined;
}

export class ChainFollower extends Loop {
  readonly #parts: ChainFollowerParts;
  /** The block up to which the chain was searched; undefined if it never was. */
  #position: BlockPoint | undefined;
  /** Whether the store has the position. */
  #isSaved = false;
  #isReady = false;
  #hasSeenPool = false;
  /** Whether it has caught up since the start. */
  #isCaughtUp = false;
  /** When the next step is due if nothing happens before. */
  #dueAt = -Infinity;
  #subscriptions: readonly Subscription[] = [];
  /** What transactions of the pool pay to orders, by txid as a latin1 string. */
  readonly #paying = new Map<string, readonly PayingOutput[]>();
  /** Scripts of new orders for which the pool is yet to be searched. */
  readonly #sought: Buffer[] = [];
  #seeking: Promise<void> = Promise.resolve();

  constructor(parts: ChainFollowerParts) {
    super();
    this.#parts = parts;
  }

  /** @throws DamagedRecordError */
  async open(): Promise<void> {
    const { node, index, ready$, store, logger } = this.#parts;
    this.#position = await store.position();
    this.#isSaved = this.#position !== undefined;
    this.#subscriptions = [
      ready$.subscribe((isReady) => {
        this.#isReady = isReady;
        if (isReady) this.#noteCaughtUp();
      }),
      merge(ready$, index.blocks$).subscribe(this.wake),
      listen(
        node.pool.events$,
        (event) => this.#followPool(event),
        (error) => {
          logger.error(`payments: ${detailsOf(error)}`);
        }
      )
    ];
    this.run();
  }

  /** Resolves when no work is under way. */
  override async close(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    await super.close();
    await this.#seeking;
  }

  /** Looks for transactions of the pool that came before the order whose scripts these are. One search may serve many orders. */
  lookFor(scripts: readonly Buffer[]): void {
    this.#sought.push(...scripts);
    this.#seeking = this.#seeking.then(() => this.#seek());
  }

  /** @throws HttpError 503 until the blocks that came while the merchant was off are searched. */
  requireCaughtUp(): void {
    if (!this.#isCaughtUp) throw unavailable(`looking for payments in blocks, height ${this.#position?.height ?? 0}`);
  }

  get #goesOn(): boolean {
    return this.#isReady && !this.signal.aborted;
  }

  protected dueIn(): number {
    if (!this.#isReady) return Infinity;
    return this.isWoken ? 0 : this.#dueAt - performance.now();
  }

  protected async step(): Promise<void> {
    this.#dueAt = performance.now() + (this.#parts.reviewMs ?? REVIEW_MS);
    await this.#lookIntoPool();
    await this.#catchUp();
    await this.#parts.merchant.review(() => this.#goesOn);
    this.#parts.listener?.settled();
  }

  protected failed(error: unknown): void {
    const { logger } = this.#parts;
    this.#dueAt = performance.now() + FAILED_PAUSE_MS;
    // The index itself logs why it cannot be read, and announces when it is ready again.
    if (error instanceof IndexUnavailableError) logger.debug(`payments: ${error.message}`);
    else logger.error(`payments: ${detailsOf(error)}`);
  }

  /** If the chain was searched up to its tip, there is nothing to catch up with. */
  #noteCaughtUp(): void {
    const {
      index: { reader },
      merchant
    } = this.#parts;
    const position = this.#position;
    try {
      if (position === undefined || merchant.isIdle || reader.read(({ tip }) => tip.hash.equals(position.hash))) this.#isCaughtUp = true;
    } catch (error) {
      if (!(error instanceof IndexUnavailableError)) throw error;
    }
  }

  async #catchUp(): Promise<void> {
    const {
      index: { reader },
      merchant
    } = this.#parts;
    const skipped: number[] = [];
    while (this.#goesOn) {
      const tip = reader.read((snapshot) => snapshot.tip);
      const from = this.#position === undefined || merchant.isIdle ? tip : await this.#lastOfChain(this.#position);
      const next = reader.read((snapshot) =>
        snapshot.heightOf(from.hash) === undefined ? undefined : { block: snapshot.headerAt(from.height + 1) }
      );
      if (next === undefined) continue;
      if (next.block === undefined) {
        await this.#standAt(from);
        this.#isCaughtUp = true;
        break;
      }
      if (!(await this.#lookThrough(next.block))) {
        // An event will come at the end of the reset.
        if (this.#parts.node.resetting) break;
        skipped.push(next.block.height);
      }
      await this.#standAt(next.block);
    }
    const [lowest] = skipped;
    if (lowest === undefined) return;
    this.#parts.logger.warning(
      `payments: the node lacks ${skipped.length} blocks, from height ${lowest} up: ` +
        'what they paid to orders is only known from Payments.'
    );
  }

  async #standAt({ height, hash }: BlockPoint): Promise<void> {
    if (this.#isSaved && this.#position?.hash.equals(hash) === true) return;
    this.#position = { height, hash };
    this.#isSaved = false;
    // Also while no order is watched: the first one will be searched for from here on.
    await this.#parts.store.savePosition({ height, hash });
    this.#isSaved = true;
  }

  /** `point`, or its last ancestor in the chain if a reorganization has disconnected it. */
  async #lastOfChain(point: BlockPoint): Promise<BlockPoint> {
    const {
      node,
      index: { reader }
    } = this.#parts;
    let { hash, height } = point;
    if (reader.read((snapshot) => snapshot.heightOf(hash)) === undefined) this.#parts.listener?.reorganized();
    while (reader.read((snapshot) => snapshot.heightOf(hash)) === undefined) {
      const entry = await node.entry(hash);
      if (entry === undefined || height === 0) {
        return reader.read((snapshot) => snapshot.headerAt(Math.max(0, Math.min(height, snapshot.tip.height) - STEP_BACK)) ?? snapshot.tip);
      }
      [hash, height] = [previousHashOf(entry.header), height - 1];
    }
    return { hash, height };
  }

  /** False if the node does not have the block. */
  async #lookThrough({ hash, height }: BlockPoint): Promise<boolean> {
    const { node, merchant, logger } = this.#parts;
    const raw = await node.rawBlock(hash);
    if (raw === undefined) return false;
    try {
      await merchant.receive({ hash, height }, await this.#outputsIn(raw));
    } catch (error) {
      if (!(error instanceof MalformedBytesError)) throw error;
      logger.error(`payments: block ${toDisplayHex(hash)} cannot be read: ${error.message}`);
    }
    return true;
  }

  async #outputsIn(block: Buffer): Promise<PayingOutput[]> {
    const outputs: PayingOutput[] = [];
    const reader = new ByteReader(block, HEADER_LENGTH);
    const count = reader.compactSize();
    let { offset } = reader;
    const slice = new Slice();
    for (let i = 0; i < count; i++) {
      const transaction = scanTransaction(block, offset);
      offset += transaction.length;
      outputs.push(...this.#askedOutputs(transaction));
      if (slice.isOver()) await setImmediate();
    }
    return outputs;
  }

  #askedOutputs(transaction: ScannedTransaction): PayingOutput[] {
    const { merchant } = this.#parts;
    const asked: PayingOutput[] = [];
    transaction.outputs.forEach(({ script, value }, index) => {
      // Copied, because a view of the script would keep the whole block in memory.
      if (merchant.isAsked(script)) asked.push({ txid: transaction.txid, index, amount: BigInt(value), script: Buffer.from(script) });
    });
    return asked;
  }

  /** The transactions that were in the pool before the first event. */
  async #lookIntoPool(): Promise<void> {
    if (this.#hasSeenPool || !this.#goesOn) return;
    const slice = new Slice();
    for (const { txid } of this.#parts.node.pool.entries()) {
      this.#lookAt(txid);
      if (slice.isOver()) await setImmediate();
    }
    this.#hasSeenPool = true;
  }

  /** Never rejects. */
  async #seek(): Promise<void> {
    const sought = this.#sought.splice(0);
    if (sought.length === 0) return;
    const { pool } = this.#parts.node;
    const slice = new Slice();
    for (const txid of pool.txids()) {
      // Looking for their bytes is much cheaper than reading every transaction.
      const raw = pool.transaction(txid);
      if (raw !== undefined && sought.some((script) => raw.includes(script))) this.#lookAt(txid);
      if (slice.isOver()) await setImmediate();
      if (this.signal.aborted) return;
    }
  }

  #followPool(event: PoolEvent): void {
    if (event.type === 'add') this.#lookAt(event.txid);
    else if (event.type === 'remove') this.#leave(event);
    else {
      this.#paying.clear();
      this.wake();
    }
  }

  /** What a block has taken along is received once it is looked through. */
  #leave({ txid, replacement, isConfirmed }: PoolRemoval): void {
    const key = keyOf(txid);
    const outputs = this.#paying.get(key);
    if (outputs === undefined) return;
    this.#paying.delete(key);
    // The operator is told, too.
    if (replacement !== undefined) this.wake();
    else if (isConfirmed !== true) for (const output of outputs) this.#parts.merchant.leftPool(output);
  }

  /** Looks at a transaction of the pool. */
  #lookAt(txid: Buffer): void {
    const { node, merchant, logger } = this.#parts;
    const raw = merchant.isIdle ? undefined : node.pool.transaction(txid);
    if (raw === undefined) return;
    try {
      const outputs = this.#askedOutputs(scanWholeTransaction(raw));
      if (outputs.length > 0) this.#paying.set(keyOf(txid), outputs);
      for (const output of outputs) merchant.seenInPool(output);
    } catch (error) {
      if (!(error instanceof MalformedBytesError)) throw error;
      logger.error(`payments: transaction ${toDisplayHex(txid)} of the pool cannot be read: ${error.message}`);
    }
  }
}
