// A simple model of an index by script, made from the blocks of a chain alone, with which an index is compared.

import { createHash } from 'node:crypto';
import { knownHash, knownScan } from '../chain/known-blocks';
import type { Position } from '../../../lib/index/types';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';
import type { ScriptCoin } from '../../../lib/scripts/script-coins';
import type { RowChange, RowTransaction, ScriptTotals } from '../../../lib/scripts/types';

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

interface ModelOutput {
  readonly txid: Buffer;
  readonly index: number;
  readonly position: Position;
  readonly value: number;
  readonly script: Buffer;
  /** SHA-256 of the script. */
  readonly hash: Buffer;
}

/** An output that was spent, and the input that spent it. */
export interface ModelSpend {
  readonly output: ModelOutput;
  readonly spender: Position;
  /** SHA-256 of the output's script. */
  readonly script: Buffer;
}

interface ModelRow extends RowTransaction {
  readonly funded: { count: number; value: number };
  readonly spent: { count: number; value: number };
}

/** SHA-256 of scripts in blocks that tests use. */
const hashes = new WeakMap<Buffer, Buffer>();

function scriptHash(script: Buffer): Buffer {
  const hash = hashes.get(script) ?? sha256(script);
  hashes.set(script, hash);
  return hash;
}

const outpointName = (txid: Buffer, index: number): string => `${txid.toString('hex')}-${index}`;
const isData = (script: Buffer): boolean => script[0] === 0x6a;

/** The state after the blocks of a chain, from the genesis block up. */
export class ScriptModel {
  /** SHA-256 of each script in hex to its rows in the order of the chain, including rows of txids that occur again later. */
  readonly rows = new Map<string, ModelRow[]>();
  /** By height. */
  readonly txids: Buffer[][] = [];
  readonly spends: ModelSpend[] = [];
  /** The same chain for a writer, with the outputs that each block spends. */
  readonly blocks: ScriptBlock[] = [];
  readonly #unspent = new Map<string, ModelOutput>();
  readonly #lastPositions = new Map<string, string>();

  constructor(chain: readonly Buffer[] = []) {
    for (const raw of chain) this.add(raw);
  }

  add(raw: Buffer): void {
    const height = this.blocks.length;
    const { transactions } = knownScan(raw);
    const spent: ModelOutput[][] = [];
    for (const [index, { txid, isCoinbase, inputs, outputs }] of transactions.entries()) {
      const position = { height, index };
      this.#lastPositions.set(txid.toString('hex'), `${height}/${index}`);
      const taken = (isCoinbase ? [] : inputs).map((input) => this.#take(input.txid, input.index));
      spent.push(taken);
      for (const output of taken) this.#row(output.hash, txid, position, 'spent', output.value);
      for (const output of taken) this.spends.push({ output, spender: position, script: output.hash });
      for (const [i, { value, script }] of outputs.entries()) {
        if (height === 0) continue;
        const hash = scriptHash(script);
        this.#unspent.set(outpointName(txid, i), { txid, index: i, position, value, script, hash });
        if (!isData(script)) this.#row(hash, txid, position, 'funded', value);
      }
    }
    this.txids.push(transactions.map(({ txid }) => txid));
    this.blocks.push({ point: { hash: knownHash(raw), height }, raw, spent: spent.flat().length === 0 ? undefined : spentBytes(spent) });
  }

  /** SHA-256 of every script that has rows. */
  get scripts(): Buffer[] {
    return [...this.rows.keys()].map((hex) => Buffer.from(hex, 'hex'));
  }

  history(script: Buffer): RowTransaction[] {
    const rows = this.#rowsOf(script).filter(
      ({ txid, position: { height, index } }) => this.#lastPositions.get(txid.toString('hex')) === `${height}/${index}`
    );
    return rows.map(({ position, txid }) => ({ position, txid }));
  }

  /** What transactions changed for some scripts together, from the newest down. */
  changes(scripts: readonly Buffer[]): RowChange[] {
    const changes = new Map<string, RowChange>();
    for (const script of scripts) {
      const shown = new Set(this.history(script).map(({ position: { height, index } }) => `${height}/${index}`));
      for (const { position, txid, funded, spent } of this.#rowsOf(script)) {
        const name = `${position.height}/${position.index}`;
        const value = (changes.get(name)?.value ?? 0) + funded.value - spent.value;
        if (shown.has(name)) changes.set(name, { position, txid, value });
      }
    }
    return [...changes.values()].sort((a, b) => b.position.height - a.position.height || b.position.index - a.position.index);
  }

  totals(script: Buffer): ScriptTotals {
    const rows = this.#rowsOf(script);
    const sum = (of: 'funded' | 'spent', what: 'count' | 'value'): number => rows.reduce((all, row) => all + row[of][what], 0);
    return {
      transactions: rows.length,
      funded: { count: sum('funded', 'count'), value: sum('funded', 'value') },
      spent: { count: sum('spent', 'count'), value: sum('spent', 'value') }
    };
  }

  /** In the order of the chain. Nobody can spend a script of more than 10,000 bytes. */
  coins(script: Buffer): ScriptCoin[] {
    return [...this.#unspent.values()]
      .filter((output) => output.hash.equals(script) && output.script.length <= 10_000 && !isData(output.script))
      .sort((a, b) => a.position.height - b.position.height || a.position.index - b.position.index || a.index - b.index)
      .map(({ txid, index, position, value }) => ({ txid, index, value, height: position.height, coinbase: position.index === 0 }));
  }

  #rowsOf(script: Buffer): readonly ModelRow[] {
    return this.rows.get(script.toString('hex')) ?? [];
  }

  #take(txid: Buffer, index: number): ModelOutput {
    const name = outpointName(txid, index);
    const output = this.#unspent.get(name);
    if (output === undefined) throw new Error(`the chain spends what is not there: ${name}`);
    this.#unspent.delete(name);
    return output;
  }

  #row(hash: Buffer, txid: Buffer, position: Position, side: 'funded' | 'spent', value: number): void {
    const name = hash.toString('hex');
    const rows = this.rows.get(name) ?? [];
    this.rows.set(name, rows);
    let row = rows.at(-1);
    if (row?.position.height !== position.height || row.position.index !== position.index) {
      row = { position, txid, funded: { count: 0, value: 0 }, spent: { count: 0, value: 0 } };
      rows.push(row);
    }
    row[side].count++;
    row[side].value += value;
  }
}

/** In the form of `NodeSource.spentOutputs`. */
function spentBytes(spent: readonly (readonly ModelOutput[])[]): Buffer {
  return Buffer.concat([
    compactSize(spent.length),
    ...spent.flatMap((outputs) => [
      compactSize(outputs.length),
      ...outputs.flatMap(({ value, script }) => {
        const amount = Buffer.alloc(8);
        amount.writeBigUInt64LE(BigInt(value));
        return [amount, compactSize(script.length), script];
      })
    ])
  ]);
}

function compactSize(value: number): Buffer {
  if (value < 0xfd) return Buffer.from([value]);
  const bytes = Buffer.from([0xfd, 0, 0]);
  bytes.writeUInt16LE(value, 1);
  return bytes;
}
