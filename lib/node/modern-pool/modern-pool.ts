// Today's pool in the place of bcoin's own acceptance (docs/decisions/pool.md). Peers, calls, other plugins and reorganizations all reach
// bcoin's pool through a few of its methods, which are replaced here. What holds the transactions, tells of them and announces them is
// bcoin's as before.

import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../../policy/limits';
import { PolicyRefusal, RATE_TOO_HIGH } from '../../policy/refusal';
import { Slice } from '../../turns/slices';
import { Admission, missingInputs, type Terms } from './admission';
import { countAllFees } from './fee-estimator';
import { PackageSubmission } from './package-submission';
import { PooledEntries } from './pooled-entries';
import { RefusedError } from './refused-error';
import { Reorganizations } from './reorganizations';
import { ScriptChecks } from './script-checks';
import { spentView } from './spent-view';
import { readSettings, type PoolSettings } from './settings';
import type { ChangeSet } from './change-set';
import type { HostHash, HostMempool, HostNode, HostTransaction, ToHostHash } from '../host';
import type { OfferedMember } from '../broadcaster';
import type { SubmittedPackage } from '../types/pool';

const ALONE: Terms = { mayReplace: true, mayEvictSibling: true };
const TRIED_TOGETHER: Terms = { mayReplace: false, mayEvictSibling: false };

/** bcoin sums up the fees of at most this many ancestors: more than a cluster has, unless a reorganization has made it larger. */
const MOST_ANCESTORS = 2 * LIMITS.mostInCluster;

export class ModernPool {
  readonly settings: PoolSettings;
  readonly entries: PooledEntries;
  readonly #mempool: HostMempool;
  readonly #toHost: ToHostHash;
  readonly #admission: Admission;
  readonly #slice = new Slice();
  #isSubmitting = false;
  /** The most that senders want to pay. bcoin's own way into the pool takes no such terms. */
  readonly #mostRates = new Map<HostTransaction, number>();

  /** Takes over the pool of a node that is not open yet. */
  constructor(host: HostNode, toHost: ToHostHash) {
    const { mempool, chain, workers, miner } = host;
    const settings = (this.settings = readSettings(host));
    this.#mempool = mempool;
    this.#toHost = toHost;
    mempool.options.minRelay = settings.relayRate;
    mempool.options.maxAncestors = MOST_ANCESTORS;
    // Whatever is in the pool may be mined, a parent that pays nothing with its child.
    miner.options.minWeight = Infinity;
    if (host.fees !== null) countAllFees(host.fees);
    const now = (): number => Math.floor(Date.now() / 1_000);
    const entries = (this.entries = new PooledEntries({ mempool, chain, toHost, incrementalRate: settings.incrementalRate, now }));
    const scripts = new ScriptChecks(workers);
    this.#admission = new Admission({
      mempool,
      chain,
      clusters: entries.clusters,
      scripts,
      settings,
      floor: () => entries.floor
    });
    mempool.insertTX = (transaction, peer) => this.#insert(transaction, peer);
    new Reorganizations({ mempool, chain, entries, admission: this.#admission, logger: host.logger, toHost }).follow();
    host.sendTX = async (transaction) => {
      await this.add(transaction);
      if (host.pool.options.selfish) await host.broadcast(transaction);
    };
  }

  /** While transactions enter because a package was submitted. */
  get isSubmitting(): boolean {
    return this.#isSubmitting;
  }

  /** Adds a transaction, or says why not. `mostRate`: as for `submit`. @throws PolicyRefusal */
  async add(transaction: HostTransaction, mostRate = 0): Promise<void> {
    let missing;
    if (mostRate > 0) this.#mostRates.set(transaction, mostRate);
    try {
      missing = await this.#mempool.addTX(transaction);
    } catch (error) {
      throw error instanceof RefusedError ? error.refusal : error;
    } finally {
      this.#mostRates.delete(transaction);
    }
    if (!missing) return;
    // Otherwise the pool would accept the refused transaction later, when its parents come.
    this.#mempool.removeOrphan(this.#toHost(transaction.hash()));
    throw missingInputs();
  }

  /** Whether the pool would take a transaction. @throws PolicyRefusal */
  async try(member: OfferedMember): Promise<ChangeSet> {
    if (member instanceof PolicyRefusal) throw member;
    return this.#locked(() => this.#admission.single(member, ALONE));
  }

  /** Whether the pool would take transactions together. @throws PackageRefusal */
  async tryTogether(members: readonly OfferedMember[]): Promise<ChangeSet> {
    return this.#locked(() => this.#admission.several(members, TRIED_TOGETHER));
  }

  /** `mostRate`: the most that the sender wants to pay, in satoshis per 1,000 virtual bytes; 0: no limit. */
  async submit(members: readonly OfferedMember[], mostRate: number): Promise<SubmittedPackage> {
    return this.#locked(async () => {
      this.#isSubmitting = true;
      try {
        return await new PackageSubmission(this.entries, this.#admission, members, mostRate).submit();
      } finally {
        this.#isSubmitting = false;
      }
    });
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const unlock = await this.#mempool.locker.lock();
    try {
      return await work();
    } finally {
      unlock();
    }
  }

  /** @throws PolicyRefusal */
  async #admit(transaction: HostTransaction): Promise<void> {
    const mostRate = this.#mostRates.get(transaction);
    const change = await this.#admission.single(transaction, mostRate === undefined ? ALONE : { ...ALONE, mostRate });
    await this.entries.carryOut(change);
    await this.entries.limitSize();
    const [added] = change.added;
    if (added !== undefined && !this.entries.has(added.member)) throw new PolicyRefusal('fee', 'mempool full');
  }

  /** As bcoin's own method. @throws RefusedError */
  async #insert(transaction: HostTransaction, peer: number): Promise<readonly HostHash[] | null> {
    // Transactions that come together may all be handled without anything to wait for.
    if (this.#slice.isOver()) await setImmediate();
    try {
      await this.#admit(transaction);
      return null;
    } catch (error) {
      if (!(error instanceof PolicyRefusal)) throw error;
      const hash = this.#toHost(transaction.hash());
      // Another sender may send it.
      const mayComeAgain = error.kind === 'fee' || error.kind === 'stripped' || error.reason === RATE_TOO_HIGH;
      if (error.kind !== 'missing') throw new RefusedError(error, hash, mayComeAgain);
      this.#mempool.removeOrphan(hash);
      return this.#mempool.maybeOrphan(transaction, await spentView(this.#mempool, transaction), peer);
    }
  }
}
