// Transactions of the pool that no peer is known to have: they were given to this node, and no peer has since asked for or sent them.
// Bitcoin Core does not count those that were given in a package.

import { keyOf } from '../bitcoin/hash';
import type { HostEmitter, HostHash, HostMempool, HostPoolEntry, HostTransaction, ToHostHash } from './host';

/** Types of messages between peers (net/packets.js). */
const [GET_DATA, TRANSACTION] = [7, 14] as const;

/** The part of a peer's message that we need. */
interface HostPacket {
  readonly type: number;
  /** In GET_DATA: the items asked for. */
  readonly items?: readonly { readonly hash: HostHash }[];
  /** In TRANSACTION. */
  readonly tx?: HostTransaction;
}

/** More than bcoin keeps, which is 100. */
const MOST_ORPHANS = 1_000;

export class Unbroadcast {
  readonly #entries = new Set<HostPoolEntry>();
  /** Transactions of peers that wait for their parents. */
  readonly #orphans = new Set<string>();
  readonly #mempool: HostMempool;
  readonly #onChange: (entry: HostPoolEntry) => void;

  /**
   * `peers`: the node's connections. `isPackage`: whether what enters the pool now was given in a package. `onChange`: called with an entry
   * that stays in the pool and is no longer unbroadcast.
   */
  constructor(
    mempool: HostMempool,
    peers: HostEmitter,
    toHost: ToHostHash,
    isPackage: () => boolean,
    onChange: (entry: HostPoolEntry) => void
  ) {
    this.#mempool = mempool;
    this.#onChange = onChange;
    mempool.on('add orphan', (transaction: HostTransaction) => {
      if (this.#orphans.size >= MOST_ORPHANS) this.#orphans.clear();
      this.#orphans.add(keyOf(transaction.hash()));
    });
    mempool.on('remove orphan', (transaction: HostTransaction) => {
      this.#orphans.delete(keyOf(transaction.hash()));
    });
    mempool.on('add entry', (entry: HostPoolEntry) => {
      if (!this.#orphans.delete(keyOf(entry.tx.hash())) && !isPackage()) this.#entries.add(entry);
    });
    mempool.on('remove entry', (entry: HostPoolEntry) => {
      this.#entries.delete(entry);
    });
    // The transaction is from a disconnected block, so peers have it.
    mempool.on('unconfirmed', (transaction: HostTransaction) => {
      this.#forget(toHost(transaction.hash()));
    });
    peers.on('packet', ({ type, items = [], tx }: HostPacket) => {
      if (this.#entries.size === 0) return;
      if (type === TRANSACTION && tx !== undefined) this.#forget(toHost(tx.hash()));
      if (type === GET_DATA) for (const { hash } of items) this.#forget(hash);
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  has(entry: HostPoolEntry): boolean {
    return this.#entries.has(entry);
  }

  /** To be called when the pool was emptied. */
  clear(): void {
    this.#entries.clear();
  }

  #forget(hash: HostHash): void {
    const entry = this.#mempool.getEntry(hash);
    if (entry && this.#entries.delete(entry)) this.#onChange(entry);
  }
}
