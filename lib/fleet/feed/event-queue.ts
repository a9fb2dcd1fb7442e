// What the node's chain and pool do, in order, until it is written into the log. The node never waits: it is told at once to go on, and what
// does not fit is forgotten, after which chain and pool are compared with the log.

import { listen } from '../../node/events';
import type { Subscription } from 'rxjs';
import type { BlockPoint, ChainEvent } from '../../node/types/chain';
import type { PoolAddition, PoolEvent, PoolRemoval } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';

export type FeedEvent =
  | { readonly type: 'connect'; readonly block: BlockPoint; readonly raw: Buffer; readonly undo: Promise<Buffer | undefined> }
  | { readonly type: 'disconnect'; readonly block: BlockPoint }
  /** The chain has moved some other way. */
  | { readonly type: 'moved' }
  | PoolAddition
  | PoolRemoval
  | { readonly type: 'clear' }
  | Mark;

/** Everything before it has happened. */
export interface Mark {
  readonly type: 'mark';
  /** Whether a beat is to follow. */
  readonly hasBeat: boolean;
  /** Called once all is in the log, with the sequence of its last record; undefined: it will not be, since the term has ended. */
  readonly reached: (sequence: number | undefined) => void;
}

/** Bytes of the blocks and transactions that wait. */
const MOST_QUEUED_BYTES = 64 * 1_024 * 1_024;
/** Blocks that wait: beyond this, the node is downloading its chain. */
const MOST_QUEUED_BLOCKS = 144;
/** What an event costs besides blocks and transactions. */
const EVENT_BYTES = 300;

export class EventQueue {
  readonly #node: NodeSource;
  readonly #wake: () => void;
  readonly #subscriptions: readonly Subscription[];
  #events: FeedEvent[] = [];
  #bytes = 0;
  #blocks = 0;
  #hasOverflowed = false;
  #poolEvents = 0;

  /** `wake`: called when there is something. */
  constructor(node: NodeSource, wake: () => void) {
    this.#node = node;
    this.#wake = wake;
    // A block that the node cannot read, for instance.
    const forget = (): void => {
      this.#overflow();
    };
    this.#subscriptions = [
      listen(
        node.chain$,
        (event) => {
          event.acknowledge();
          this.#onChain(event);
        },
        forget
      ),
      listen(node.pool.events$, (event) => this.#onPool(event), forget)
    ];
  }

  /** Whether events were forgotten since the last `restart`. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  /** How many changes of the pool have had no event: each event changes the pool's revision by one. */
  readonly silentChanges = (): number => this.#node.pool.revision - this.#poolEvents;

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** Forgets all events. To be called when chain and pool are at rest and about to be compared. Marks are kept. */
  restart(): void {
    const marks = this.#events.filter(({ type }) => type === 'mark');
    [this.#events, this.#blocks, this.#hasOverflowed] = [marks, 0, false];
    this.#bytes = marks.reduce((sum, mark) => sum + bytesOf(mark), 0);
  }

  /** Takes the next events out: `most` of them, or fewer where blocks are among them. */
  take(most: number): readonly FeedEvent[] {
    const block = this.#events.findIndex(({ type }) => type === 'connect');
    const taken = this.#events.splice(0, block < 0 ? most : Math.min(most, block + 1));
    for (const event of taken) {
      this.#bytes -= bytesOf(event);
      if (event.type === 'connect') this.#blocks--;
    }
    return taken;
  }

  /** Puts a mark behind all events so far. It stays when events are forgotten. */
  mark(mark: Omit<Mark, 'type'>): void {
    this.#add({ type: 'mark', ...mark });
  }

  /** Follows chain and pool no longer, and forgets all events. */
  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.restart();
  }

  #onChain(event: ChainEvent): void {
    switch (event.type) {
      case 'connect':
        // The undo record may be gone as soon as the block is disconnected, so it is read at once.
        if (!this.#hasOverflowed)
          this.#add({ type: 'connect', block: event.block, raw: event.rawBlock(), undo: this.#undoOf(event.block) });
        break;
      case 'disconnect':
        this.#add({ type: 'disconnect', block: event.block });
        break;
      case 'reset':
      case 'settled':
        this.#add({ type: 'moved' });
        break;
      case 'reorganize':
        break;
    }
  }

  #undoOf({ hash }: BlockPoint): Promise<Buffer | undefined> {
    // Without it readers ask nodes.
    return this.#node.undoRecord(hash).catch(() => undefined);
  }

  #onPool(event: PoolEvent): void {
    this.#poolEvents++;
    this.#add(event);
  }

  #add(event: FeedEvent): void {
    if (this.#hasOverflowed && event.type !== 'mark') return;
    this.#events.push(event);
    this.#bytes += bytesOf(event);
    if (event.type === 'connect') this.#blocks++;
    if (this.#bytes > MOST_QUEUED_BYTES || this.#blocks > MOST_QUEUED_BLOCKS) this.#overflow();
    else this.#wake();
  }

  #overflow(): void {
    this.restart();
    this.#hasOverflowed = true;
    this.#wake();
  }
}

function bytesOf(event: FeedEvent): number {
  if (event.type !== 'connect' && event.type !== 'add') return EVENT_BYTES;
  return EVENT_BYTES + event.raw.length;
}
