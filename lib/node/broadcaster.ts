// Hands transactions to the node's pool, and through it to the network; and asks the pool whether it would take them.

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
    // Otherwise the pool announces by itself what enters it.
    if (pool.options.selfish) await this.#host.broadcast(transaction);
  }

  /** Whether the pool would take them one after the other. @throws UnreadableTransactionError */
  async try(transactions: readonly Buffer[]): Promise<TrialResult[]> {
    return tryInPool(this.#host.mempool, await Promise.all(transactions.map((bytes) => this.#parse(bytes))), reasonOf);
  }

  /** Tells peers that have not heard of it yet. Nothing waits for their answers. */
  #announce(transaction: HostTransaction): void {
    const { pool } = this.#host;
    if (pool.options.selfish) void this.#host.broadcast(transaction);
    else pool.announceTX(transaction);
  }

  async #parse(bytes: Buffer): Promise<HostTransaction> {
    const hostClass = (this.#hostClass ??= await this.#findClass());
    try {
      // bcoin also reads superfluous witnesses, and ignores what follows a transaction. Bitcoin Core refuses both.
      scanWholeTransaction(bytes);
      return hostClass.fromRaw(bytes);
    } catch (error) {
      throw new UnreadableTransactionError('it cannot be read', { cause: error });
    }
  }

  /** The node's own class of transactions, off its genesis block: requiring bcoin would load a second copy. */
  async #findClass(): Promise<HostTransactionClass> {
    const genesis = await this.#host.chain.getBlock(this.#host.network.genesis.hash);
    const [coinbase] = genesis?.txs ?? [];
    if (coinbase === undefined) throw new Error('the node has no genesis block');
    return coinbase.constructor as unknown as HostTransactionClass;
  }
}

/** bcoin's VerifyError has the reason alone, beside a message with hash and score. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
