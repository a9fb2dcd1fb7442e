// The node's pool as the log tells it, in memory. Transactions of a block leave it with the block, before the log says so: whoever looks
// between two records sees the pool as it is after the block.

import { Subject, type Observable } from 'rxjs';
import { HASH_LENGTH, keyOf, keyOfOutpoint } from '../../bitcoin/hash';
import { scanWholeTransaction } from '../../bitcoin/transaction';
import { UntrueRecordError } from './errors';
import { ReplicaEntry } from './pool-entry';
import { FeeFingerprint } from '../../node/fee-fingerprint';
import type { SpentOutpoint } from '../../bitcoin/block';
import type { BeatPool, PoolAdd, PoolChange, PoolClear, PoolRecord, PoolRemove } from '../messages/records';
import type { PoolCoin, PoolEntry, PoolEvent, PoolInfo, PoolSource, PoolTransaction } from '../../node/types/pool';

/** Until the first beat. */
const NO_BEAT: BeatPool = {
  mostDataCarrierBytes: 0,
  usage: 0,
  maxUsage: 0,
  minFeeRate: 0,
  minRelayFeeRate: 0,
  replaces: false,
  size: 0,
  bytes: 0
};

/** Transactions that a clearing may keep. No pool has as many. */
const MOST_KEPT = 1_000_000;

interface Spender {
  readonly txid: Buffer;
  readonly input: number;
}

export class PoolReplica implements PoolSource {
  readonly events$: Observable<PoolEvent>;
  readonly #events = new Subject<PoolEvent>();
  /** Runs work at a moment in which no record is being applied. */
  readonly #withChainLock: <T>(use: () => T) => Promise<T>;
  /** By txid as a latin1 string, in the order of entering. */
  readonly #entries = new Map<string, ReplicaEntry>();
  /** By outpoint. */
  readonly #spenders = new Map<string, Spender>();
  /** What a clearing whose records are still coming keeps. */
  #keeping: { readonly keys: Set<string>; parts: number } | undefined;
  #figures = NO_BEAT;
  #revision = 0;
  #bytes = 0;
  #fees = 0;
  #unbroadcast = 0;
  #fingerprint: number | undefined;

  constructor(withChainLock: <T>(use: () => T) => Promise<T>) {
    this.#withChainLock = withChainLock;
    this.events$ = this.#events.asObservable();
  }

  get revision(): number {
    return this.#revision;
  }

  get sequence(): number {
    return this.#revision + 1;
  }

  get following(): undefined {
    return undefined;
  }

  feeFingerprint(): number {
    this.#fingerprint ??= fingerprintOf(this.#entries.values());
    return this.#fingerprint;
  }

  transaction(txid: Buffer): Buffer | undefined {
    return this.#entries.get(keyOf(txid))?.raw;
  }

  coin(txid: Buffer, index: number): PoolCoin | undefined {
    return this.isSpent(txid, index) ? undefined : this.#entries.get(keyOf(txid))?.output(index);
  }

  isSpent(txid: Buffer, index: number): boolean {
    return this.#spenders.has(keyOfOutpoint(txid, index));
  }

  spender(txid: Buffer, index: number): Spender | undefined {
    return this.#spenders.get(keyOfOutpoint(txid, index));
  }

  txids(): Buffer[] {
    return Array.from(this.#entries.values(), ({ txid }) => txid);
  }

  withCoins(txid: Buffer): Promise<PoolTransaction | undefined> {
    return this.#withChainLock(() => this.#entries.get(keyOf(txid)));
  }

  info(): PoolInfo {
    const { mostDataCarrierBytes, usage, maxUsage, minFeeRate, minRelayFeeRate, replaces } = this.#figures;
    return {
      size: this.#entries.size,
      bytes: this.#bytes,
      totalFee: this.#fees,
      unbroadcast: this.#unbroadcast,
      mostDataCarrierBytes,
      usage,
      maxUsage,
      minFeeRate,
      minRelayFeeRate,
      replaces
    };
  }

  entries(): PoolEntry[] {
    return [...this.#entries.values()];
  }

  entry(txid: Buffer): PoolEntry | undefined {
    return this.#entries.get(keyOf(txid));
  }

  has(txid: Buffer): boolean {
    return this.#entries.has(keyOf(txid));
  }

  /** Takes over what only the node knows of its pool. */
  note(figures: BeatPool): void {
    this.#figures = figures;
  }

  /** @throws MalformedBytesError for a transaction that cannot be read, UntrueRecordError for one without its coins */
  apply(record: PoolRecord): void {
    switch (record.type) {
      case 'add':
        this.#add(record);
        break;
      case 'remove':
        this.#remove(record);
        break;
      case 'change':
        this.#change(record);
        break;
      case 'clear':
        this.#clear(record);
        break;
    }
  }

  /** Drops the transactions of a block, whose txids are concatenated, and as replaced what spends the same as they do. */
  blockCame(txids: Buffer, spent: Iterable<SpentOutpoint>): void {
    if (this.#entries.size === 0) return;
    const confirmed = new Set<string>();
    for (let at = 0; at < txids.length; at += HASH_LENGTH) confirmed.add(keyOf(txids.subarray(at, at + HASH_LENGTH)));
    for (const { txid, index, spender } of spent) {
      const displaced = this.spender(txid, index);
      if (displaced === undefined || confirmed.has(keyOf(displaced.txid))) continue;
      const at = spender * HASH_LENGTH;
      // A copy: it is remembered for longer than the block.
      this.#evict(displaced.txid, Buffer.from(txids.subarray(at, at + HASH_LENGTH)));
    }
    for (const key of confirmed) this.#drop(key);
  }

  #add(add: PoolAdd): void {
    const entry = new ReplicaEntry(scanWholeTransaction(add.raw), add);
    if (add.coins.length !== entry.inputs.length)
      throw new UntrueRecordError(`expected ${entry.inputs.length} coins of a transaction in the pool, got ${add.coins.length}`);
    const key = keyOf(entry.txid);
    const before = this.#entries.get(key);
    const isSame = before?.raw.equals(entry.raw) === true;
    if (before !== undefined && !isSame) this.#drop(key);
    else if (before !== undefined) this.#count(before, -1);
    // One that is there already keeps its place in the map.
    this.#entries.set(key, entry);
    this.#count(entry, 1);
    for (const [input, { txid, index }] of entry.inputs.entries())
      this.#spenders.set(keyOfOutpoint(txid, index), { txid: entry.txid, input });
    this.#changed();
    if (!isSame) this.#events.next({ type: 'add', txid: entry.txid, raw: entry.raw, coins: entry.coins });
  }

  #remove({ txid, replacement }: PoolRemove): void {
    this.#drop(keyOf(txid), replacement);
  }

  #change({ txid, modifiedFee, height, isUnbroadcast }: PoolChange): void {
    const key = keyOf(txid);
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#fingerprint = undefined;
    entry.modifiedFee = modifiedFee;
    if (entry.height === height && entry.isUnbroadcast === isUnbroadcast) return;
    this.#count(entry, -1);
    const changed = entry.with({ height, isUnbroadcast });
    this.#entries.set(key, changed);
    this.#count(changed, 1);
    this.#changed();
  }

  /** Without its first records, a clearing says nothing: this pool came from a node that has written it. */
  #clear({ kept, part, hasMore }: PoolClear): void {
    const keeping = part === 0 ? { keys: new Set<string>(), parts: 0 } : this.#keeping;
    const follows = keeping?.parts === part && keeping.keys.size + kept.length <= MOST_KEPT;
    this.#keeping = follows && hasMore ? keeping : undefined;
    if (!follows) return;
    for (const txid of kept) keeping.keys.add(keyOf(txid));
    keeping.parts++;
    if (hasMore) return;
    if (keeping.keys.size > 0) {
      // Whoever listens to the pool has nothing to do for those that stay.
      for (const key of [...this.#entries.keys()]) if (!keeping.keys.has(key)) this.#drop(key);
      return;
    }
    for (const [key, entry] of this.#entries) this.#forget(key, entry);
    this.#changed();
    this.#events.next({ type: 'clear' });
  }

  /** Removes a transaction, and first all that spend from it. */
  #evict(txid: Buffer, replacement: Buffer): void {
    const entry = this.#entries.get(keyOf(txid));
    if (entry === undefined) return;
    for (let index = 0; index < entry.outputCount; index++) {
      const spender = this.spender(txid, index);
      if (spender !== undefined) this.#evict(spender.txid, replacement);
    }
    this.#drop(keyOf(txid), replacement);
  }

  #drop(key: string, replacement?: Buffer): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#forget(key, entry);
    this.#changed();
    this.#events.next({ type: 'remove', txid: entry.txid, ...(replacement && { replacement }) });
  }

  #forget(key: string, entry: ReplicaEntry): void {
    this.#entries.delete(key);
    this.#count(entry, -1);
    for (const { txid, index } of entry.inputs) {
      const outpoint = keyOfOutpoint(txid, index);
      // Another transaction may have taken its place already.
      if (this.#spenders.get(outpoint)?.txid.equals(entry.txid) === true) this.#spenders.delete(outpoint);
    }
  }

  #count({ size, fee, isUnbroadcast }: ReplicaEntry, sign: 1 | -1): void {
    this.#bytes += sign * size;
    this.#fees += sign * fee;
    if (isUnbroadcast) this.#unbroadcast += sign;
  }

  #changed(): void {
    this.#revision++;
    this.#fingerprint = undefined;
  }
}

function fingerprintOf(entries: Iterable<ReplicaEntry>): number {
  const fingerprint = new FeeFingerprint();
  for (const { modifiedFee } of entries) fingerprint.take(modifiedFee);
  return fingerprint.value;
}
