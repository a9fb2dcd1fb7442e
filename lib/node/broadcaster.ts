// Gives transactions to the node's pool, and through it to the network; and asks the pool whether it would accept them.

import { scanWholeTransaction } from '../bitcoin/transaction';
import { UnreadableTransactionError } from './errors';
import type { HostNode, HostTransaction, HostTransactionClass, ToHostHash } from './host';
import type { SubmittedPackage, Trials } from './types';

/** How transactions enter the pool. */
export interface Entrance {
  /** @throws TransactionRefusedError */
  add(transaction: HostTransaction): Promise<void>;
  /** Whether the pool would accept the transactions, one after another or together; none enters it. */
  try(transactions: readonly HostTransaction[]): Promise<Trials>;
  /** Adds a child with its parents; undefined: the pool takes only one transaction at a time. */
  readonly submit: ((transactions: readonly HostTransaction[], mostRate: number) => Promise<SubmittedPackage>) | undefined;
}

export class Broadcaster {
  readonly #host: HostNode;
  readonly #toHost: ToHostHash;
  readonly #entrance: Entrance;
  #hostClass: HostTransactionClass | undefined;

  constructor(host: HostNode, toHost: ToHostHash, entrance: Entrance) {
    this.#host = host;
    this.#toHost = toHost;
    this.#entrance = entrance;
  }

  /** @throws TransactionRefusedError */
  async broadcast(bytes: Buffer): Promise<void> {
    const { mempool, pool } = this.#host;
    const transaction = await this.#parse(bytes);
    const entry = mempool.getEntry(this.#toHost(transaction.hash()));
    if (entry) {
      // The one that was checked: another may have the same txid and a wrong witness.
      this.#announce(entry.tx);
      return;
    }
    await this.#entrance.add(transaction);
    // A node that is not selfish announces transactions that enter its pool by itself.
    if (pool.options.selfish) await this.#host.broadcast(transaction);
  }

  /** @throws UnreadableTransactionError */
  async try(transactions: readonly Buffer[]): Promise<Trials> {
    return this.#entrance.try(await this.#parseAll(transactions));
  }

  /** undefined: the pool takes only one transaction at a time. @throws UnreadableTransactionError */
  async submit(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined> {
    const parsed = await this.#parseAll(transactions);
    const submitted = await this.#entrance.submit?.(parsed, mostRate);
    for (const [i, transaction] of parsed.entries()) {
      const type = submitted?.members[i]?.type;
      if (type === 'pooled' || (type === 'entered' && this.#host.pool.options.selfish)) this.#announce(transaction);
    }
    return submitted;
  }

  /** Announces a transaction to peers that have not heard of it yet. Does not wait for their answers. */
  #announce(transaction: HostTransaction): void {
    const { pool } = this.#host;
    if (pool.options.selfish) void this.#host.broadcast(transaction);
    else pool.announceTX(transaction);
  }

  #parseAll(transactions: readonly Buffer[]): Promise<HostTransaction[]> {
    return Promise.all(transactions.map((bytes) => this.#parse(bytes)));
  }

  async #parse(bytes: Buffer): Promise<HostTransaction> {
    const hostClass = (this.#hostClass ??= await this.#findClass());
    try {
      // bcoin also reads superfluous witnesses, and ignores bytes after a transaction. Bitcoin Core refuses both.
      scanWholeTransaction(bytes);
      return hostClass.fromRaw(bytes);
    } catch (error) {
      throw new UnreadableTransactionError('it cannot be read', { cause: error });
    }
  }

  /** The node's own class of transactions, taken from its genesis block: requiring bcoin would load a second copy of bcoin. */
  async #findClass(): Promise<HostTransactionClass> {
    const genesis = await this.#host.chain.getBlock(this.#host.network.genesis.hash);
    const [coinbase] = genesis?.txs ?? [];
    if (coinbase === undefined) throw new Error('the node has no genesis block');
    return coinbase.constructor as unknown as HostTransactionClass;
  }
}
