// The pool's part of the log, while this node leads: what has been written of each transaction, changes as they happen, and the difference
// between the log's pool and the node's. An entry is read when it is written, not in its event: some of its fields are set afterwards.

import { HASH_LENGTH, hashOfKey, keyOf } from '../../bitcoin/hash';
import { messageOf } from '../../system/error-text';
import { WHOLE_CLEAR, type LogPosition, type PoolAdd } from '../messages/records';
import type { IndexLogger } from '../../follow/logger';
import type { PoolEntry, PoolRemoval, PoolSource, PoolTransaction } from '../../node/types/pool';
import type { PoolPage } from '../messages/questions';
import type { TermWriter } from './term-writer';

/** What the log has of an entry. */
interface Written {
  readonly txid: Buffer;
  /** Ascending in the order of the records. */
  readonly number: number;
  modifiedFee: number;
  height: number;
  isUnbroadcast: boolean;
}

/** Bytes of a page of the pool. */
export const MOST_PAGE_BYTES = 2 * 1_024 * 1_024;

/** Of the longest message that the servers take, a page may have this part: its last transaction may be long. */
const PAGE_SHARE = 4;

/** Txids in one record, and what it has besides. */
const MOST_KEPT = 100_000;
const CLEAR_BYTES = 1_024;

export class PoolFeed {
  readonly #pool: PoolSource;
  readonly #writer: TermWriter;
  readonly #logger: IndexLogger;
  /** Whether the difference to the log's pool has been written. */
  #isKnown = false;
  readonly #written = new Map<string, Written>();
  /** Transactions of which the log's pool may have an earlier record, until this node writes one. */
  readonly #kept = new Set<string>();
  #numbers = 0;
  readonly #silentChanges: () => number;
  /** State of the pool when its entries were compared last. */
  #compared = { silent: -1, fees: 0 };

  /** `silentChanges`: how many changes of the pool have had no event. */
  constructor(pool: PoolSource, writer: TermWriter, silentChanges: () => number, logger: IndexLogger) {
    this.#pool = pool;
    this.#writer = writer;
    this.#silentChanges = silentChanges;
    this.#logger = logger;
  }

  /** Writes those of these transactions, which the node's pool has, that this node has not written yet. */
  async addAll(txids: readonly Buffer[]): Promise<void> {
    for (const txid of txids) {
      if (this.#written.has(keyOf(txid))) continue;
      const transaction = await this.#pool.withCoins(txid);
      if (transaction !== undefined) await this.added(transaction);
    }
  }

  /** Writes that all others have left the pool, whoever wrote that they are there. */
  async removeOthers(txids: readonly Buffer[]): Promise<void> {
    const there = new Set(txids.map(keyOf));
    const others = [...this.#written.keys(), ...this.#kept].filter((key) => !there.has(key));
    for (const key of others) await this.removed({ type: 'remove', txid: hashOfKey(key) });
    if (!this.#isKnown) await this.#begin(txids);
    await this.#compare();
  }

  /** Writes a transaction that has entered the pool, unless it has left it since. */
  async added(transaction: PoolTransaction): Promise<void> {
    const { txid } = transaction;
    const entry = this.#pool.entry(txid);
    const record = entry && this.#record(entry, transaction);
    if (record === undefined) return;
    if (!(await this.#addFitting(record))) return;
    const { modifiedFee, height, isUnbroadcast } = record;
    const key = keyOf(txid);
    this.#kept.delete(key);
    this.#written.set(key, { txid, number: ++this.#numbers, modifiedFee, height, isUnbroadcast });
  }

  /** Writes that a transaction has left the pool, if the log's pool may have it. */
  async removed({ txid, replacement }: PoolRemoval): Promise<void> {
    const key = keyOf(txid);
    const wasThere = this.#written.delete(key);
    if (this.#kept.delete(key) || wasThere) await this.#writer.add({ type: 'remove', txid, ...(replacement && { replacement }) });
  }

  /** Writes that all transactions have left the pool. */
  async cleared(): Promise<void> {
    this.#written.clear();
    this.#kept.clear();
    await this.#writer.add(WHOLE_CLEAR);
  }

  /** Writes what has changed without an event: fees, marks, heights. */
  async compareIfChanged(): Promise<void> {
    const { silent, fees } = this.#compared;
    if (this.#silentChanges() !== silent || this.#pool.feeFingerprint() !== fees) await this.#compare();
  }

  /**
   * Transactions of the log's pool whose numbers are greater than `after`, in the order of their records. `position`: gives the log's end.
   * The page has about `mostBytes`, or less where the servers do not take as much.
   */
  async page(after: number, mostBytes: number, position: () => LogPosition): Promise<PoolPage> {
    const at = position();
    const most = Math.min(mostBytes, this.#writer.mostBytes / PAGE_SHARE);
    const entries: { readonly number: number; readonly entry: PoolAdd }[] = [];
    let bytes = 0;
    // A copy: the pool goes on while this waits for coins.
    const wanted = Array.from(this.#written.values()).filter(({ number }) => number > after);
    for (const { txid, number } of wanted) {
      const transaction = await this.#pool.withCoins(txid);
      const entry = this.#pool.entry(txid);
      const record = transaction && entry && this.#record(entry, transaction);
      const written = this.#written.get(keyOf(txid));
      if (record === undefined || written === undefined) continue;
      // Not what the pool has by now: if that changed back before the log has it, nobody would say so.
      const { modifiedFee, height, isUnbroadcast } = written;
      entries.push({ number, entry: { ...record, modifiedFee, height, isUnbroadcast } });
      bytes += record.raw.length + record.coins.reduce((sum, { script }) => sum + script.length + 50, 200);
      if (bytes >= most) return { at, entries, more: true };
    }
    return { at, entries, more: false };
  }

  /** False: the record is longer than the servers take. */
  async #addFitting(record: PoolAdd): Promise<boolean> {
    try {
      await this.#writer.add(record);
      return true;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#logger.error(`A transaction of the pool is left out of the log: ${messageOf(error)}.`);
      return false;
    }
  }

  /** What an earlier leader wrote stays where this node has the transaction as well, until it has written it anew. */
  async #begin(txids: readonly Buffer[]): Promise<void> {
    const most = Math.min(MOST_KEPT, Math.floor((this.#writer.mostBytes - CLEAR_BYTES) / HASH_LENGTH));
    for (let part = 0, at = 0; part === 0 || at < txids.length; part++, at += most)
      await this.#writer.add({ type: 'clear', kept: txids.slice(at, at + most), part, hasMore: at + most < txids.length });
    for (const key of txids.map(keyOf)) if (!this.#written.has(key)) this.#kept.add(key);
    this.#isKnown = true;
  }

  async #compare(): Promise<void> {
    this.#compared = { silent: this.#silentChanges(), fees: this.#pool.feeFingerprint() };
    for (const entry of this.#pool.entries()) {
      const written = this.#written.get(keyOf(entry.txid));
      const { modifiedFee, height, isUnbroadcast } = entry;
      if (written === undefined) continue;
      if (written.modifiedFee === modifiedFee && written.height === height && written.isUnbroadcast === isUnbroadcast) continue;
      Object.assign(written, { modifiedFee, height, isUnbroadcast });
      await this.#writer.add({ type: 'change', txid: written.txid, modifiedFee, height, isUnbroadcast });
    }
  }

  /** undefined: the node has the transaction without its coins. */
  #record(
    { size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast }: PoolEntry,
    transaction: PoolTransaction
  ): PoolAdd | undefined {
    try {
      const { raw, coins } = transaction;
      return { type: 'add', raw, coins, size, adjustedWeight, time, height, fee, modifiedFee, isUnbroadcast };
    } catch (error) {
      this.#logger.error(`A transaction of the pool is left out of the log: ${messageOf(error)}.`);
      return undefined;
    }
  }
}
