// News of tracked transactions: they enter the pool, are confirmed or replaced, or their outputs are spent.

import { tell, type Listener } from '../../answers/status/listener';
import { placeIfKnown } from '../../answers/transactions/transactions';
import { keyOf } from '../../bitcoin/hash';
import { scanWholeTransaction, type ScannedTransaction } from '../../bitcoin/transaction';
import { HistoryTooLongError } from '../../scripts/errors';
import { NO_CLIENT } from '../../turns/client';
import { hashText, objectOf } from './messages';
import type { Spend } from '../../answers/transactions/spends';
import type { IndexSnapshot } from '../../index/types';
import type { PoolEvent } from '../../node/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext } from '../endpoint';

/** Transactions in one pass: their standing is found in one turn of the event loop. */
const MOST_IN_PASS = 64;

export interface TransactionListener extends Listener {
  transactionNews(message: Buffer): void;
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
  /** Transactions of the pool that spend its outputs, not told yet. */
  readonly spenders: Spender[] = [];

  constructor(readonly txid: Buffer) {}
}

export type TransactionNewsContext = Pick<EsploraContext, 'pool' | 'transactions' | 'spends'>;

export class TransactionNews {
  readonly #context: TransactionNewsContext;
  readonly #wake: () => void;
  readonly #tracked = new Map<string, TrackedTransaction>();
  readonly #dirty = new Set<TrackedTransaction>();

  /** `wake`: asks for a pass. */
  constructor(context: TransactionNewsContext, wake: () => void) {
    this.#context = context;
    this.#wake = wake;
  }

  get size(): number {
    return this.#tracked.size;
  }

  /** From now on the listener is told. Gives the message about the present standing; undefined: neither chain nor pool has it. */
  async track(txid: Buffer, listener: TransactionListener, snapshot: ScriptSnapshot): Promise<Buffer | undefined> {
    const tracked = this.#tracked.get(keyOf(txid)) ?? new TrackedTransaction(txid);
    const { pooled } = tracked;
    const standing = this.#standingOf(tracked, snapshot.index);
    // Listeners that were there before are told by the next pass.
    if (tracked.listeners.size === 0) tracked.standing = standing;
    else if (tracked.standing !== standing || tracked.pooled !== pooled) this.#touch(tracked);
    this.#tracked.set(keyOf(txid), tracked);
    tracked.listeners.add(listener);
    return standing === 'unknown' ? undefined : this.#message(tracked, standing);
  }

  untrack(txid: Buffer, listener: TransactionListener): void {
    const tracked = this.#tracked.get(keyOf(txid));
    if (tracked?.listeners.delete(listener) !== true || tracked.listeners.size > 0) return;
    this.#tracked.delete(keyOf(txid));
    this.#dirty.delete(tracked);
  }

  /** Takes in a change of the pool. */
  follow(event: PoolEvent): void {
    if (this.#tracked.size === 0) return;
    if (event.type === 'clear') this.touchAll();
    else {
      const tracked = this.#tracked.get(keyOf(event.txid));
      if (tracked !== undefined) this.#touch(tracked);
      if (event.type === 'add') this.#findSpent(event.txid, scanWholeTransaction(event.raw));
    }
  }

  /** To be called when a block was connected or disconnected. */
  touchAll(): void {
    for (const tracked of this.#tracked.values()) this.#touch(tracked);
  }

  /** To be called in the turn in which the snapshot was taken. The function that it returns tells the news. */
  collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const collected: { readonly tracked: TrackedTransaction; readonly standing: Standing }[] = [];
    for (const tracked of this.#dirty) {
      if (collected.length === MOST_IN_PASS) {
        this.#wake();
        break;
      }
      this.#dirty.delete(tracked);
      collected.push({ tracked, standing: this.#standingOf(tracked, snapshot.index) });
    }
    return async () => {
      try {
        for (let next = collected[0]; next !== undefined; next = collected[0]) {
          await this.#tell(next.tracked, next.standing, snapshot);
          collected.shift();
        }
      } finally {
        // After an error: what was not told stays dirty.
        for (const { tracked } of collected) if (tracked.listeners.size > 0) this.#dirty.add(tracked);
      }
    };
  }

  #touch(tracked: TrackedTransaction): void {
    this.#dirty.add(tracked);
    this.#wake();
  }

  #findSpent(txid: Buffer, { inputs }: ScannedTransaction): void {
    for (const [input, { txid: spent, index }] of inputs.entries()) {
      const tracked = this.#tracked.get(keyOf(spent));
      if (tracked === undefined) continue;
      tracked.spenders.push({ output: index, txid, input });
      this.#touch(tracked);
    }
  }

  #standingOf(tracked: TrackedTransaction, index: IndexSnapshot): Standing {
    const { txid } = tracked;
    const pooled = this.#context.pool.get(txid);
    tracked.pooled = pooled ?? tracked.pooled;
    if (placeIfKnown(txid, index) !== undefined) return 'confirmed';
    return pooled === undefined ? 'unknown' : 'pooled';
  }

  async #tell(tracked: TrackedTransaction, standing: Standing, snapshot: ScriptSnapshot): Promise<void> {
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
        tell(listener, (one) => {
          one.transactionNews(message);
        });
  }

  async #message({ txid, pooled }: TrackedTransaction, standing: Exclude<Standing, 'unknown'>): Promise<Buffer | undefined> {
    if (standing === 'confirmed') return objectOf([['txConfirmed', hashText(txid)]]);
    return pooled && objectOf([['tx', await this.#context.transactions.unconfirmed(pooled, NO_CLIENT)]]);
  }

  /** For a transaction that has left: names the transaction that now spends one of its inputs. */
  async #replacement({ pooled }: TrackedTransaction, snapshot: ScriptSnapshot): Promise<Buffer | undefined> {
    for (const { txid, index } of pooled?.transaction.inputs ?? []) {
      const spend = await this.#spendOf(txid, index, snapshot);
      if (spend !== undefined) return objectOf([['rbfTransaction', objectOf([['txid', hashText(spend.txid)]])]]);
    }
    return undefined;
  }

  /** Undefined also if it is too far away from the output to be found. */
  async #spendOf(txid: Buffer, index: number, snapshot: ScriptSnapshot): Promise<Spend> {
    try {
      return await this.#context.spends.of(txid, index, snapshot, NO_CLIENT);
    } catch (error) {
      if (error instanceof HistoryTooLongError) return undefined;
      throw error;
    }
  }
}

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
