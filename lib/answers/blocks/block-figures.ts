// What the transactions of a block pay, and what else of them is counted: as Bitcoin Core's getblockstats counts it, and with the fee rate of
// the chunk in which the miner took each transaction.

import { keyOf } from '../../bitcoin/hash';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { ByteReader } from '../../bitcoin/reader';
import { readTransaction, type ScannedTransaction, WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { transactionFlags } from '../../bitcoin/transaction-flags';
import { compareRates, type Rate } from '../../clusters/fee-rate';
import { feeStatistics, type FeeStatistics } from '../../pool/projection/fee-statistics';
import type { BlockExtras } from '../../views/esplora/extended-block';
import type { SpentNodeCoin } from '../../node/types/coins';

/** Transactions between two yields. */
const STEPS = 32;

/** A transaction of a block. */
export interface FiguredTransaction extends Rate {
  readonly txid: Buffer;
  /** Satoshis of all outputs. */
  readonly value: number;
  readonly flags: number;
  /** Satoshis per virtual byte of its chunk. */
  readonly rate: number;
}

/** Where nothing else is said, without the coinbase. */
export interface BlockFigures extends Omit<BlockExtras, 'medianFee' | 'feeRange'> {
  /** In bytes, with witnesses; and the weight, both of the whole block. */
  readonly length: number;
  readonly weight: number;
  /** With the coinbase. */
  readonly transactions: readonly FiguredTransaction[];
  readonly statistics: FeeStatistics;
}

interface Counted extends Rate {
  readonly txid: Buffer;
  readonly value: number;
  readonly flags: number;
}

/** `spent`: the outputs that the block spends, in the order of its inputs, without the coinbase's. Yields often. */
export function* blockFigures(raw: Buffer, spent: readonly SpentNodeCoin[]): Generator<void, BlockFigures> {
  const reader = new ByteReader(raw, HEADER_LENGTH);
  const count = reader.compactSize();
  const counted: Counted[] = [];
  const chunks = new BlockChunks();
  const segwit = { count: 0, size: 0, weight: 0 };
  let coinbase: ScannedTransaction | undefined;
  let weight = WEIGHT_PER_VBYTE * reader.offset;
  let [size, totalFees, inputs, outputs, outputValue, spentBefore] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const transaction = readTransaction(reader);
    weight += transaction.weight;
    const all = transaction.outputs;
    outputs += all.length;
    const value = all.reduce((sum, output) => sum + output.value, 0);
    const isCoinbase = coinbase === undefined;
    coinbase ??= transaction;
    const own = isCoinbase ? [] : spent.slice(spentBefore, (spentBefore += transaction.inputCount));
    const fee = isCoinbase ? 0 : own.reduce((sum, output) => sum + output.value, -value);
    const flags = transactionFlags(
      transaction,
      own.map(({ script }) => script)
    );
    counted.push({ txid: transaction.txid, value, flags, fee, weight: transaction.weight });
    if (!isCoinbase) {
      chunks.add(transaction, fee);
      totalFees += fee;
      size += transaction.length;
      inputs += transaction.inputCount;
      outputValue += value;
      if (transaction.hasWitness) {
        segwit.count++;
        segwit.size += transaction.length;
        segwit.weight += transaction.weight;
      }
    }
    if (i % STEPS === STEPS - 1) yield;
  }
  if (coinbase === undefined) throw new RangeError('expected a block with a coinbase');
  const rates = chunks.rates();
  const transactions = counted.map((one, i) => ({ ...one, rate: i === 0 ? 0 : (rates[i - 1] as number) })); // one for each
  const statistics = yield* feeStatistics(transactions.slice(1));
  const transactionsWeight = transactions.slice(1).reduce((sum, one) => sum + one.weight, 0);
  return {
    coinbase,
    length: raw.length,
    weight,
    transactions,
    totalFees,
    statistics,
    size,
    transactionsWeight,
    inputs,
    outputs,
    outputValue,
    segwit
  };
}

interface Chunk extends Rate {
  readonly members: readonly number[];
}

/** The chunks of the miner's own order: each cluster of a block, cut where what follows pays no better. */
class BlockChunks {
  readonly #places = new Map<string, number>();
  readonly #rates: Rate[] = [];
  /** For each transaction one that it is connected with, or itself. */
  readonly #parents: number[] = [];

  /** `transaction`: the next of the block. */
  add({ txid, inputs, weight }: ScannedTransaction, fee: number): void {
    const place = this.#rates.length;
    this.#rates.push({ fee, weight });
    this.#parents.push(place);
    for (const input of inputs) {
      const parent = this.#places.get(keyOf(input.txid));
      if (parent !== undefined) this.#parents[this.#rootOf(parent)] = this.#rootOf(place);
    }
    this.#places.set(keyOf(txid), place);
  }

  /** For each transaction the rate of its chunk, in satoshis per virtual byte. */
  rates(): number[] {
    const clusters = new Map<number, Chunk[]>();
    for (const [place, { fee, weight }] of this.#rates.entries()) {
      const root = this.#rootOf(place);
      const chunks = clusters.get(root) ?? [];
      clusters.set(root, chunks);
      let chunk: Chunk = { fee, weight, members: [place] };
      for (let last = chunks.at(-1); last !== undefined && compareRates(chunk, last) > 0; last = chunks.at(-1)) {
        chunks.pop();
        chunk = { fee: last.fee + chunk.fee, weight: last.weight + chunk.weight, members: last.members.concat(chunk.members) };
      }
      chunks.push(chunk);
    }
    const rates = new Array<number>(this.#rates.length).fill(0);
    for (const chunks of clusters.values())
      for (const { fee, weight, members } of chunks) for (const place of members) rates[place] = fee / (weight / WEIGHT_PER_VBYTE);
    return rates;
  }

  #rootOf(place: number): number {
    let root = place;
    while (this.#parents[root] !== root) {
      const above = this.#parents[root] as number; // each has one
      this.#parents[root] = this.#parents[above] as number;
      root = above;
    }
    return root;
  }
}
