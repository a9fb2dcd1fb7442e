// A script's part of the pool, at the moment of a snapshot of the index. The pool may still have transactions that the block at the tip has
// just confirmed, or have them again before the index undoes that block: in answers from both such transactions count as confirmed.

import { keyOf, keyOfOutpoint, scriptHashOf } from '../../bitcoin/hash';
import { runInSlices } from '../../turns/slices';
import type { HeaderRecord } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptSnapshot, ScriptTotals, Sum } from '../../scripts/types';
import type { Client } from '../../turns/client';
import type { EsploraCoin } from '../../views/esplora/coins';

/** The height that the Electrum protocol gives to a transaction of the pool. -1: it spends an unconfirmed output. */
type PooledHeight = 0 | -1;

export interface PooledEntry {
  readonly transaction: PooledTransaction;
  readonly height: PooledHeight;
}

/** The outputs of a script that some transactions of the pool create and spend. */
export interface PooledOutputs {
  readonly totals: ScriptTotals;
  /** Outputs that they create and do not spend, in the order in which the transactions entered the pool. */
  readonly coins: readonly EsploraCoin[];
  readonly spends: (txid: Buffer, index: number) => boolean;
}

export class PooledScripts {
  readonly #pool: ScriptPool;
  /** The txids of the block at the tip, by the tip object of the state. */
  readonly #confirmed = new WeakMap<HeaderRecord, Promise<ReadonlySet<string>>>();

  constructor(pool: ScriptPool) {
    this.#pool = pool;
  }

  /** To be called in the turn in which the snapshot was taken. `script`: its SHA-256. */
  at(script: Buffer, snapshot: ScriptSnapshot): PooledScript {
    const history = this.#pool.history(script);
    if (history.length === 0) return NO_PART;
    return new PooledScript(script, history, this.#pool.totals(script), () => this.#confirmedAt(snapshot));
  }

  #confirmedAt(snapshot: ScriptSnapshot): Promise<ReadonlySet<string>> {
    const { tip } = snapshot.index;
    const known = this.#confirmed.get(tip);
    if (known !== undefined) return known;
    const made = snapshot.during(snapshot.txids(tip.height)).then((txids) => new Set(txids.map(keyOf)));
    this.#confirmed.set(tip, made);
    made.catch(() => this.#confirmed.delete(tip));
    return made;
  }
}

export class PooledScript {
  readonly #script: Buffer;
  readonly #history: readonly PooledTransaction[];
  /** The parents in the pool, of transactions that have any. */
  readonly #parents: ReadonlyMap<PooledTransaction, readonly PooledTransaction[]>;
  readonly #totals: ScriptTotals;
  readonly #confirmed: () => Promise<ReadonlySet<string>>;

  /**
   * `history`, `totals`: of all transactions of the pool that have to do with the script. `confirmed`: keys of the txids of the block at the
   * tip, which the pool may still have.
   */
  constructor(script: Buffer, history: readonly PooledTransaction[], totals: ScriptTotals, confirmed: () => Promise<ReadonlySet<string>>) {
    this.#script = script;
    this.#history = history;
    const spending = history.filter(({ parents }) => parents.length > 0);
    this.#parents = new Map(spending.map((transaction) => [transaction, transaction.parents]));
    this.#totals = totals;
    this.#confirmed = confirmed;
  }

  /** Whether no transaction of the pool has to do with the script. */
  get isEmpty(): boolean {
    return this.#history.length === 0;
  }

  /** The unconfirmed transactions, in the order in which they entered the pool. */
  async transactions(): Promise<readonly PooledTransaction[]> {
    if (this.#history.length === 0) return this.#history;
    const confirmed = await this.#confirmed();
    return this.#history.filter(({ txid }) => !confirmed.has(keyOf(txid)));
  }

  /** The unconfirmed transactions with their heights, in the order in which they entered the pool. */
  async entries(client: Client): Promise<PooledEntry[]> {
    if (this.#history.length === 0) return [];
    return runInSlices(entriesOf(this.#history, this.#parents, await this.#confirmed()), client);
  }

  /** The totals of the unconfirmed transactions. */
  async totals(client: Client): Promise<ScriptTotals> {
    const left = await this.transactions();
    return left.length === this.#history.length ? this.#totals : (await this.#outputsOf(left, client)).totals;
  }

  /** The outputs of the unconfirmed transactions. All transactions that spend an output of the script are in its history. */
  async outputs(client: Client): Promise<PooledOutputs> {
    return this.isEmpty ? NO_OUTPUTS : this.#outputsOf(await this.transactions(), client);
  }

  #outputsOf(transactions: readonly PooledTransaction[], client: Client): Promise<PooledOutputs> {
    return runInSlices(outputsOf(transactions, this.#script), client);
  }
}

function* entriesOf(
  history: readonly PooledTransaction[],
  parents: ReadonlyMap<PooledTransaction, readonly PooledTransaction[]>,
  confirmed: ReadonlySet<string>
): Generator<void, PooledEntry[]> {
  const isConfirmed = ({ txid }: PooledTransaction): boolean => confirmed.has(keyOf(txid));
  const entries: PooledEntry[] = [];
  for (const transaction of history) {
    const waitsForNone = parents.get(transaction)?.every(isConfirmed) ?? true;
    if (!isConfirmed(transaction)) entries.push({ transaction, height: waitsForNone ? 0 : -1 });
    yield;
  }
  return entries;
}

const NONE: Sum = { count: 0, value: 0 };
const NO_OUTPUTS: PooledOutputs = {
  totals: { transactions: 0, funded: NONE, spent: NONE },
  coins: [],
  spends: () => false
};

/** Of nearly all scripts. */
const NO_PART = new PooledScript(Buffer.alloc(0), [], NO_OUTPUTS.totals, () => Promise.resolve(new Set()));

const plus = ({ count, value }: Sum, more: number): Sum => ({ count: count + 1, value: value + more });

function* outputsOf(transactions: readonly PooledTransaction[], scriptHash: Buffer): Generator<void, PooledOutputs> {
  let ours: Buffer | undefined;
  const isOurs = (script: Buffer): boolean => {
    if (ours !== undefined) return ours.equals(script);
    const found = scriptHashOf(script).equals(scriptHash);
    if (found) ours = script;
    return found;
  };
  const made = new Map<string, EsploraCoin>();
  const spends = new Set<string>();
  let [funded, spent] = [NONE, NONE];
  for (const { txid, transaction, spent: coins } of transactions) {
    const { inputs, outputs } = transaction;
    for (const [i, { value, script }] of coins.entries()) {
      const input = inputs[i];
      if (input === undefined || !isOurs(script)) continue;
      spent = plus(spent, value);
      spends.add(keyOfOutpoint(input.txid, input.index));
    }
    for (const [index, { value, script }] of outputs.entries()) {
      if (!isOurs(script)) continue;
      funded = plus(funded, value);
      made.set(keyOfOutpoint(txid, index), { txid, index, value, status: undefined });
    }
    yield;
  }
  return {
    totals: { transactions: transactions.length, funded, spent },
    coins: [...made].filter(([key]) => !spends.has(key)).map(([, coin]) => coin),
    spends: (txid, index) => spends.has(keyOfOutpoint(txid, index))
  };
}
