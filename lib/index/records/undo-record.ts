// What undoes a block without the block itself, which the node may no longer have. Sizes in
// bytes, integers of variable length (numbers.ts):
//
//   'd' height 4    block hash 32, and
//
//   number of transactions, and the first 6 of the hash of each txid: enough to find its record,
//     whose position is compared (undo-block.ts)
//   replaced 1, and if it is 1: position of the earlier transaction with the coinbase's txid 6
//   coins to put back, up to the end, each: how many blocks before this one it was made; index in its block * 2,
//     + 1 if the group is not 0; then the group, unless it is 0; the coin (coin-record.ts)
//
// Coins to put back are those of earlier blocks that the block spent, and those that its
// coinbase replaced: until BIP30 a later coinbase could have the txid of an earlier one, and
// replaced its coins. The coins that the block made are found by its height.

import { DamagedIndexError } from '../../follow/errors';
import { readCoin } from './coin-record';
import { keyOfHeight } from './layout';
import { LONGEST_INTEGER, numberEnd, RecordReader, writeInteger } from './numbers';
import { encodePosition } from './position';
import { TXID_HASH_LENGTH } from './txid-hash';
import type { Position } from '../types';

export const undoKey = keyOfHeight('d');

/** Stored bytes of the hash of a txid. Once in 200,000 times another one of 1.3 billion transactions has the same. */
export const HASH_START_LENGTH = 6;

export interface SpentCoin {
  readonly position: Position;
  readonly group: number;
  readonly coin: Buffer;
}

export interface UndoRecord {
  /** The block that this undoes. */
  readonly hash: Buffer;
  /** HASH_START_LENGTH bytes for each transaction. */
  readonly hashStarts: Buffer;
  /** Position of the transaction that had the coinbase's txid before. */
  readonly replaced: Position | undefined;
  readonly coins: readonly SpentCoin[];
}

/** Collects the coins to put back while a block is connected. */
export class SpentCoinList {
  #bytes = Buffer.allocUnsafe(1 << 12);
  #length = 0;

  /** A view that holds until the list changes. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Adds the coin in `source` from `from` to `to`. `index`, `group`: as in its key; `blocksBefore`: number of blocks from its block
   * to this one.
   */
  add(blocksBefore: number, index: number, group: number, source: Uint8Array, from: number, to: number): void {
    const bytes = this.#reserve(3 * LONGEST_INTEGER + to - from);
    let at = writeInteger(bytes, this.#length, blocksBefore);
    at = writeInteger(bytes, at, group === 0 ? index * 2 : index * 2 + 1);
    if (group !== 0) at = writeInteger(bytes, at, group);
    for (let i = from; i < to; i++) bytes[at++] = source[i] as number; // within the coin
    this.#length = at;
  }

  clear(): void {
    this.#length = 0;
  }

  #reserve(more: number): Buffer {
    const length = this.#length + more;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(length * 2);
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    return this.#bytes;
  }
}

/** Where, in the bytes of a SpentCoinList, the coin of the entry at `at` begins. */
export function spentCoinStart(bytes: Uint8Array, at: number): number {
  const indexAt = numberEnd(bytes, at);
  const hasGroup = ((bytes[indexAt] as number) & 1) === 1; // the list has whole entries
  const end = numberEnd(bytes, indexAt);
  return hasGroup ? numberEnd(bytes, end) : end;
}

/** `hashes`: those of the txids, concatenated; `coins`: the bytes of a SpentCoinList. */
export function encodeUndo(hash: Uint8Array, hashes: Uint8Array, replaced: Position | undefined, coins: Buffer): Buffer {
  const count = hashes.length / TXID_HASH_LENGTH;
  const starts = Buffer.allocUnsafe(LONGEST_INTEGER + count * HASH_START_LENGTH);
  let at = writeInteger(starts, 0, count);
  for (let from = 0; from < hashes.length; from += TXID_HASH_LENGTH)
    for (let i = 0; i < HASH_START_LENGTH; i++) starts[at++] = hashes[from + i] as number; // whole hashes
  const replacement = replaced === undefined ? [Buffer.from([0])] : [Buffer.from([1]), encodePosition(replaced)];
  return Buffer.concat([hash, starts.subarray(0, at), ...replacement, coins]);
}

/** The record of the block at `height`. Hash, starts of hashes and coins are views. @throws DamagedIndexError */
export function decodeUndo(bytes: Buffer, height: number): UndoRecord {
  const reader = new RecordReader(bytes);
  const hash = reader.take(32);
  const hashStarts = reader.take(reader.integer() * HASH_START_LENGTH);
  const replaced = reader.byte() === 0 ? undefined : { height: reader.u32(), index: reader.u16() };
  const coins: SpentCoin[] = [];
  while (!reader.atEnd) coins.push(readSpentCoin(reader, height));
  return { hash, hashStarts, replaced, coins };
}

function readSpentCoin(reader: RecordReader, height: number): SpentCoin {
  const blocksBefore = reader.integer();
  if (blocksBefore > height)
    throw new DamagedIndexError(`an undo record is damaged: expected a coin of at most ${height} blocks before, got ${blocksBefore}`);
  const packed = reader.integer();
  const group = packed % 2 === 0 ? 0 : reader.integer();
  return { position: { height: height - blocksBefore, index: Math.floor(packed / 2) }, group, coin: readCoin(reader).bytes };
}

/**
 * The record with the position that its coinbase replaced. If the record already has such a position, it is unchanged, and
 * `replaced` is that position. @throws DamagedIndexError
 */
export function withReplaced(bytes: Buffer, position: Position): { readonly record: Buffer; readonly replaced: Position | undefined } {
  const reader = new RecordReader(bytes);
  reader.take(32);
  reader.take(reader.integer() * HASH_START_LENGTH);
  const { offset } = reader;
  if (reader.byte() !== 0) return { record: bytes, replaced: { height: reader.u32(), index: reader.u16() } };
  return {
    record: Buffer.concat([bytes.subarray(0, offset), Buffer.from([1]), encodePosition(position), bytes.subarray(offset + 1)]),
    replaced: undefined
  };
}
