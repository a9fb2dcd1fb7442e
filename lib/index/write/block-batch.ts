// Blocks on their way into the index: applied to the coin cache one by one, and written together
// (index-writer.ts). Coins that are made and spent within the batch are never written.

import { findSpent, spend, type CoinSources } from '../coins/spending';
import { spentBaseKey } from '../records/base-coin';
import { encodeHeader, extendHeaders, headerKey, putHeight, putTip, type HeaderChain } from '../records/chain';
import { requireNext } from '../records/chain-steps';
import { putFilter, putFilterSpan, type FilterTip } from '../records/filter';
import { putRecord, WriteBuffer } from '../records/layout';
import { putLengths } from '../records/lengths';
import { MAX_TRANSACTIONS, putPosition } from '../records/position';
import { TXID_HASH_LENGTH } from '../records/txid-hash';
import { putSpentHash, SpentHasher } from '../records/spent-hash';
import { encodeUndo, SpentCoinList, undoKey } from '../records/undo-record';
import { filterOfRows, type SpentCoinBytes } from './block-filter';
import { findReplaced, spendReplaced } from './replaced';
import type { BlockPoint } from '../../node/types/chain';
import type { Store, StoreWrite } from '../../store/store';
import type { BlockRows } from '../scan/rows';

export interface BatchOptions extends Omit<CoinSources, 'records'> {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** How many blocks up to the tip have undo records. */
  readonly undoDepth: number;
  /** Lowest height that gets an undo record. */
  readonly undoFrom: number;
  /** Whether blocks get a hash over the coins that they spend (records/spent-hash.ts). */
  readonly spentHashes: boolean;
}

/** Where an index or a batch ends: what the next block builds on. */
export interface ChainEnd {
  readonly chain: HeaderChain;
  /** undefined: no filters are made. */
  readonly filters: FilterTip | undefined;
}

/** A block that was added to a batch. */
export interface BatchBlock {
  readonly point: BlockPoint;
  /** The header record. */
  readonly header: Buffer;
}

const NO_COINS = Buffer.alloc(0);

export class BlockBatch {
  readonly #options: BatchOptions;
  readonly #blocks: BatchBlock[] = [];
  /** For each block, the hashes of its txids (records/txid-hash.ts). */
  readonly #hashes: Uint8Array[] = [];
  /** All writes but those of coins, positions and the tip. */
  readonly #otherWrites: StoreWrite[] = [];
  readonly #spent = new SpentCoinList();
  readonly #hasher: SpentHasher | undefined;
  #end: ChainEnd;
  #otherBytes = 0;

  constructor(start: ChainEnd, options: BatchOptions) {
    this.#end = start;
    this.#options = options;
    this.#hasher = options.spentHashes ? new SpentHasher() : undefined;
  }

  /** The end after the last block added. */
  get end(): ChainEnd {
    return this.#end;
  }

  get blocks(): readonly BatchBlock[] {
    return this.#blocks;
  }

  /** Whether it is time to write. */
  get isFull(): boolean {
    return this.#options.cache.isFull(this.#otherBytes);
  }

  /** Whether a block with this previous hash extends the batch. */
  isExtendedBy(previousHash: Buffer): boolean {
    const { tip } = this.#end.chain;
    return tip === undefined || tip.hash.equals(previousHash);
  }

  /**
   * Adds a block by its rows, which may be released afterwards.
   * @throws IndexError when it does not extend the tip or spends a coin that does not exist; the batch must then be abandoned.
   */
  async add(rows: BlockRows): Promise<void> {
    requireNext(
      this.#end.chain.tip,
      { hash: Buffer.from(rows.hash), height: rows.height, header: Buffer.from(rows.header) },
      this.#options.genesisHash
    );
    const { store, cache, undoFrom, undoDepth, base } = this.#options;
    const { height } = rows;
    const undo = height > 0 && height >= undoFrom ? this.#spent : undefined;
    const { filters } = this.#end;
    const spent = undo ?? (filters && this.#spent);
    spent?.clear();
    if (undo === undefined && this.#blocks.length === 0) this.#dropUndoBelow(height);
    const records = store.snapshot();
    let spentOfBase: Buffer;
    try {
      const sources = { ...this.#options, records };
      const replaced = await findReplaced(rows, sources);
      cache.append(rows.entries);
      const entries = await findSpent(rows, sources);
      if (replaced !== undefined) spendReplaced(replaced, height, cache, spent);
      const replacedEnd = spent?.bytes.length;
      await spend(rows, entries, this.#options, { undo: spent, hasher: this.#hasher });
      spentOfBase = base?.takeUndo() ?? NO_COINS;
      this.#addRecords(rows);
      if (this.#hasher !== undefined && rows.inputs.length > 0) this.#write(putSpentHash(rows.hash, this.#hasher.take()));
      // Replaced coins are left out of the filter: no input spent them.
      if (filters !== undefined && spent !== undefined)
        await this.#addFilter(rows, filters, { coins: spent.bytes.subarray(replacedEnd), ofBase: spentOfBase });
      if (undo !== undefined) this.#write(putRecord(undoKey(height), encodeUndo(rows.hash, rows.hashes, replaced?.position, undo.bytes)));
    } finally {
      records.close();
    }
    if (height >= undoDepth) this.#write({ type: 'del', key: undoKey(height - undoDepth) });
    if (base === undefined) return;
    if (undo !== undefined && spentOfBase.length > 0) this.#write(putRecord(spentBaseKey(height), spentOfBase));
    if (height >= undoDepth) this.#write({ type: 'del', key: spentBaseKey(height - undoDepth) });
  }

  /** All writes of the batch, including the new tip. Must be iterated over once; a write is valid until the next. */
  *writes(): Generator<StoreWrite> {
    const { cache, base } = this.#options;
    yield* cache.writes();
    if (base !== undefined) yield* base.writes();
    const buffer = new WriteBuffer();
    for (const number of inOrderOfHashes(this.#hashes)) {
      const index = number % MAX_TRANSACTIONS;
      const block = Math.floor(number / MAX_TRANSACTIONS) % MOST_BLOCKS;
      const { height } = (this.#blocks[block] as BatchBlock).point; // blocks and hashes have the same numbers
      yield putPosition(buffer, this.#hashes[block] as Uint8Array, index * TXID_HASH_LENGTH, height, index);
    }
    yield* this.#otherWrites;
    const { chain, filters } = this.#end;
    if (chain.tip === undefined) return;
    if (filters !== undefined) yield putFilterSpan({ ...chain.tip, from: filters.from });
    yield putTip(chain.tip);
  }

  /** To be called when the store has copied all writes. Frees their memory for the next batch, which is filled while the store writes. */
  dropWrites(): void {
    this.#hashes.length = 0;
    this.#otherWrites.length = 0;
  }

  /** Extends the chain by the block, and adds its header, height and lengths. */
  #addRecords({ height, length, lengths, ...rows }: BlockRows): void {
    const { tip: before } = this.#end.chain;
    // Copies, since the memory of the rows is reused.
    const [hash, header, hashes] = [Buffer.from(rows.hash), Buffer.from(rows.header), Buffer.from(rows.hashes)];
    const transactionCount = hashes.length / TXID_HASH_LENGTH;
    const chain = extendHeaders(this.#end.chain, hash, header, {
      transactionCount,
      chainTransactions: (before?.chainTransactions ?? 0) + transactionCount,
      chainBytes: (before?.chainBytes ?? 0) + length
    });
    const headerRecord = encodeHeader(chain.tip);
    this.#end = { ...this.#end, chain };
    this.#blocks.push({ point: { hash, height }, header: headerRecord });
    this.#hashes.push(hashes);
    this.#otherBytes += hashes.length;
    this.#write(putRecord(headerKey(height), headerRecord));
    this.#write(putHeight(hash, height));
    for (const write of putLengths(height, lengths, transactionCount, length)) this.#write(write);
  }

  /** Adds the block's filter. `below`: what its header builds on. */
  async #addFilter(rows: BlockRows, below: FilterTip, spent: SpentCoinBytes): Promise<void> {
    const block = { hash: Buffer.from(rows.hash), height: rows.height };
    const { writes, header } = putFilter(block, await filterOfRows(rows, spent), below.header);
    for (const write of writes) this.#write(write);
    this.#end = { ...this.#end, filters: { ...below, header } };
  }

  /** Drops undo records below a block that gets none: they are useless, since this block cannot be undone. */
  #dropUndoBelow(height: number): void {
    const { store, undoDepth } = this.#options;
    if (height === 0 || store.get(undoKey(height - 1)) === undefined) return;
    for (let below = Math.max(1, height - undoDepth); below < height; below++)
      for (const key of [undoKey(below), spentBaseKey(below)]) this.#write({ type: 'del', key });
  }

  #write(write: StoreWrite): void {
    this.#otherWrites.push(write);
    if (write.type === 'put') this.#otherBytes += write.value.length;
  }
}

/** More blocks than a batch has, which are at most those of one leg of catching up (follow/catch-up.ts). */
const MOST_BLOCKS = 0x1000;

/**
 * The transactions of a batch in the order of the first bytes of their hashes: the store's table of new records has this
 * order, and takes neighbouring keys faster than distant ones. Each transaction is a sortable number of less than a double's 53
 * bits: three bytes of the hash, the number of the block in the batch, the index in the block.
 */
export function inOrderOfHashes(hashesOfBlocks: readonly Uint8Array[]): Float64Array {
  const order = new Float64Array(hashesOfBlocks.reduce((count, hashes) => count + hashes.length / TXID_HASH_LENGTH, 0));
  let next = 0;
  for (const [block, hashes] of hashesOfBlocks.entries())
    for (let at = 0; at < hashes.length; at += TXID_HASH_LENGTH) {
      const start = ((hashes[at] as number) << 16) | ((hashes[at + 1] as number) << 8) | (hashes[at + 2] as number); // whole hashes
      order[next++] = (start * MOST_BLOCKS + block) * MAX_TRANSACTIONS + at / TXID_HASH_LENGTH;
    }
  return order.sort();
}
