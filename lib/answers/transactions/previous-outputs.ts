// The outputs that transactions of the chain spend. There are two ways to find them.
//
// The node's undo data has the coins that a block spends, one after the other. Where those of a transaction begin depends on the
// transactions before it, so the whole block has to be read. The transactions that created the outputs are small, but each is in
// another place. The cheaper way is tried first, then the other.

import { keyOf } from '../../bitcoin/hash';
import { HttpError } from '../../server/errors';
import type { ScannedTransaction, SpentOutput } from '../../bitcoin/transaction';
import type { Position, IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';
import type { SpentCounts } from '../blocks/spent-counts';

/** Reading one transaction costs as much as reading and scanning this many of a block: some 40,000 bytes. */
const SCANNED_PER_READ = 80;

/** The most transactions that are read to find the outputs of one request: all of them are held in memory. */
const MOST_TRANSACTIONS = 500;

/** A transaction of a block. */
export interface Spending {
  readonly transaction: ScannedTransaction;
  readonly position: Position;
}

/** The outputs that each transaction spends. */
type Found = readonly (readonly SpentOutput[])[];

export interface PreviousOutputsParts {
  readonly node: NodeSource;
  readonly blocks: RawBlocks;
  readonly spentCounts: SpentCounts;
}

export class PreviousOutputs {
  readonly #parts: PreviousOutputsParts;

  constructor(parts: PreviousOutputsParts) {
    this.#parts = parts;
  }

  /**
   * The outputs that some transactions of a block spend, in the order of their inputs; none for the coinbase. `counts`: how
   * many outputs each transaction of the block spends, if the caller knows it. @throws HttpError 500, 503
   */
  async of(
    block: BlockPoint,
    list: readonly Spending[],
    counts: Uint32Array | undefined,
    index: IndexSnapshot,
    client: Client
  ): Promise<Found> {
    const inputs = list.reduce((sum, { transaction, position }) => sum + (position.index === 0 ? 0 : transaction.inputCount), 0);
    if (inputs === 0) return list.map(() => []);
    const inBlock = (): Promise<Found | undefined> => this.#fromBlock(block, list, counts, client);
    const elsewhere = async (): Promise<Found | undefined> =>
      inputs > MOST_TRANSACTIONS ? undefined : this.#fromTransactions(list, index, client);
    const [first, second] = counts === undefined && this.#isFarAway(block, inputs, index) ? [elsewhere, inBlock] : [inBlock, elsewhere];
    const found = (await first()) ?? (await second());
    if (found !== undefined) return found;
    await this.#parts.blocks.requireActive(block);
    throw new HttpError(500, 'Transaction missing prevouts');
  }

  /** Whether reading the block costs more than reading one transaction for each input. */
  #isFarAway(block: BlockPoint, inputs: number, index: IndexSnapshot): boolean {
    if (inputs > MOST_TRANSACTIONS || this.#parts.spentCounts.has(block)) return false;
    const run = index.headerRun(block.height, 1);
    return run !== undefined && inputs * SCANNED_PER_READ < run.detailsAt(0).transactionCount;
  }

  /** From the node's undo data. */
  async #fromBlock(
    block: BlockPoint,
    list: readonly Spending[],
    known: Uint32Array | undefined,
    client: Client
  ): Promise<Found | undefined> {
    const counts = known ?? (await this.#parts.spentCounts.of(block, client));
    if (counts === undefined) return undefined;
    const indexes = list.map(({ position }) => position.index);
    const [first, last] = [Math.min(...indexes), Math.max(...indexes)];
    // Where the coins of each transaction from the first to the last of the list begin, and where those of the last end.
    const starts = [counts.subarray(0, first).reduce((sum, count) => sum + count, 0)];
    for (const count of counts.subarray(first, last + 1)) starts.push((starts.at(-1) as number) + count); // not empty
    const [start, end] = [starts[0] as number, starts.at(-1) as number]; // as above
    const coins = await this.#parts.node.spentSpan(block.hash, { start, count: end - start });
    return (
      coins && indexes.map((index) => coins.slice((starts[index - first] as number) - start, (starts[index - first + 1] as number) - start))
    );
  }

  /** From the transactions that created the outputs. */
  async #fromTransactions(list: readonly Spending[], index: IndexSnapshot, client: Client): Promise<Found | undefined> {
    const reading = new Map<string, Promise<ScannedTransaction | undefined>>();
    const read = (txid: Buffer): Promise<ScannedTransaction | undefined> => {
      const key = keyOf(txid);
      const before = reading.get(key);
      if (before !== undefined) return before;
      const found = this.#parts.blocks.find(txid, index);
      const made = Promise.resolve(found?.read(client));
      reading.set(key, made);
      return made;
    };
    const spent: (readonly (SpentOutput | undefined)[])[] = await Promise.all(
      list.map(({ transaction, position }) =>
        Promise.all((position.index === 0 ? [] : transaction.inputs).map(async ({ txid, index: n }) => (await read(txid))?.outputs[n]))
      )
    );
    return spent.every(isComplete) ? spent : undefined;
  }
}

function isComplete(outputs: readonly (SpentOutput | undefined)[]): outputs is readonly SpentOutput[] {
  return outputs.every((output) => output !== undefined);
}
