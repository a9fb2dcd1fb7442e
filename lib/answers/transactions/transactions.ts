// Transactions as Esplora shows them, with the outputs that they spend and their place in the chain. The contents of a block never change,
// so the text of a transaction is right as long as its block is in the chain: it is cached under the hash of the block.

import { keyOf } from '../../bitcoin/hash';
import { timeOf } from '../../bitcoin/header';
import { NotYetKnownError } from '../../index/errors';
import { ownCopy } from '../../system/own-copy';
import { runInSlices, soon } from '../../turns/slices';
import { esploraCapacity, writeEsploraTransaction } from '../../views/esplora/transaction';
import { JsonWriter } from '../../views/json-writer';
import { placedTransaction, type Placed } from './placed-transaction';
import { PreviousOutputs, type PreviousOutputsParts } from './previous-outputs';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { ScannedTransaction, SpentOutput } from '../../bitcoin/transaction';
import type { Position, IndexSnapshot } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { Client } from '../../turns/client';
import type { EsploraStatus } from '../../views/esplora/status';

/** Blocks that are worked on at the same time: each may have to be read as a whole. */
const BLOCKS_AT_ONCE = 4;

/** The block of a confirmed transaction. */
export type Confirmation = NonNullable<EsploraStatus>;

export interface TransactionsParts extends PreviousOutputsParts {
  readonly cache: AnswerCache;
}

interface CachedText extends Cached {
  readonly text: Buffer;
}

/** Transactions of one block whose texts are not cached, and their places in the list. */
interface Missing {
  readonly status: Confirmation;
  readonly places: { readonly placed: Placed; readonly at: number }[];
}

/** The confirmation of the transactions in the block at a height. @throws RangeError above the tip */
export function confirmationAt(height: number, index: IndexSnapshot): Confirmation {
  const run = index.headerRun(height, 1);
  if (run === undefined) throw new RangeError(`expected a height up to ${index.tip.height}, got ${height}`);
  return { height, hash: run.lastHash, time: timeOf(run.headers) };
}

/** The position of a transaction of the chain. @throws NotYetKnownError */
export function positionOf(txid: Buffer, index: IndexSnapshot): Position | undefined {
  const found = index.position(txid);
  return found && { height: found.block.height, index: found.index };
}

/** As `positionOf`, but undefined if the index does not know yet. New transactions are always known. */
export function placeIfKnown(txid: Buffer, index: IndexSnapshot): Position | undefined {
  try {
    return positionOf(txid, index);
  } catch (error) {
    if (error instanceof NotYetKnownError) return undefined;
    throw error;
  }
}

export class Transactions {
  readonly #parts: TransactionsParts;
  readonly #previous: PreviousOutputs;
  readonly #cached: CacheSection<CachedText>;

  constructor(parts: TransactionsParts) {
    this.#parts = parts;
    this.#previous = new PreviousOutputs(parts);
    this.#cached = parts.cache.section('esplora-tx');
  }

  /** The JSON of each, in the order of the list. @throws HttpError 503 when the node no longer has one of them */
  async confirmed(list: readonly Placed[], index: IndexSnapshot, client: Client): Promise<Buffer[]> {
    const texts: Buffer[] = [];
    const missing = new Map<number, Missing>();
    for (const [at, placed] of list.entries()) {
      const { height } = placed.position;
      const status = missing.get(height)?.status ?? confirmationAt(height, index);
      const cached = this.#cached.get(cacheKey(status, placed));
      if (cached !== undefined) texts[at] = cached.text;
      else if (missing.get(height)?.places.push({ placed, at }) === undefined) missing.set(height, { status, places: [{ placed, at }] });
    }
    const blocks = missing.values();
    const work = async (): Promise<void> => {
      for (const { status, places } of blocks) {
        const made = await this.#ofBlock(
          status,
          places.map(({ placed }) => placed),
          index,
          client
        );
        for (const [i, { at }] of places.entries()) texts[at] = made[i] as Buffer; // one for each
      }
    };
    await Promise.all(Array.from({ length: Math.min(BLOCKS_AT_ONCE, missing.size) }, work));
    return texts;
  }

  /** The JSON of a transaction of the pool. */
  unconfirmed({ transaction, spent }: PooledTransaction, client: Client): Promise<Buffer> {
    return this.#write(transaction, spent, undefined, client);
  }

  /** A transaction of the chain. @throws HttpError 503 when the node no longer has its bytes */
  at(placed: Placed, index: IndexSnapshot, client: Client): Promise<ScannedTransaction> {
    return placedTransaction(this.#parts.blocks, placed, index, client);
  }

  async #ofBlock(status: Confirmation, list: readonly Placed[], index: IndexSnapshot, client: Client): Promise<Buffer[]> {
    const reading = Promise.all(list.map((placed) => this.at(placed, index, client)));
    // Started together, so that a node that only reads whole blocks reads this one once. Otherwise counting costs too much, even in memory.
    const counting = this.#parts.node.readsWholeBlocks ? this.#parts.spentCounts.of(status, client) : undefined;
    const [transactions, counts] = await Promise.all([reading, counting]);
    await soon();
    const spending = transactions.map((transaction, i) => ({ transaction, position: (list[i] as Placed).position })); // one for each
    const spent = await this.#previous.of(status, spending, counts, index, client);
    await soon();
    const texts: Buffer[] = [];
    for (const [i, transaction] of transactions.entries()) {
      const text = await this.#write(transaction, spent[i] as readonly SpentOutput[], status, client); // one for each
      texts.push(text);
      this.#cached.setIfAskedBefore(cacheKey(status, list[i] as Placed), () => {
        const own = ownCopy(text);
        return { text: own, byteLength: own.length };
      });
    }
    return texts;
  }

  #write(transaction: ScannedTransaction, spent: readonly SpentOutput[], status: EsploraStatus, client: Client): Promise<Buffer> {
    const writer = new JsonWriter(esploraCapacity(transaction, spent));
    const form = { spent, status, prefixes: this.#parts.node.network.addressPrefixes };
    return runInSlices(textOf(writer, transaction, form), client);
  }
}

function* textOf(
  writer: JsonWriter,
  transaction: ScannedTransaction,
  form: Parameters<typeof writeEsploraTransaction>[2]
): Generator<void, Buffer> {
  yield* writeEsploraTransaction(writer, transaction, form);
  return writer.toBuffer();
}

const cacheKey = ({ hash }: Confirmation, { txid }: Placed): string => keyOf(hash) + keyOf(txid);
