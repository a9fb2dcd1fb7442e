// bcoin's own pool as transactions enter it.

import { MissingOutputsError, TransactionRefusedError } from './errors';
import { tryInPool } from './trial';
import type { PolicyRefusal } from '../policy/refusal';
import type { Entrance, OfferedMember } from './broadcaster';
import type { HostMempool, HostTransaction, ToHostHash } from './host';
import type { Trials } from './types/pool';

export class OwnEntrance implements Entrance {
  readonly submit = undefined;
  readonly #mempool: HostMempool;
  readonly #toHost: ToHostHash;

  constructor(mempool: HostMempool, toHost: ToHostHash) {
    this.#mempool = mempool;
    this.#toHost = toHost;
  }

  async add(transaction: HostTransaction): Promise<void> {
    let missing;
    try {
      missing = await this.#mempool.addTX(transaction);
    } catch (error) {
      throw new TransactionRefusedError(reasonOf(error), { cause: error });
    }
    // An empty list: it lacks outputs, and the pool does not keep it until they come.
    if (!missing) return;
    // Otherwise the pool would accept the refused transaction later, when its parents come.
    this.#mempool.removeOrphan(this.#toHost(transaction.hash()));
    throw new MissingOutputsError('it spends outputs that are not there');
  }

  async try(members: readonly OfferedMember[]): Promise<Trials> {
    const results = await tryInPool(this.#mempool, members, reasonOf);
    const refused = results.findIndex(({ type }) => type !== 'taken');
    return { results: refused < 0 ? results : results.map((result, i) => (i === refused ? result : undefined)) };
  }

  refused({ reason }: PolicyRefusal): TransactionRefusedError {
    return new TransactionRefusedError(reason);
  }
}

/** The reason in an error. bcoin's VerifyError has it as a field; its message also has hash and score. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
