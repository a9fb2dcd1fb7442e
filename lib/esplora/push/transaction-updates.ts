// Updates of tracked transactions: they enter the pool, are confirmed or replaced, or their outputs are spent.

import { placeIfKnown } from '../../answers/transactions/transactions';
import { notify, type Listener } from '../../answers/updates/listener';
import { Pending } from '../../answers/updates/pending';
import { keyOf } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { NO_CLIENT } from '../../turns/client';
import { hashText, objectOf } from '../messages';
import type { Outspend } from '../../answers/transactions/spends';
import type { Change } from '../../answers/updates/changes';
import type { Notifier, SettledPasses } from '../../answers/updates/settled-passes';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';
import type { Ancestry } from './ancestry';
import type { GradualNotifier } from './rounds';

/** Transactions in one pass: their standing is found in one turn of the event loop. */
const MOST_IN_PASS = 64;

/** What has happened to a transaction. */
export type TransactionUpdate =
  /** It is in the pool; its JSON. */
  | { readonly type: 'pooled'; readonly text: Buffer }
  /** `height`: of its block. */
  | { readonly type: 'confirmed'; readonly height: number }
  /** `txid`: of the transaction that took its place. */
  | { readonly type: 'replaced'; readonly txid: Buffer }
  /** Transactions of the pool spend from it: by output, JSON. */
  | { readonly type: 'spent'; readonly text: Buffer };

export interface TransactionListener extends Listener {
  transactionUpdated(txid: Buffer, update: TransactionUpdate): void;
}

/** `pooled`: in the pool and not in the chain; a number: in the chain, in the block at this height. */
type Standing = 'unknown' | 'pooled' | number;

interface Spender {
  readonly output: number;
  readonly txid: Buffer;
  readonly input: number;
}

class TrackedTransaction {
  readonly listeners = new Set<TransactionListener>();
  standing: Standing = 'unknown';
  /** As the pool last had it; undefined if it never did. */
  pooled: PooledTransaction | undefined;
  /** Transactions of the pool that spend its outputs, of which listeners were not notified yet. */
  readonly spenders: Spender[] = [];

  constructor(readonly txid: Buffer) {}
}

type TransactionContext = Pick<EsploraContext, 'pool' | 'transactions' | 'spends'>;

export class TransactionUpdates implements Notifier, GradualNotifier {
  readonly #context: TransactionContext;
  readonly #ancestry: Ancestry;
  readonly #tracked = new Map<string, TrackedTransaction>();
  /** Those that may stand differently by now, or are spent by others. */
  readonly #pending: Pending<TrackedTransaction>;
  /** The block up to which listeners know the chain. */
  #tip: BlockPoint | undefined;

  constructor(context: TransactionContext, ancestry: Ancestry, passes: SettledPasses) {
    this.#context = context;
    this.#ancestry = ancestry;
    this.#pending = new Pending(MOST_IN_PASS, passes);
    passes.add(this);
  }

  /** Transactions that are tracked. */
  get size(): number {
    return this.#tracked.size;
  }

  get passesLeft(): number {
    return this.#pending.passesLeft;
  }

  /** The txid of what has lately replaced a transaction in the pool. */
  replacementOf(txid: Buffer): Buffer | undefined {
    return this.#context.pool.replacementOf(txid);
  }

  /** From now on the listener is notified. Gives the present standing; undefined: neither chain nor pool has it. */
  async track(txid: Buffer, listener: TransactionListener, snapshot: ScriptSnapshot): Promise<TransactionUpdate | undefined> {
    const { index } = snapshot;
    const tracked = this.#tracked.get(keyOf(txid)) ?? new TrackedTransaction(txid);
    const standing = this.#standingOf(tracked, index);
    // Listeners that were there before are notified by the next pass, if it stands differently by now.
    if (tracked.listeners.size === 0) tracked.standing = standing;
    if (this.#tracked.size === 0) this.#reach(index);
    // Another chain may go back to the tip of the last pass, which would then look at nothing.
    else if (this.#tip?.hash.equals(index.tip.hash) !== true) this.#pending.add(tracked);
    this.#tracked.set(keyOf(txid), tracked);
    tracked.listeners.add(listener);
    return standing === 'unknown' ? undefined : this.#update(tracked, standing);
  }

  untrack(txid: Buffer, listener: TransactionListener): void {
    const tracked = this.#tracked.get(keyOf(txid));
    if (tracked?.listeners.delete(listener) !== true || tracked.listeners.size > 0) return;
    this.#tracked.delete(keyOf(txid));
    this.#pending.delete(tracked);
  }

  changed(change: Change): void {
    if (change.type === 'clear') for (const tracked of this.#tracked.values()) this.#pending.add(tracked);
    if (change.type !== 'enter' && change.type !== 'leave') return;
    const tracked = this.#tracked.get(keyOf(change.transaction.txid));
    if (tracked !== undefined) this.#pending.add(tracked);
    if (change.type === 'enter') this.#findSpent(change.transaction);
  }

  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const { index } = snapshot;
    const { tip } = index;
    const known = this.#tip ?? tip;
    const fork = known.hash.equals(tip.hash) ? tip.height : this.#ancestry.forkHeight(known, index);
    if (fork < known.height)
      for (const tracked of this.#tracked.values())
        if (typeof tracked.standing === 'number' && tracked.standing > fork) this.#pending.include(tracked);
    const notifyPending = this.#pending.collect(
      (tracked) => this.#standingOf(tracked, index),
      async (all) => {
        for (const [tracked, standing] of all) {
          await this.#notifyAll(tracked, standing, snapshot);
          this.#pending.handled(tracked);
        }
      }
    );
    return async () => {
      try {
        for (let height = fork + 1; height <= tip.height; height++) this.#confirm(await snapshot.txids(height), height);
        // If something has failed, the next pass has the same blocks.
        this.#reach(index);
      } finally {
        await notifyPending();
      }
    };
  }

  /** Listeners know the chain up to its tip. */
  #reach(index: IndexSnapshot): void {
    this.#tip = index.tip;
    this.#ancestry.remember(index);
  }

  /** `txids`: of the block at this height. */
  #confirm(txids: readonly Buffer[], height: number): void {
    for (const txid of txids) {
      const tracked = this.#tracked.get(keyOf(txid));
      if (tracked === undefined || tracked.standing === height) continue;
      tracked.standing = height;
      tell(tracked, { type: 'confirmed', height });
    }
  }

  #findSpent({ txid, transaction: { inputs } }: PooledTransaction): void {
    for (const [input, { txid: spent, index }] of inputs.entries()) {
      const tracked = this.#tracked.get(keyOf(spent));
      if (tracked === undefined) continue;
      tracked.spenders.push({ output: index, txid, input });
      this.#pending.add(tracked);
    }
  }

  #standingOf(tracked: TrackedTransaction, index: IndexSnapshot): Standing {
    const { txid } = tracked;
    const pooled = this.#context.pool.get(txid);
    tracked.pooled = pooled ?? tracked.pooled;
    const place = placeIfKnown(txid, index);
    if (place !== undefined) return place.height;
    return pooled === undefined ? 'unknown' : 'pooled';
  }

  async #notifyAll(tracked: TrackedTransaction, standing: Standing, snapshot: ScriptSnapshot): Promise<void> {
    const { spenders, standing: before } = tracked;
    const updates: TransactionUpdate[] = [];
    const spent = spenders.splice(0).filter(({ txid }) => this.#context.pool.has(txid));
    if (standing !== before) {
      const update = standing === 'unknown' ? await this.#replacement(tracked, snapshot) : await this.#update(tracked, standing);
      if (update !== undefined) updates.push(update);
    }
    tracked.standing = standing;
    if (spent.length > 0) updates.push({ type: 'spent', text: spentText(spent) });
    for (const update of updates) tell(tracked, update);
  }

  async #update({ pooled }: TrackedTransaction, standing: 'pooled' | number): Promise<TransactionUpdate | undefined> {
    if (standing !== 'pooled') return { type: 'confirmed', height: standing };
    return pooled && { type: 'pooled', text: await this.#context.transactions.unconfirmed(pooled, NO_CLIENT) };
  }

  /** For a transaction that has left: names the one that has replaced it in the pool, or that now spends one of its inputs. */
  async #replacement({ txid: tracked, pooled }: TrackedTransaction, snapshot: ScriptSnapshot): Promise<TransactionUpdate | undefined> {
    const replacement = this.#context.pool.replacementOf(tracked);
    if (replacement !== undefined) return { type: 'replaced', txid: replacement };
    for (const { txid, index } of pooled?.transaction.inputs ?? []) {
      const spend = await this.#spendOf(txid, index, snapshot);
      if (spend !== undefined) return { type: 'replaced', txid: spend.txid };
    }
    return undefined;
  }

  /** Undefined also if it is too far away from the output to be found. */
  async #spendOf(txid: Buffer, index: number, snapshot: ScriptSnapshot): Promise<Outspend> {
    try {
      return (await this.#context.spends.of(txid, index, snapshot, NO_CLIENT)).spend;
    } catch (error) {
      if (error instanceof HistoryTooLongError) return undefined;
      throw error;
    }
  }
}

function tell({ txid, listeners }: TrackedTransaction, update: TransactionUpdate): void {
  for (const listener of listeners)
    notify(listener, (one) => {
      one.transactionUpdated(txid, update);
    });
}

/** Has the last spender of each output. */
function spentText(spenders: readonly Spender[]): Buffer {
  const byOutput = new Map(spenders.map((spender) => [String(spender.output), spender]));
  return objectOf(
    [...byOutput].map(
      ([output, { txid, input }]) =>
        [
          output,
          objectOf([
            ['vin', String(input)],
            ['txid', hashText(txid)]
          ])
        ] as const
    )
  );
}
