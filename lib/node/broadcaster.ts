// Gives transactions to the node's pool, and through it to the network; and asks the pool whether it would accept them.

import { scanWholeTransaction, type ScannedTransaction } from '../bitcoin/transaction';
import { TransactionRefusedError, UnreadableTransactionError } from './errors';
import { earlyRefusal } from './first-checks';
import { PolicyRefusal } from '../policy/refusal';
import type { HostNode, HostTransaction, HostTransactionClass, ToHostHash } from './host';
import type { SubmittedPackage, Trials } from './types/pool';

/** How transactions enter the pool. */
export interface Entrance {
  /** `mostRate`: as for `submit`; bcoin's own pool has a limit of its own, 10,000 times its relay fee. @throws TransactionRefusedError */
  add(transaction: HostTransaction, mostRate: number): Promise<void>;
  /** Whether the pool would accept the transactions, one after another or together; none enters it. */
  try(members: readonly OfferedMember[]): Promise<Trials>;
  /** Adds a child with its parents; undefined: the pool takes only one transaction at a time. */
  readonly submit: ((members: readonly OfferedMember[], mostRate: number) => Promise<SubmittedPackage>) | undefined;
  /** As the pool words a refusal that it did not make itself. */
  refused(refusal: PolicyRefusal): TransactionRefusedError;
}

/** Of several: a transaction, or why it is refused before bcoin reads it. */
export type OfferedMember = HostTransaction | PolicyRefusal;

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
  async broadcast(bytes: Buffer, mostRate: number): Promise<void> {
    const { mempool, pool } = this.#host;
    const scanned = scan(bytes);
    const early = this.#refusalOf(scanned);
    if (early !== undefined) throw this.#entrance.refused(early);
    const transaction = await this.#read(scanned);
    const entry = mempool.getEntry(this.#toHost(transaction.hash()));
    if (entry) {
      // The one that was checked: another may have the same txid and a wrong witness.
      this.#announce(entry.tx);
      return;
    }
    await this.#entrance.add(transaction, mostRate);
    // A node that is not selfish announces transactions that enter its pool by itself.
    if (pool.options.selfish) await this.#host.broadcast(transaction);
  }

  /** @throws UnreadableTransactionError */
  async try(transactions: readonly Buffer[]): Promise<Trials> {
    const scanned = transactions.map(scan);
    return this.#entrance.try(await this.#offer(scanned));
  }

  /** undefined: the pool takes only one transaction at a time. @throws UnreadableTransactionError */
  async submit(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined> {
    if (this.#entrance.submit === undefined) return undefined;
    const scanned = transactions.map(scan);
    const members = await this.#offer(scanned);
    const submitted = await this.#entrance.submit(members, mostRate);
    for (const [i, member] of members.entries()) {
      if (member instanceof PolicyRefusal) continue;
      const type = submitted.members[i]?.type;
      if (type === 'pooled' || (type === 'entered' && this.#host.pool.options.selfish)) this.#announce(member);
    }
    return submitted;
  }

  /** Announces a transaction to peers that have not heard of it yet. Does not wait for their answers. */
  #announce(transaction: HostTransaction): void {
    const { pool } = this.#host;
    if (pool.options.selfish) void this.#host.broadcast(transaction);
    else pool.announceTX(transaction);
  }

  #refusalOf(transaction: ScannedTransaction): PolicyRefusal | undefined {
    const { chain, mempool } = this.#host;
    return earlyRefusal(transaction, { chain, requireStandard: mempool.options.requireStandard });
  }

  #offer(transactions: readonly ScannedTransaction[]): Promise<OfferedMember[]> {
    return Promise.all(transactions.map(async (each) => this.#refusalOf(each) ?? (await this.#read(each))));
  }

  async #read({ raw }: ScannedTransaction): Promise<HostTransaction> {
    const hostClass = (this.#hostClass ??= await this.#findClass());
    try {
      return hostClass.fromRaw(raw);
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

/** bcoin also reads superfluous witnesses, and ignores bytes after a transaction. Bitcoin Core refuses both. @throws UnreadableTransactionError */
function scan(bytes: Buffer): ScannedTransaction {
  try {
    return scanWholeTransaction(bytes);
  } catch (error) {
    throw new UnreadableTransactionError('it cannot be read', { cause: error });
  }
}
