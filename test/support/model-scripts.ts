// The index by script as maps, made from the blocks of a node: what the real one is compared with, and stands in for it.

import { createHash } from 'node:crypto';
import { scanBlock } from '../../lib/bitcoin/block';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../../lib/scripts/errors';
import type { Position } from '../../lib/index/records/position';
import type { IndexReader, IndexSnapshot } from '../../lib/index/types';
import type { NodeSource } from '../../lib/node/types';
import type { HistoryPage, ScriptCoin, ScriptReader, ScriptRow, ScriptSnapshot, ScriptsState, ScriptTotals } from '../../lib/scripts/types';

const OP_RETURN = 0x6a;

interface Row extends ScriptRow {
  readonly funded: { count: number; value: number };
  readonly spent: { count: number; value: number };
}

interface ModelState {
  readonly tip: Buffer;
  readonly txids: readonly (readonly Buffer[])[];
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

const keyOf = (hash: Buffer): string => hash.toString('hex');

const compare = (a: Position, b: Position): number => a.height - b.height || a.index - b.index;

/** The hash of a script by which it is asked for. */
export const scriptHashOf = (script: Buffer): Buffer => createHash('sha256').update(script).digest();

export class ModelScripts implements ScriptReader {
  state: ScriptsState = { phase: 'live', height: 0 };
  readonly #node: NodeSource;
  readonly #index: IndexReader;
  #made: ModelState | undefined;

  constructor(node: NodeSource, index: IndexReader) {
    this.#node = node;
    this.#index = index;
  }

  /** Brings it to the block of the main index. */
  async update(): Promise<void> {
    const { height, hash } = this.#index.read(({ tip }) => tip);
    const [txids, rows] = [[] as Buffer[][], new Map<string, Row[]>()];
    const outputs = new Map<string, { readonly script: Buffer; readonly value: number }>();
    const rowAt = (script: Buffer, position: Position, txid: Buffer): Row | undefined => {
      if (script[0] === OP_RETURN) return undefined;
      const key = keyOf(scriptHashOf(script));
      const list = rows.get(key) ?? [];
      rows.set(key, list);
      const last = list.at(-1);
      if (last !== undefined && compare(last.position, position) === 0) return last;
      const row = { position, txid, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };
      list.push(row);
      return row;
    };
    const add = (sum: { count: number; value: number } | undefined, value: number): void => {
      if (sum === undefined) return;
      sum.count++;
      sum.value += value;
    };
    for (let at = 0; at <= height; at++) {
      const block = this.#index.read((snapshot) => snapshot.headerAt(at));
      const raw = block && (await this.#node.rawBlock(block.hash));
      if (raw === undefined) throw new Error(`expected a block at height ${at}`);
      const { transactions } = scanBlock(raw);
      txids.push(transactions.map(({ txid }) => txid));
      if (at === 0) continue;
      for (const [i, { txid, inputs, outputs: made, isCoinbase }] of transactions.entries()) {
        const position = { height: at, index: i };
        for (const input of isCoinbase ? [] : inputs) {
          const spent = outputs.get(`${keyOf(input.txid)}${input.index}`);
          if (spent !== undefined) add(rowAt(spent.script, position, txid)?.spent, spent.value);
        }
        for (const [n, { script, value }] of made.entries()) {
          outputs.set(`${keyOf(txid)}${n}`, { script, value });
          add(rowAt(script, position, txid)?.funded, value);
        }
      }
    }
    this.#made = { tip: hash, txids, rows };
    this.state = { phase: 'live', height };
  }

  async read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    return this.#index.read((index) => {
      if (this.#made?.tip.equals(index.tip.hash) !== true) throw new ScriptsUnavailableError('the model is of another block');
      return use(new ModelSnapshot(index, this.#made));
    });
  }
}

class ModelSnapshot implements ScriptSnapshot {
  readonly index: IndexSnapshot;
  readonly #made: ModelState;

  constructor(index: IndexSnapshot, made: ModelState) {
    this.index = index;
    this.#made = made;
  }

  history(script: Buffer, { beyond, limit, ascending = false }: HistoryPage): Promise<ScriptRow[]> {
    const rows = ascending ? [...this.#rowsOf(script)] : [...this.#rowsOf(script)].reverse();
    const rest = rows.filter(({ position }) => beyond === undefined || (ascending ? 1 : -1) * compare(position, beyond) > 0);
    return Promise.resolve(rest.slice(0, limit));
  }

  totals(script: Buffer, most: number): Promise<ScriptTotals> {
    const rows = this.#rowsOf(script);
    if (rows.length > most) throw new HistoryTooLongError(`${rows.length} rows`);
    const sum = (of: 'funded' | 'spent') => ({
      count: rows.reduce((count, row) => count + row[of].count, 0),
      value: rows.reduce((value, row) => value + row[of].value, 0)
    });
    return Promise.resolve({ transactions: rows.length, funded: sum('funded'), spent: sum('spent') });
  }

  async coins(script: Buffer, most: number): Promise<ScriptCoin[]> {
    const coins: ScriptCoin[] = [];
    for (const { txid, position } of this.#rowsOf(script))
      for (const coin of await this.index.coinsOf(txid, position))
        if (scriptHashOf(coin.script).equals(script)) coins.push({ ...coin, txid, position });
    if (coins.length > most) throw new TooManyCoinsError(`${coins.length} coins`);
    return coins;
  }

  async *spenders(script: Buffer, _outpoint: { readonly txid: Buffer; readonly index: number }, position: Position) {
    for (const row of this.#rowsOf(script))
      if (row.spent.count > 0 && compare(row.position, position) > 0) yield await Promise.resolve(row.position);
  }

  txids(height: number): Promise<Buffer[]> {
    return Promise.resolve([...(this.#made.txids[height] ?? [])]);
  }

  txidAt({ height, index }: Position): Promise<Buffer | undefined> {
    return Promise.resolve(this.#made.txids[height]?.[index]);
  }

  #rowsOf(script: Buffer): readonly Row[] {
    return this.#made.rows.get(keyOf(script)) ?? [];
  }
}
