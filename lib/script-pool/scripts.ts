// Which transactions of the pool touch a script. Most scripts are touched by a single transaction, and only that is kept. For the others
// sums are updated as transactions enter and leave, so that an answer is as fast for a script with thousands of transactions.

import { hash } from 'node:crypto';
import type { ScannedOutput } from '../bitcoin/transaction';
import type { PooledTransaction } from './pooled-transaction';

const OP_RETURN = 0x6a;

/** Outputs, or spent outputs, of a script: their number and total value. */
export interface PooledSum {
  readonly count: number;
  readonly value: number;
}

/** Totals of a script over all transactions of the pool. */
export interface PooledTotals {
  readonly transactions: number;
  readonly funded: PooledSum;
  readonly spent: PooledSum;
}

/** An output that the pool creates and does not spend. */
export interface PooledCoin {
  readonly transaction: PooledTransaction;
  readonly index: number;
  readonly value: number;
}

/** What PoolScripts needs to know of the rest of the pool. */
export interface PoolSpends {
  get(txid: Buffer): PooledTransaction | undefined;
  isSpent(txid: Buffer, index: number): boolean;
}

class Sum implements PooledSum {
  count = 0;
  value = 0;

  add({ count, value }: PooledSum, sign: 1 | -1 = 1): void {
    this.count += sign * count;
    this.value += sign * value;
  }
}

const copyOf = ({ count, value }: PooledSum): PooledSum => ({ count, value });

/** Outputs of one script that one transaction creates and spends. */
class Touch {
  readonly funded = new Sum();
  readonly spent = new Sum();

  constructor(readonly script: Buffer) {}
}

/** The script's SHA-256 as a latin1 string. */
const keyOf = (script: Buffer): string => hash('sha256', script, 'binary');

/** The touches of a transaction, by the scripts' keys. Scripts with data (`OP_RETURN`) are left out: no client asks for them. */
function touches(transaction: PooledTransaction): Map<string, Touch> {
  const found = new Map<string, Touch>();
  const touch = (script: Buffer): Touch | undefined => {
    if (script[0] === OP_RETURN) return undefined;
    const key = keyOf(script);
    let known = found.get(key);
    if (known === undefined) found.set(key, (known = new Touch(script)));
    return known;
  };
  for (const { value, script } of transaction.transaction.outputs) touch(script)?.funded.add({ count: 1, value });
  for (const { value, script } of transaction.spent) touch(script)?.spent.add({ count: 1, value });
  return found;
}

/** A script that several transactions touch. */
class SharedScript {
  /** In the order of entering. */
  readonly transactions = new Set<PooledTransaction>();
  /** The transactions that create an output of the script which the pool does not spend. */
  readonly funding = new Set<PooledTransaction>();
  readonly funded = new Sum();
  readonly spent = new Sum();
  /** A copy, since the script may be a view of a whole block. */
  readonly #script: Buffer;
  readonly #spends: PoolSpends;

  constructor(script: Buffer, spends: PoolSpends) {
    this.#script = Buffer.allocUnsafeSlow(script.length);
    script.copy(this.#script);
    this.#spends = spends;
  }

  get totals(): PooledTotals {
    return { transactions: this.transactions.size, funded: copyOf(this.funded), spent: copyOf(this.spent) };
  }

  add(transaction: PooledTransaction, touch: Touch): void {
    this.transactions.add(transaction);
    this.funded.add(touch.funded);
    this.spent.add(touch.spent);
    if (touch.funded.count > 0) this.#look(transaction);
    if (touch.spent.count > 0) this.#lookAtParents(transaction);
  }

  remove(transaction: PooledTransaction, touch: Touch): void {
    this.transactions.delete(transaction);
    this.funding.delete(transaction);
    this.funded.add(touch.funded, -1);
    this.spent.add(touch.spent, -1);
    if (touch.spent.count > 0) this.#lookAtParents(transaction);
  }

  *coins(): Generator<PooledCoin, void> {
    const isOurs = (output: ScannedOutput): boolean => output.script.equals(this.#script);
    for (const transaction of this.funding) yield* unspent(transaction, isOurs, this.#spends);
  }

  #lookAtParents({ transaction, spent }: PooledTransaction): void {
    const { inputs } = transaction;
    for (const [i, { script }] of spent.entries()) {
      const input = inputs[i];
      const parent = input && script.equals(this.#script) ? this.#spends.get(input.txid) : undefined;
      if (parent !== undefined && this.transactions.has(parent)) this.#look(parent);
    }
  }

  #look(transaction: PooledTransaction): void {
    const isOurs = (output: ScannedOutput): boolean => output.script.equals(this.#script);
    if (unspent(transaction, isOurs, this.#spends).next().done === true) this.funding.delete(transaction);
    else this.funding.add(transaction);
  }
}

function* unspent(
  transaction: PooledTransaction,
  isOurs: (output: ScannedOutput) => boolean,
  spends: PoolSpends
): Generator<PooledCoin, void> {
  const { txid } = transaction;
  for (const [index, output] of transaction.transaction.outputs.entries())
    if (isOurs(output) && !spends.isSpent(txid, index)) yield { transaction, index, value: output.value };
}

type Touching = PooledTransaction | SharedScript;

/** A map by scripts' keys. A map that grows is copied in one go: many small maps make that short. */
class ScriptMap {
  readonly #maps = Array.from({ length: 256 }, () => new Map<string, Touching>());

  get(key: string): Touching | undefined {
    return this.#mapOf(key).get(key);
  }

  set(key: string, touching: Touching): void {
    this.#mapOf(key).set(key, touching);
  }

  delete(key: string): void {
    this.#mapOf(key).delete(key);
  }

  clear(): void {
    for (const map of this.#maps) map.clear();
  }

  #mapOf(key: string): Map<string, Touching> {
    return this.#maps[key.charCodeAt(0)] as Map<string, Touching>; // a character is a byte
  }
}

/** `script` in the methods: the SHA-256, 32 bytes, not reversed. */
export class PoolScripts {
  readonly #scripts = new ScriptMap();
  readonly #spends: PoolSpends;

  constructor(spends: PoolSpends) {
    this.#spends = spends;
  }

  /** Returns the keys of the scripts that it touches. `spends` must know the transaction already. */
  add(transaction: PooledTransaction): Iterable<string> {
    const touched = touches(transaction);
    for (const [key, touch] of touched) {
      const known = this.#scripts.get(key);
      if (known === undefined) this.#scripts.set(key, transaction);
      else (known instanceof SharedScript ? known : this.#share(key, touch.script, known)).add(transaction, touch);
    }
    return touched.keys();
  }

  /** Returns the keys of the scripts that it touches. `spends` must no longer know the transaction. */
  remove(transaction: PooledTransaction): Iterable<string> {
    const touched = touches(transaction);
    for (const [key, touch] of touched) {
      const known = this.#scripts.get(key);
      if (known instanceof SharedScript) {
        known.remove(transaction, touch);
        if (known.transactions.size === 1) for (const only of known.transactions) this.#scripts.set(key, only);
      } else {
        this.#scripts.delete(key);
      }
    }
    return touched.keys();
  }

  clear(): void {
    this.#scripts.clear();
  }

  history(script: Buffer): readonly PooledTransaction[] {
    const known = this.#scripts.get(script.toString('latin1'));
    return known === undefined ? [] : known instanceof SharedScript ? [...known.transactions] : [known];
  }

  totals(script: Buffer): PooledTotals {
    const key = script.toString('latin1');
    const known = this.#scripts.get(key);
    if (known instanceof SharedScript) return known.totals;
    const touch = known && touches(known).get(key);
    return {
      transactions: known === undefined ? 0 : 1,
      funded: copyOf(touch?.funded ?? new Sum()),
      spent: copyOf(touch?.spent ?? new Sum())
    };
  }

  *coins(script: Buffer): Generator<PooledCoin, void> {
    const key = script.toString('latin1');
    const known = this.#scripts.get(key);
    if (known instanceof SharedScript) yield* known.coins();
    else if (known !== undefined) yield* unspent(known, (output) => keyOf(output.script) === key, this.#spends);
  }

  #share(key: string, script: Buffer, first: PooledTransaction): SharedScript {
    const shared = new SharedScript(script, this.#spends);
    const touch = touches(first).get(key);
    if (touch !== undefined) shared.add(first, touch);
    this.#scripts.set(key, shared);
    return shared;
  }
}
