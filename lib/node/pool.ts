// The node's mempool behind PoolSource.

import { share, type Observable } from 'rxjs';
import { FeeFingerprint } from './fee-fingerprint';
import { FollowedBlock } from './followed-block';
import {
  sameHostHash,
  type HostChain,
  type HostEmitter,
  type HostEntry,
  type HostMempool,
  type HostPoolEntry,
  type HostTransaction,
  type ToHostHash
} from './host';
import { BcoinPoolEntry, BcoinPoolTransaction } from './pool-entry';
import { poolEvents } from './pool-events';
import { Unbroadcast } from './unbroadcast';
import type { ModernPool } from './modern-pool/modern-pool';
import type { FollowedMove, PoolCoin, PoolEntry, PoolEvent, PoolInfo, PoolSource, PoolTransaction } from './types/pool';

/** Longest script that carries data, in a pool that accepts only standard transactions (policy.js). */
const MOST_STANDARD_DATA_BYTES = 83;
/** Longest transaction that the pool accepts: in other pools only this limits such a script. */
const MOST_TRANSACTION_BYTES = 100_000;

export class BcoinPool implements PoolSource {
  readonly events$: Observable<PoolEvent>;
  readonly #mempool: HostMempool;
  readonly #toHost: ToHostHash;
  readonly #known = new WeakMap<HostPoolEntry, PoolEntry>();
  /** Entries that the current reorganization has put back. */
  readonly #putBack = new Set<HostPoolEntry>();
  readonly #unbroadcast: Unbroadcast;
  readonly #modern: ModernPool | undefined;
  readonly #followed: FollowedBlock;
  #revision = 0;
  #sequence = 1;
  #summed: { readonly revision: number; readonly bytes: number; readonly fees: number } | undefined;

  /** `peers`: the node's connections. `modern`: decides what enters the pool; undefined: bcoin does. */
  constructor(mempool: HostMempool, chain: HostChain, peers: HostEmitter, toHost: ToHostHash, modern: ModernPool | undefined) {
    this.#mempool = mempool;
    this.#toHost = toHost;
    this.#modern = modern;
    const isPackage = (): boolean => modern?.isSubmitting === true;
    this.#unbroadcast = new Unbroadcast(mempool, peers, toHost, isPackage, (entry) => {
      if (this.#known.delete(entry)) this.#revision++;
    });
    this.#followed = new FollowedBlock(chain);
    this.events$ = poolEvents(mempool, chain, this.#followed, modern).pipe(share());
    // Never unsubscribed: this lives as long as the node and its pool.
    this.events$.subscribe((event) => {
      this.#revision++;
      this.#sequence += event.type === 'clear' ? (event.txids?.length ?? 0) : 1;
      if (event.type === 'clear') this.#unbroadcast.clear();
    });
    let isLast = false;
    mempool.on('unconfirmed', (transaction: HostTransaction) => {
      const entry = mempool.getEntry(toHost(transaction.hash()));
      if (entry) this.#putBack.add(entry);
    });
    // Emitted before the last block of the new branch is connected.
    chain.on('reorganize', () => {
      isLast = true;
    });
    chain.on('connect', ({ height }: HostEntry) => {
      if (isLast) this.#settle(height);
      isLast = false;
    });
  }

  get revision(): number {
    return this.#revision;
  }

  get sequence(): number {
    return this.#sequence;
  }

  get following(): FollowedMove | undefined {
    return this.#followed.move;
  }

  feeFingerprint(): number {
    const fingerprint = new FeeFingerprint();
    for (const { deltaFee } of this.#mempool.map.values()) fingerprint.take(deltaFee);
    return fingerprint.value;
  }

  transaction(txid: Buffer): Buffer | undefined {
    return this.#mempool.getTX(this.#toHost(txid))?.toRaw();
  }

  coin(txid: Buffer, index: number): PoolCoin | undefined {
    const coin = this.#mempool.getCoin(this.#toHost(txid), index);
    return coin === null ? undefined : { value: coin.value, script: coin.script.toRaw() };
  }

  isSpent(txid: Buffer, index: number): boolean {
    return this.#mempool.isSpent(this.#toHost(txid), index);
  }

  spender(txid: Buffer, index: number): { readonly txid: Buffer; readonly input: number } | undefined {
    const spent = this.#toHost(txid);
    const entry = this.#mempool.getSpent(spent, index);
    if (entry === undefined) return undefined;
    const input = entry.tx.inputs.findIndex(({ prevout }) => prevout.index === index && sameHostHash(prevout.hash, spent));
    return { txid: entry.tx.hash(), input };
  }

  txids(): Buffer[] {
    return Array.from(this.#mempool.map.values(), ({ tx }) => tx.hash());
  }

  async withCoins(txid: Buffer): Promise<PoolTransaction | undefined> {
    const hash = this.#toHost(txid);
    const entry = this.#mempool.getEntry(hash);
    if (!entry) return undefined;
    const view = await this.#mempool.getSpentView(entry.tx);
    const isThere = this.#mempool.getEntry(hash) === entry && entry.tx.inputs.every(({ prevout }) => view.hasEntry(prevout));
    return isThere ? new BcoinPoolTransaction(entry.tx, view) : undefined;
  }

  info(): PoolInfo {
    const { map: pooled, options } = this.#mempool;
    const { bytes, fees } = this.#sums();
    const settings = this.#modern?.settings;
    return {
      size: pooled.size,
      bytes,
      totalFee: fees,
      unbroadcast: this.#unbroadcast.size,
      mostDataCarrierBytes: settings === undefined && options.requireStandard ? MOST_STANDARD_DATA_BYTES : MOST_TRANSACTION_BYTES,
      usage: this.#mempool.getSize(),
      maxUsage: options.maxSize,
      // bcoin itself has no rolling minimum: it accepts whatever it relays.
      minFeeRate: Math.max(this.#modern?.entries.floor ?? 0, options.minRelay),
      minRelayFeeRate: options.minRelay,
      replaces: settings?.replaces ?? false
    };
  }

  entries(): PoolEntry[] {
    return Array.from(this.#mempool.map.values(), (entry) => this.#ours(entry));
  }

  entry(txid: Buffer): PoolEntry | undefined {
    const entry = this.#mempool.getEntry(this.#toHost(txid));
    return entry ? this.#ours(entry) : undefined;
  }

  #ours(entry: HostPoolEntry): PoolEntry {
    let known = this.#known.get(entry);
    if (known === undefined) this.#known.set(entry, (known = new BcoinPoolEntry(entry, this.#unbroadcast)));
    return known;
  }

  /** Sets the height of entries put back: Bitcoin Core does so when the new branch is connected, bcoin at once after a disconnect. */
  #settle(height: number): void {
    for (const entry of this.#putBack) this.#known.set(entry, new BcoinPoolEntry(entry, this.#unbroadcast, height));
    if (this.#putBack.size > 0) this.#revision++;
    this.#putBack.clear();
  }

  /** The sums of sizes and fees, counted once per change of the pool. */
  #sums(): { readonly bytes: number; readonly fees: number } {
    if (this.#summed?.revision !== this.#revision) {
      let [bytes, fees] = [0, 0];
      for (const { size, fee } of this.#mempool.map.values()) {
        bytes += size;
        fees += fee;
      }
      this.#summed = { revision: this.#revision, bytes, fees };
    }
    return this.#summed;
  }
}
