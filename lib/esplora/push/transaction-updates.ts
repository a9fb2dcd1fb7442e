// Updates of tracked transactions: they enter the pool, are confirmed or replaced, or their outputs are spent.

import { placeIfKnown } from '../../answers/transactions/transactions';
import { notify, type Listener } from '../../answers/updates/listener';
import { Pending } from '../../answers/updates/pending';
import { keyOf } from '../../bitcoin/hash';
import { HistoryTooLongError } from '../../scripts/errors';
import { NO_CLIENT } from '../../turns/client';
import { hashText, objectOf } from './messages';
import type { Spend } from '../../answers/transactions/spends';
import type { Change } from '../../answers/updates/changes';
import type { Notifier, SettledPasses } from '../../answers/updates/settled-passes';
import type { IndexSnapshot } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';

/** Transactions in one pass: their standing is found in one turn of the event loop. */
const MOST_IN_PASS = 64;

export interface TransactionListener extends Listener {
  transactionUpdated(message: Buffer): void;
}

/** `pooled`: in the pool and not in the chain. */
type Standing = 'unknown' | 'pooled' | 'confirmed';

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

export class TransactionUpdates implements Notifier {
  readonly #context: TransactionContext;
  readonly #tracked = new Map<string, TrackedTransaction>();
  /** Those that may stand differently by now, or are spent by others. */
  readonly #pending: Pending<TrackedTransaction>;
  /** The hash of the tip at the last pass. */
  #tip: Buffer | undefined;

  constructor(context: TransactionContext, passes: SettledPasses) {
    this.#context = context;
    this.#pending = new Pending(MOST_IN_PASS, passes);
    passes.add(this);
  }

  /** Transactions that are tracked. */
  get size(): number {
    return this.#tracked.size;
  }

  /** The message about a transaction that was lately replaced in the pool; undefined: it was not. */
  replaced(txid: Buffer): Buffer | undefined {
    const replacement = this.#context.pool.replacementOf(txid);
    return replacement && objectOf([['txReplaced', objectOf([['txid', hashText(replacement)]])]]);
  }

  /** From now on the listener is notified. Gives the message about the present standing; undefined: neither chain nor pool has it. */
  async track(txid: Buffer, listener: TransactionListener, snapshot: ScriptSnapshot): Promise<Buffer | undefined> {
    const tracked = this.#tracked.get(keyOf(txid)) ?? new TrackedTransaction(txid);
    const { pooled } = tracked;
    const standing = this.#standingOf(tracked, snapshot.index);
    // Listeners that were there before are notified by the next pass.
    if (tracked.listeners.size === 0) tracked.standing = standing;
    else if (tracked.standing !== standing || tracked.pooled !== pooled) this.#pending.add(tracked);
    this.#tracked.set(keyOf(txid), tracked);
    tracked.listeners.add(listener);
    return standing === 'unknown' ? undefined : this.#message(tracked, standing);
  }

  untrack(txid: Buffer, listener: TransactionListener): void {
    const tracked = this.#tracked.get(keyOf(txid));
    if (tracked?.listeners.delete(listener) !== true || tracked.listeners.size > 0) return;
    this.#tracked.delete(keyOf(txid));
    this.#pending.delete(tracked);
  }

  changed(change: Change): void {
    if (change.type !== 'enter' && change.type !== 'leave') return;
    const tracked = this.#tracked.get(keyOf(change.transaction.txid));
    if (tracked !== undefined) this.#pending.add(tracked);
    if (change.type === 'enter') this.#findSpent(change.transaction);
  }

  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const { tip } = snapshot.index;
    // A block may have confirmed any of them.
    if (this.#tip?.equals(tip.hash) !== true) for (const tracked of this.#tracked.values()) this.#pending.include(tracked);
    this.#tip = tip.hash;
    return this.#pending.collect(
      (tracked) => this.#standingOf(tracked, snapshot.index),
      async (all) => {
        for (const [tracked, standing] of all) {
          await this.#notifyAll(tracked, standing, snapshot);
          this.#pending.handled(tracked);
        }
      }
    );
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
    if (placeIfKnown(txid, index) !== undefined) return 'confirmed';
    return pooled === undefined ? 'unknown' : 'pooled';
  }

  async #notifyAll(tracked: TrackedTransaction, standing: Standing, snapshot: ScriptSnapshot): Promise<void> {
    const { listeners, spenders, standing: before } = tracked;
    const messages: Buffer[] = [];
    const spent = spenders.splice(0).filter(({ txid }) => this.#context.pool.has(txid));
    if (standing !== before) {
      const message = standing === 'unknown' ? await this.#replacement(tracked, snapshot) : await this.#message(tracked, standing);
      if (message !== undefined) messages.push(message);
    }
    tracked.standing = standing;
    if (spent.length > 0) messages.push(spentMessage(spent));
    for (const message of messages)
      for (const listener of listeners)
        notify(listener, (one) => {
          one.transactionUpdated(message);
        });
  }

  async #message({ txid, pooled }: TrackedTransaction, standing: Exclude<Standing, 'unknown'>): Promise<Buffer | undefined> {
    if (standing === 'confirmed') return objectOf([['txConfirmed', hashText(txid)]]);
    return pooled && objectOf([['tx', await this.#context.transactions.unconfirmed(pooled, NO_CLIENT)]]);
  }

  /** For a transaction that has left: names the one that has replaced it in the pool, or that now spends one of its inputs. */
  async #replacement({ txid: tracked, pooled }: TrackedTransaction, snapshot: ScriptSnapshot): Promise<Buffer | undefined> {
    const replacement = this.#context.pool.replacementOf(tracked);
    if (replacement !== undefined) return replacedMessage(replacement);
    for (const { txid, index } of pooled?.transaction.inputs ?? []) {
      const spend = await this.#spendOf(txid, index, snapshot);
      if (spend !== undefined) return replacedMessage(spend.txid);
    }
    return undefined;
  }

  /** Undefined also if it is too far away from the output to be found. */
  async #spendOf(txid: Buffer, index: number, snapshot: ScriptSnapshot): Promise<Spend> {
    try {
      return (await this.#context.spends.of(txid, index, snapshot, NO_CLIENT)).spend;
    } catch (error) {
      if (error instanceof HistoryTooLongError) return undefined;
      throw error;
    }
  }
}

const replacedMessage = (replacement: Buffer): Buffer => objectOf([['rbfTransaction', objectOf([['txid', hashText(replacement)]])]]);

/** Has the last spender of each output. */
function spentMessage(spenders: readonly Spender[]): Buffer {
  const byOutput = new Map(spenders.map((spender) => [String(spender.output), spender]));
  const outputs = [...byOutput].map(
    ([output, { txid, input }]) =>
      [
        output,
        objectOf([
          ['vin', String(input)],
          ['txid', hashText(txid)]
        ])
      ] as const
  );
  return objectOf([['utxoSpent', objectOf(outputs)]]);
}
