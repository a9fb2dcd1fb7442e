// Gives transactions to the node's pool, and through it to the network; and asks the pool whether it would accept them.

import { scanWholeTransaction, type ScannedTransaction } from '../bitcoin/transaction';
import { TransactionRefusedError, UnreadableTransactionError } from './errors';
import { earlyRefusal } from './first-checks';
import { HostTransactions } from './host-transactions';
import { PolicyRefusal } from '../policy/refusal';
import { Lock } from '../turns/lock';
import type { HostHash, HostNode, HostTransaction, ToHostHash } from './host';
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
  readonly #transactions: HostTransactions;
  /** Large transactions take many turns to be read: what comes after one may spend from it, and reaches the pool after it. */
  readonly #inOrder = new Lock();

  constructor(host: HostNode, toHost: ToHostHash, entrance: Entrance) {
    this.#host = host;
    this.#toHost = toHost;
    this.#entrance = entrance;
    this.#transactions = new HostTransactions(host);
  }

  /** @throws TransactionRefusedError */
  async broadcast(bytes: Buffer, mostRate: number): Promise<void> {
    const scanned = scan(bytes);
    await this.#afterEarlier([scanned], ([offered]) => {
      if (offered instanceof PolicyRefusal) throw this.#entrance.refused(offered);
      return this.#enter(offered as HostTransaction, mostRate); // one was offered
    });
  }

  /** @throws UnreadableTransactionError */
  async try(transactions: readonly Buffer[]): Promise<Trials> {
    return this.#afterEarlier(transactions.map(scan), (members) => this.#entrance.try(members));
  }

  /** undefined: the pool takes only one transaction at a time. @throws UnreadableTransactionError */
  async submit(transactions: readonly Buffer[], mostRate: number): Promise<SubmittedPackage | undefined> {
    const { submit } = this.#entrance;
    if (submit === undefined) return undefined;
    return this.#afterEarlier(transactions.map(scan), async (members) => {
      const submitted = await submit(members, mostRate);
      for (const [i, member] of members.entries()) {
        if (member instanceof PolicyRefusal) continue;
        const type = submitted.members[i]?.type;
        if (type === 'pooled' || (type === 'entered' && this.#host.pool.options.selfish)) this.#announce(member);
      }
      return submitted;
    });
  }

  /** Reads the transactions, and begins to give them to the pool once all that came earlier have got so far. */
  async #afterEarlier<T>(transactions: readonly ScannedTransaction[], give: (members: readonly OfferedMember[]) => Promise<T>): Promise<T> {
    const { given } = await this.#inOrder.run(async () => {
      const members: OfferedMember[] = [];
      for (const transaction of transactions) members.push(this.#refusalOf(transaction) ?? (await this.#transactions.read(transaction)));
      return { given: give(members) };
    });
    return given;
  }

  /** @throws TransactionRefusedError */
  async #enter(transaction: HostTransaction, mostRate: number): Promise<void> {
    const hash = this.#toHost(transaction.hash());
    if (this.#announcePooled(hash)) return;
    try {
      await this.#entrance.add(transaction, mostRate);
    } catch (error) {
      // It may have come twice at once.
      if (error instanceof TransactionRefusedError && this.#announcePooled(hash)) return;
      throw error;
    }
    // A node that is not selfish announces transactions that enter its pool by itself.
    if (this.#host.pool.options.selfish) await this.#host.broadcast(transaction);
  }

  /** Announces the pool's transaction of that txid, if there is one: with the witness that was checked, whatever witness another one has. */
  #announcePooled(hash: HostHash): boolean {
    const entry = this.#host.mempool.getEntry(hash);
    if (entry) this.#announce(entry.tx);
    return Boolean(entry);
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
}

/** bcoin also reads superfluous witnesses, and ignores bytes after a transaction. Bitcoin Core refuses both. @throws UnreadableTransactionError */
function scan(bytes: Buffer): ScannedTransaction {
  try {
    return scanWholeTransaction(bytes);
  } catch (error) {
    throw new UnreadableTransactionError('it cannot be read', { cause: error });
  }
}
