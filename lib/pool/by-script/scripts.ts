// Which transactions of the pool touch a script, with the sums of what they fund and spend. The sums are updated as transactions enter and
// leave, so that an answer is as fast for a script with thousands of transactions, and a transaction costs what it has inputs and outputs,
// whatever other transactions have.

import { hash } from 'node:crypto';
import { keyOf } from '../../bitcoin/hash';
import { OP_RETURN } from '../../bitcoin/script';
import type { PooledTransaction } from './pooled-transaction';

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

const NOTHING: PooledSum = { count: 0, value: 0 };

const plus = (a: PooledSum, b: PooledSum): PooledSum => ({ count: a.count + b.count, value: a.value + b.value });

const minus = (a: PooledSum, b: PooledSum): PooledSum => ({ count: a.count - b.count, value: a.value - b.value });

/** What one transaction does with one script: what most scripts of a pool have. */
class Touch {
  funded = NOTHING;
  spent = NOTHING;

  constructor(readonly transaction: PooledTransaction) {}

  get totals(): PooledTotals {
    return { transactions: 1, funded: this.funded, spent: this.spent };
  }

  get transactions(): readonly PooledTransaction[] {
    return [this.transaction];
  }
}

/** `keyOf` the script's hash, made in one step. */
const keyOfScript = (script: Buffer): string => hash('sha256', script, 'binary');

/** The touches of a transaction, by the scripts' keys. Scripts with data (`OP_RETURN`) are left out: no client asks for them. */
function touches(transaction: PooledTransaction): Map<string, Touch> {
  const found = new Map<string, Touch>();
  // Outputs with the same script often follow one another, by the thousand if somebody wants them to.
  let [lastScript, last]: [Buffer | undefined, Touch | undefined] = [undefined, undefined];
  const touch = (script: Buffer): Touch | undefined => {
    if (script[0] === OP_RETURN) return undefined;
    if (lastScript?.equals(script) === true) return last;
    const key = keyOfScript(script);
    let known = found.get(key);
    if (known === undefined) found.set(key, (known = new Touch(transaction)));
    [lastScript, last] = [script, known];
    return known;
  };
  for (const { value, script } of transaction.transaction.outputs) {
    const touched = touch(script);
    if (touched !== undefined) touched.funded = plus(touched.funded, { count: 1, value });
  }
  for (const { value, script } of transaction.spent) {
    const touched = touch(script);
    if (touched !== undefined) touched.spent = plus(touched.spent, { count: 1, value });
  }
  return found;
}

/** A script that several transactions touch. */
class SharedScript {
  /** In the order of entering. */
  readonly #transactions = new Set<PooledTransaction>();
  #funded = NOTHING;
  #spent = NOTHING;

  get totals(): PooledTotals {
    return { transactions: this.#transactions.size, funded: this.#funded, spent: this.#spent };
  }

  get transactions(): readonly PooledTransaction[] {
    return [...this.#transactions];
  }

  add({ transaction, funded, spent }: Touch): void {
    this.#transactions.add(transaction);
    this.#funded = plus(this.#funded, funded);
    this.#spent = plus(this.#spent, spent);
  }

  remove({ transaction, funded, spent }: Touch): void {
    this.#transactions.delete(transaction);
    this.#funded = minus(this.#funded, funded);
    this.#spent = minus(this.#spent, spent);
  }

  /** The touch of the last transaction that is left; undefined while there are several. */
  get only(): Touch | undefined {
    const [first, second] = this.#transactions;
    if (first === undefined || second !== undefined) return undefined;
    const touch = new Touch(first);
    [touch.funded, touch.spent] = [this.#funded, this.#spent];
    return touch;
  }
}

type Touching = Touch | SharedScript;

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

  /** Remembers in the transaction which scripts it touches. */
  add(transaction: PooledTransaction): void {
    const touched = touches(transaction);
    for (const [key, touch] of touched) {
      const known = this.#scripts.get(key);
      if (known === undefined) this.#scripts.set(key, touch);
      else (known instanceof SharedScript ? known : this.#share(key, known)).add(touch);
    }
    transaction.scripts = [...touched.keys()];
  }

  remove(transaction: PooledTransaction): void {
    for (const [key, touch] of touches(transaction)) {
      const known = this.#scripts.get(key);
      if (known instanceof SharedScript) {
        known.remove(touch);
        const { only } = known;
        if (only !== undefined) this.#scripts.set(key, only);
      } else {
        this.#scripts.delete(key);
      }
    }
  }

  clear(): void {
    this.#scripts.clear();
  }

  /** In the order of entering. `script`: its SHA-256, as below. */
  history(script: Buffer): readonly PooledTransaction[] {
    return this.#scripts.get(keyOf(script))?.transactions ?? [];
  }

  totals(script: Buffer): PooledTotals {
    return this.#scripts.get(keyOf(script))?.totals ?? { transactions: 0, funded: NOTHING, spent: NOTHING };
  }

  #share(key: string, first: Touch): SharedScript {
    const shared = new SharedScript();
    shared.add(first);
    this.#scripts.set(key, shared);
    return shared;
  }
}
