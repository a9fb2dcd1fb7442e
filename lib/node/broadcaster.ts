// Gives transactions to the node's pool, and through it to the network; and asks the pool whether it would accept them.

import { scanWholeTransaction } from '../bitcoin/transaction';
import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError } from './errors';
import { tryInPool } from './trial';
import type { HostNode, HostTransaction, HostTransactionClass, ToHostHash } from './host';
import type { TrialResult } from './types';

export class Broadcaster {
  readonly #host: HostNode;
  readonly #toHost: ToHostHash;
  #hostClass: HostTransactionClass | undefined;

  constructor(host: HostNode, toHost: ToHostHash) {
    this.#host = host;
    this.#toHost = toHost;
  }

  /** @throws TransactionRefusedError */
  async broadcast(bytes: Buffer): Promise<void> {
    const { mempool, pool } = this.#host;
    const transaction = await this.#parse(bytes);
    const hash = this.#toHost(transaction.hash());
    if (mempool.hasEntry(hash)) {
      this.#announce(transaction);
      return;
    }
    let missing;
    try {
      missing = await mempool.addTX(transaction);
    } catch (error) {
      throw new TransactionRefusedError(reasonOf(error), { cause: error });
    }
    if (missing && missing.length > 0) {
      // Otherwise the pool would accept the refused transaction later, when its parents come.
      mempool.removeOrphan(hash);
      throw new MissingOutputsError('it spends outputs that are not there');
    }
    // A node that is not selfish announces transactions that enter its pool by itself.
    if (pool.options.selfish) await this.#host.broadcast(transaction);
  }

  /** Whether the pool would accept the transactions one after another. @throws UnreadableTransactionError */
  async try(transactions: readonly Buffer[]): Promise<TrialResult[]> {
    return tryInPool(this.#host.mempool, await Promise.all(transactions.map((bytes) => this.#parse(bytes))), reasonOf);
  }

  /** Announces a transaction to peers that have not heard of it yet. Does not wait for their answers. */
  #announce(transaction: HostTransaction): void {
    const { pool } = this.#host;
    if (pool.options.selfish) void this.#host.broadcast(transaction);
    else pool.announceTX(transaction);
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

/** The reason in an error. bcoin's VerifyError has it as a field; its message also has hash and score. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
