// The node's mempool behind PoolSource.

import { share, type Observable } from 'rxjs';
import { fromHost } from './host-hash';
import { poolEvents } from './pool-events';
import type { HostHashes } from './host-hash';
import type { HostChain, HostEntry, HostMempool, HostPoolEntry, HostTransaction } from './host';
import type { PoolCoin, PoolEntry, PoolEvent, PoolInfo, PoolSource } from './types';

/** Odd, so that no bit of a fee is lost (FNV's prime). */
const FINGERPRINT_FACTOR = 0x0100_0193;
const TWO_TO_32 = 0x1_0000_0000;

export class BcoinPool implements PoolSource {
  readonly events$: Observable<PoolEvent>;
  private readonly known = new WeakMap<HostPoolEntry, PoolEntry>();
  /** Put back by a reorganization that is under way. */
  private readonly putBack = new Set<HostPoolEntry>();
  private changes = 0;
  private summed: { readonly revision: number; readonly bytes: number } | undefined;

  constructor(private readonly mempool: HostMempool, chain: HostChain, private readonly hashes: HostHashes) {
    this.events$ = poolEvents(mempool, chain).pipe(share());
    // For as long as the node lives, like the pool itself.
    this.events$.subscribe(() => { this.changes++; });
    let isLast = false;
    mempool.on('unconfirmed', (transaction: HostTransaction) => {
      const entry = mempool.getEntry(hashes.toHost(transaction.hash()));
      if (entry) this.putBack.add(entry);
    });
    // Comes before the last block of the new branch is connected.
    chain.on('reorganize', () => { isLast = true; });
    chain.on('connect', ({ height }: HostEntry) => {
      if (isLast) this.settle(height);
      isLast = false;
    });
  }

  get revision(): number {
    return this.changes;
  }

  feeFingerprint(): number {
    let fingerprint = 0;
    const take = (word: number): void => { fingerprint = Math.imul(fingerprint, FINGERPRINT_FACTOR) + word | 0; };
    for (const { deltaFee } of this.mempool.map.values()) {
      // `| 0` leaves the lower 32 bits of each; what was added may be negative, and more than they hold.
      take(deltaFee);
      take(Math.floor(deltaFee / TWO_TO_32));
    }
    return fingerprint;
  }

  transaction(txid: Buffer): Buffer | undefined {
    return this.mempool.getTX(this.hashes.toHost(txid))?.toRaw();
  }

  coin(txid: Buffer, index: number): PoolCoin | undefined {
    const coin = this.mempool.getCoin(this.hashes.toHost(txid), index);
    return coin === null ? undefined : { value: coin.value, script: coin.script.toRaw() };
  }

  isSpent(txid: Buffer, index: number): boolean {
    return this.mempool.isSpent(this.hashes.toHost(txid), index);
  }

  info(): PoolInfo {
    const { map, options } = this.mempool;
    return {
      size: map.size,
      bytes: this.bytes(),
      usage: this.mempool.getSize(),
      maxUsage: options.maxSize,
      // bcoin has no rolling minimum: what it relays is what it takes.
      minFeeRate: options.minRelay,
      minRelayFeeRate: options.minRelay
    };
  }

  entries(): PoolEntry[] {
    return Array.from(this.mempool.map.values(), (entry) => {
      let known = this.known.get(entry);
      if (known === undefined) this.known.set(entry, known = new BcoinPoolEntry(entry));
      return known;
    });
  }

  /** Bitcoin Core puts transactions back when the new branch is connected, bcoin as soon as their blocks are disconnected. */
  private settle(height: number): void {
    for (const entry of this.putBack) this.known.set(entry, new BcoinPoolEntry(entry, height));
    if (this.putBack.size > 0) this.changes++;
    this.putBack.clear();
  }

  /** Sum of the sizes; counted once per change of the pool. */
  private bytes(): number {
    if (this.summed?.revision !== this.changes) {
      let bytes = 0;
      for (const entry of this.mempool.map.values()) bytes += entry.size;
      this.summed = { revision: this.changes, bytes };
    }
    return this.summed.bytes;
  }
}

/** Reads the node's entry when asked: the hashes of a large pool take a second in one piece. */
class BcoinPoolEntry implements PoolEntry {
  constructor(private readonly entry: HostPoolEntry, readonly height = entry.height) {}

  get txid(): Buffer {
    return this.entry.tx.hash();
  }

  get wtxid(): Buffer {
    return this.entry.tx.witnessHash();
  }

  get size(): number {
    return this.entry.size;
  }

  get fee(): number {
    return this.entry.fee;
  }

  get modifiedFee(): number {
    return this.entry.deltaFee;
  }

  get time(): number {
    return this.entry.time;
  }

  get spends(): readonly Buffer[] {
    return this.entry.tx.inputs.map(({ prevout }) => fromHost(prevout.hash));
  }
}
