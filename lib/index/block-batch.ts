// Blocks on their way into the index: folded one after the other over the state in the
// store, written together. Coins that are born and die within the batch are never written.

import { scanBlock, type ScannedBlock } from '../bitcoin/block';
import { bitsOf, MEDIAN_TIME_SPAN, medianTimePast, timeOf } from '../bitcoin/header';
import { toDisplayHex } from '../bitcoin/hash';
import { proofOf } from '../bitcoin/work';
import { IndexError } from './errors';
import { blockHashKey, encodeHeader, encodeHeight, encodeTip, headerKey, locationKey, putRecord, recordOf, TIP_KEY, undoKey, type StoredHeader } from './layout';
import { blockRows, fromOutpoint, outpointCoinKey, undoOf, type BlockFindings, type BlockRows, type Outpoint } from './rows';
import { encodeUndo } from './undo-record';
import type { BlockPoint } from '../node/types';
import type { Store, StoreWrite } from '../store/store';

/** Where the index stands: what the next block builds on. */
export interface IndexPosition {
  /** undefined: the index is empty, the genesis block is next. */
  readonly tip: StoredHeader | undefined;
  /** Times of the last blocks, MEDIAN_TIME_SPAN at most, the tip's last. */
  readonly times: readonly number[];
}

export interface BatchOptions {
  readonly store: Store;
  readonly genesisHash: Buffer;
  /** Undo records are kept for this many blocks. */
  readonly undoDepth: number;
  /** Lowest height that gets an undo record. */
  readonly undoFrom: number;
}

interface PendingCoin {
  /** undefined: spent. */
  readonly record: Buffer | undefined;
  /** Whether the store has a coin there. */
  readonly stored: boolean;
}

export class BlockBatch {
  readonly #options: BatchOptions;
  readonly #coins = new Map<Outpoint, PendingCoin>();
  readonly #locations = new Map<string, Buffer>();
  readonly #otherWrites: StoreWrite[] = [];
  readonly #blocks: BlockPoint[] = [];
  #position: IndexPosition;
  #rawBytes = 0;

  constructor(position: IndexPosition, options: BatchOptions) {
    this.#position = position;
    this.#options = options;
  }

  /** The position after the last block added. */
  get position(): IndexPosition {
    return this.#position;
  }

  get blocks(): readonly BlockPoint[] {
    return this.#blocks;
  }

  /** Bytes of the blocks added. */
  get rawBytes(): number {
    return this.#rawBytes;
  }

  /** Whether a block with this previous hash comes next. */
  isExtendedBy(previousHash: Buffer): boolean {
    const { tip } = this.#position;
    return tip === undefined || tip.hash.equals(previousHash);
  }

  /**
   * Adds a serialized block.
   * @throws IndexError, and changes nothing, when it does not extend the tip or spends a coin that is not there.
   */
  async add(raw: Buffer): Promise<void> {
    const block = scanBlock(raw);
    this.#checkExtends(block);
    const height = (this.#position.tip?.height ?? -1) + 1;
    const rows = blockRows(block, height);
    const found = await this.#find(rows, height);
    this.#addRows(rows, found);
    this.#addBlock(block, height);
    if (height > 0 && height >= this.#options.undoFrom)
      this.#otherWrites.push(putRecord(undoKey(height), encodeUndo(undoOf(block, rows, found))));
    if (height >= this.#options.undoDepth)
      this.#otherWrites.push({ type: 'del', key: undoKey(height - this.#options.undoDepth) });
  }

  /** All writes of the batch, the new tip among them. */
  writes(): StoreWrite[] {
    const writes: StoreWrite[] = [];
    for (const [outpoint, { record }] of this.#coins) {
      const key = outpointCoinKey(outpoint);
      writes.push(record === undefined ? { type: 'del', key } : putRecord(key, record));
    }
    for (const [txid, record] of this.#locations)
      writes.push(putRecord(locationKey(Buffer.from(txid, 'latin1')), record));
    writes.push(...this.#otherWrites);
    if (this.#position.tip !== undefined)
      writes.push(putRecord(TIP_KEY, encodeTip(this.#position.tip)));
    return writes;
  }

  #checkExtends({ hash, previousHash }: ScannedBlock): void {
    const { tip } = this.#position;
    const { genesisHash } = this.#options;
    if (tip === undefined && !hash.equals(genesisHash))
      throw new IndexError(`expected the genesis block ${toDisplayHex(genesisHash)}, got ${toDisplayHex(hash)}`);
    if (tip !== undefined && !tip.hash.equals(previousHash))
      throw new IndexError(`expected a block on top of ${toDisplayHex(tip.hash)} at height ${tip.height}, got ${toDisplayHex(hash)}, which follows ${toDisplayHex(previousHash)}`);
  }

  async #find(rows: BlockRows, height: number): Promise<BlockFindings> {
    const [coinbase] = rows.locations;
    const outpoints = [...rows.spent, ...rows.coinbaseCoins];
    const cold = outpoints.filter((outpoint) => !this.#coins.has(outpoint));
    const keys = cold.map(outpointCoinKey);
    const pendingLocation = coinbase && this.#locations.get(coinbase.txid.toString('latin1'));
    if (coinbase !== undefined && pendingLocation === undefined) keys.push(locationKey(coinbase.txid));
    const values = await this.#options.store.load(keys);
    const records = values.map((value, i) => value && recordOf(keys[i] as Buffer, value)); // as many values as keys
    const read = new Map(cold.map((outpoint, i) => [outpoint, records[i]]));
    const coinOf = (outpoint: Outpoint): Buffer | undefined => (this.#coins.get(outpoint) ?? { record: read.get(outpoint) }).record;

    const spent = new Map<Outpoint, Buffer>();
    for (const outpoint of rows.spent) {
      const record = coinOf(outpoint);
      if (record === undefined || spent.has(outpoint)) throw missingCoin(outpoint, height);
      spent.set(outpoint, record);
    }
    const replacedCoins = new Map<Outpoint, Buffer>();
    for (const outpoint of rows.coinbaseCoins) {
      const record = coinOf(outpoint);
      if (record !== undefined) replacedCoins.set(outpoint, record);
    }
    return { spent: [...spent.values()], replacedCoins, replacedLocation: pendingLocation ?? records[cold.length] };
  }

  #addRows({ spent, created, locations }: BlockRows, { replacedCoins }: BlockFindings): void {
    for (const outpoint of spent)
      this.#setCoin(outpoint, undefined, true);
    for (const outpoint of replacedCoins.keys())
      this.#setCoin(outpoint, undefined, true);
    for (const [outpoint, record] of created)
      this.#setCoin(outpoint, record, false);
    for (const { txid, record } of locations)
      this.#locations.set(txid.toString('latin1'), record);
  }

  /** `stored`: whether the store has a coin there, as long as the batch does not know better. */
  #setCoin(outpoint: Outpoint, record: Buffer | undefined, stored: boolean): void {
    const pending = this.#coins.get(outpoint) ?? { stored };
    if (record === undefined && !pending.stored) this.#coins.delete(outpoint);
    else this.#coins.set(outpoint, { record, stored: pending.stored });
  }

  #addBlock({ hash, header, transactions, length }: ScannedBlock, height: number): void {
    const { tip, times } = this.#position;
    const lastTimes = [...times, timeOf(header)].slice(-MEDIAN_TIME_SPAN);
    const next: StoredHeader = {
      height,
      hash,
      // A copy: a view would keep the whole block in memory.
      header: Buffer.from(header),
      chainwork: (tip?.chainwork ?? 0n) + proofOf(bitsOf(header)),
      medianTime: medianTimePast(lastTimes),
      transactionCount: transactions.length,
      chainTransactions: (tip?.chainTransactions ?? 0) + transactions.length,
      chainBytes: (tip?.chainBytes ?? 0) + length
    };
    this.#position = { tip: next, times: lastTimes };
    this.#otherWrites.push(
      putRecord(headerKey(height), encodeHeader(next)),
      putRecord(blockHashKey(hash), encodeHeight(height))
    );
    this.#blocks.push({ hash, height });
    this.#rawBytes += length;
  }
}

function missingCoin(outpoint: Outpoint, height: number): IndexError {
  const { txid, index } = fromOutpoint(outpoint);
  return new IndexError(`the block at height ${height} spends ${toDisplayHex(txid)}-${index}: expected a coin there, got none`);
}
