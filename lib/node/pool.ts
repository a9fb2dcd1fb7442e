// The node's mempool behind PoolSource.

import { share, type Observable } from 'rxjs';
import { fromHost } from './host-hash';
import { poolEvents } from './pool-events';
import type { HostHashes } from './host-hash';
import type { HostChain, HostMempool, HostPoolEntry } from './host';
import type { PoolCoin, PoolEntry, PoolEvent, PoolInfo, PoolSource } from './types';

export class BcoinPool implements PoolSource {
  readonly events$: Observable<PoolEvent>;
  private changes = 0;
  private summed: { readonly revision: number; readonly bytes: number } | undefined;

  constructor(private readonly mempool: HostMempool, chain: HostChain, private readonly hashes: HostHashes) {
    this.events$ = poolEvents(mempool, chain).pipe(share());
    // For as long as the node lives, like the pool itself.
    this.events$.subscribe(() => { this.changes++; });
  }

  get revision(): number {
    return this.changes;
  }

  modifiedFees(): number {
    let total = 0;
    for (const entry of this.mempool.map.values()) total += entry.deltaFee;
    return total;
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
    return Array.from(this.mempool.map.values(), poolEntry);
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

function poolEntry(entry: HostPoolEntry): PoolEntry {
  const { tx } = entry;
  return {
    txid: tx.hash(),
    wtxid: tx.witnessHash(),
    size: entry.size,
    fee: entry.fee,
    modifiedFee: entry.deltaFee,
    time: entry.time,
    height: entry.height,
    spends: tx.inputs.map(({ prevout }) => fromHost(prevout.hash))
  };
}
