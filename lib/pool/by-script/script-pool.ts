// The node's pool by script: what its transactions fund and spend, which transaction spends an output, and fees. It follows the events of
// the pool, which contain the coins that a transaction spends. Spenders, which are rarely needed, are looked up in the node.
//
// A transaction may be in pool and index at once for a moment, but is always in one of them. In answers from both it counts as confirmed.

import { setImmediate } from 'node:timers/promises';
import { Subject, type Observable } from 'rxjs';
import { keyOf } from '../../bitcoin/hash';
import { listen } from '../../node/events';
import { Slice } from '../../turns/slices';
import { summaryOf, type PoolSummary } from '../summary';
import { LastPoolChanges } from './last-changes';
import { NO_PARENTS, PooledTransaction } from './pooled-transaction';
import { Replacements } from './replacements';
import { PoolScripts, type PooledTotals } from './scripts';
import type { Subscription } from 'rxjs';
import type { ScannedInput } from '../../bitcoin/transaction';
import type { PoolEvent, PoolRemoval, PoolSource, PoolTransaction } from '../../node/types/pool';

const MOST_RECENT = 10;

/** Transactions that have left are not worth dropping before there are more of them. */
const FEW = 64;

/**
 * `scripts`: those whose part of the pool changes, each as its SHA-256 in a latin1 string: those of the transaction, and of all that spend
 * from it, since their parents are others now.
 */
export type ScriptPoolChange =
  | { readonly type: 'enter' | 'leave'; readonly transaction: PooledTransaction; readonly scripts: readonly string[] }
  /** All transactions have left, and some may have entered since. */
  | { readonly type: 'clear' };

/** A transaction that entered the pool lately. */
export interface RecentTransaction {
  readonly txid: Buffer;
  readonly fee: number;
  readonly weight: number;
  readonly vsize: number;
  /** The values of all inputs and of all outputs together, in satoshis. */
  readonly inputValue: number;
  readonly outputValue: number;
}

/** The key of a transaction in maps is its txid as a latin1 string. */
export class ScriptPool {
  readonly changes$: Observable<ScriptPoolChange>;
  readonly #changes = new Subject<ScriptPoolChange>();
  readonly #pool: PoolSource;
  readonly #failed: (error: unknown) => void;
  /** The pool's transactions, in the order in which they entered. */
  readonly #transactions = new Map<string, PooledTransaction>();
  /** In the order in which they entered; some may have left, no more than a few beyond as many as are there. */
  #entered: PooledTransaction[] = [];
  /** During `open`: transactions that are to enter, in this order. A txid stands for one that was there before: its coins must be read. */
  readonly #waiting = new Map<string, PoolTransaction | Buffer>();
  readonly #scripts = new PoolScripts();
  readonly #lastChanges = new LastPoolChanges();
  readonly #replacements = new Replacements();
  #recent: readonly RecentTransaction[] = [];
  #subscription: Subscription | undefined;
  #isLoading = false;

  /** `failed` gets the error for a transaction that cannot be read, which is left out. */
  constructor(pool: PoolSource, failed: (error: unknown) => void) {
    this.#pool = pool;
    this.#failed = failed;
    this.changes$ = this.#changes.asObservable();
  }

  /** Resolves once all transactions that the pool already had are taken in. @throws what the node throws when it cannot read coins */
  async open(): Promise<void> {
    this.#subscription = listen(this.#pool.events$, (event) => this.#follow(event), this.#failed);
    for (const txid of this.#pool.txids()) this.#waiting.set(keyOf(txid), txid);
    await this.#load();
  }

  /** Stops following the pool, drops everything, and ends `open` if it is under way. */
  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    this.#waiting.clear();
    this.#empty();
    this.#recent = [];
  }

  /** A number that is different after every change. */
  get revision(): number {
    return this.#lastChanges.now;
  }

  get size(): number {
    return this.#transactions.size;
  }

  /** Transactions of which it is known what has replaced them. */
  get replaced(): number {
    return this.#replacements.size;
  }

  has(txid: Buffer): boolean {
    return this.#transactions.has(keyOf(txid));
  }

  get(txid: Buffer): PooledTransaction | undefined {
    return this.#transactions.get(keyOf(txid));
  }

  /** Whether the part of a script is what it was at a revision; false also if that is not known. `script`: its SHA-256 as a latin1 string. */
  isSamePart(script: string, revision: number): boolean {
    return this.#lastChanges.isSame(script, revision);
  }

  /** The txid of what took the place of a transaction lately, or of one that it descended from. */
  replacementOf(txid: Buffer): Buffer | undefined {
    return this.#replacements.of(txid);
  }

  /** All transactions, in the order of entering. */
  transactions(): PooledTransaction[] {
    return [...this.#transactions.values()];
  }

  /** The last ones that entered, the newest first. */
  newest(count: number): PooledTransaction[] {
    const found: PooledTransaction[] = [];
    let at = this.#entered.length;
    while (at > 0 && found.length < count) {
      const transaction = this.#entered[--at] as PooledTransaction; // within
      if (this.get(transaction.txid) === transaction) found.push(transaction);
    }
    // Those that have left are not met again.
    this.#entered.splice(at, Infinity, ...found.toReversed());
    return found;
  }

  /** The script's transactions, in the order of entering. `script`: its SHA-256, here and below. */
  history(script: Buffer): readonly PooledTransaction[] {
    return this.#scripts.history(script);
  }

  totals(script: Buffer): PooledTotals {
    return this.#scripts.totals(script);
  }

  /** The transaction of the pool that spends an output, which may be confirmed, and by which input. */
  spender(txid: Buffer, index: number): { readonly transaction: PooledTransaction; readonly input: number } | undefined {
    const spender = this.#pool.spender(txid, index);
    const transaction = spender && this.get(spender.txid);
    return transaction && { transaction, input: spender.input };
  }

  /** The last ten transactions that entered, the newest first. They may have left the pool. */
  recent(): readonly RecentTransaction[] {
    return this.#recent;
  }

  /** The figures of the transactions that are in the pool when it starts. Yields often. */
  *summary(): Generator<void, PoolSummary> {
    return yield* summaryOf(this.transactions());
  }

  #follow(event: PoolEvent): void {
    if (event.type === 'add') this.#add(event);
    else if (event.type === 'remove') this.#remove(event);
    else this.#keepWhatIsLeft();
  }

  #remove({ txid, replacement }: PoolRemoval): void {
    const key = keyOf(txid);
    // Whoever hears that it leaves may ask for its replacement.
    if (replacement !== undefined) this.#replacements.add(key, replacement);
    this.#leave(key);
  }

  #add(transaction: PoolTransaction): void {
    const key = keyOf(transaction.txid);
    this.#waiting.delete(key);
    if (this.#isLoading) this.#waiting.set(key, transaction);
    else this.#enter(key, transaction);
  }

  #leave(key: string): void {
    this.#waiting.delete(key);
    const transaction = this.#transactions.get(key);
    if (transaction === undefined) return;
    this.#transactions.delete(key);
    const children = this.#childrenOf(transaction.txid, transaction.transaction.outputs.length);
    for (const child of children) child.parents = child.parents.filter((parent) => parent !== transaction);
    // It may be kept, but not all that it has ever descended from.
    transaction.parents = NO_PARENTS;
    this.#scripts.remove(transaction);
    const scripts = scriptsOfAll(transaction, children);
    this.#lastChanges.of(scripts);
    this.#changes.next({ type: 'leave', transaction, scripts });
  }

  /** The node's pool is emptied before the event is emitted: new transactions may have entered since. */
  #keepWhatIsLeft(): void {
    const left = new Set(this.#pool.txids().map(keyOf));
    for (const key of this.#waiting.keys()) if (!left.has(key)) this.#waiting.delete(key);
    const kept = [...this.#transactions].filter(([key]) => left.has(key));
    this.#empty();
    for (const [key, transaction] of kept) this.#put(key, transaction);
    this.#changes.next({ type: 'clear' });
  }

  /** Takes in the waiting transactions, and gives up the event loop every millisecond. */
  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      const slice = new Slice();
      // The loop also reaches entries that are added to the map meanwhile.
      for (const [key, waiting] of this.#waiting) {
        const transaction = Buffer.isBuffer(waiting) ? await this.#pool.withCoins(waiting) : waiting;
        if (this.#waiting.get(key) === waiting) {
          this.#waiting.delete(key);
          if (transaction !== undefined) this.#enterIfReadable(key, transaction);
        }
        if (slice.isOver()) await setImmediate();
      }
    } finally {
      this.#isLoading = false;
    }
  }

  #enterIfReadable(key: string, entering: PoolTransaction): void {
    try {
      this.#enter(key, entering);
    } catch (error) {
      this.#failed(error);
    }
  }

  #enter(key: string, entering: PoolTransaction): void {
    this.#leave(key);
    const transaction = new PooledTransaction(entering);
    this.#replacements.delete(key);
    this.#changes.next({ type: 'enter', transaction, scripts: this.#put(key, transaction) });
    const { txid, fee, weight, vsize } = transaction;
    const inputValue = transaction.spent.reduce((sum, coin) => sum + coin.value, 0);
    const before = this.#recent.filter((recent) => !recent.txid.equals(txid));
    this.#recent = [{ txid, fee, weight, vsize, inputValue, outputValue: inputValue - fee }, ...before].slice(0, MOST_RECENT);
  }

  /** Returns the scripts whose part of the pool changes. */
  #put(key: string, transaction: PooledTransaction): string[] {
    const { inputs, outputs } = transaction.transaction;
    transaction.parents = this.#parentsOf(inputs);
    this.#transactions.set(key, transaction);
    this.#entered.push(transaction);
    if (this.#entered.length > 2 * this.#transactions.size + FEW) this.#entered = this.transactions();
    // Only a transaction that comes back from a block has children already.
    const children = this.#childrenOf(transaction.txid, outputs.length);
    for (const child of children) child.parents = [...child.parents, transaction];
    this.#scripts.add(transaction);
    const scripts = scriptsOfAll(transaction, children);
    this.#lastChanges.of(scripts);
    return scripts;
  }

  #parentsOf(inputs: readonly ScannedInput[]): readonly PooledTransaction[] {
    const parents = new Set<PooledTransaction>();
    let last: Buffer | undefined;
    for (const { txid } of inputs) {
      // Outputs of one transaction are often spent together.
      if (last?.equals(txid) === true) continue;
      last = txid;
      const parent = this.get(txid);
      if (parent !== undefined) parents.add(parent);
    }
    return parents.size === 0 ? NO_PARENTS : [...parents];
  }

  #childrenOf(txid: Buffer, outputs: number): PooledTransaction[] {
    const children = new Set<PooledTransaction>();
    for (let index = 0; index < outputs; index++) {
      const child = this.spender(txid, index)?.transaction;
      if (child !== undefined) children.add(child);
    }
    return [...children];
  }

  #empty(): void {
    this.#transactions.clear();
    this.#entered = [];
    this.#scripts.clear();
    this.#lastChanges.ofAll();
  }
}

const scriptsOfAll = (transaction: PooledTransaction, children: readonly PooledTransaction[]): string[] =>
  [transaction, ...children].flatMap(({ scripts }) => scripts);
