// What takes a block out of the index again, without the block: the node may no longer have
// it. Integers are big endian, sizes in bytes:
//
//   block hash 32
//   transactions 4, each: txid 32, number of outputs 4
//   coins to put back 4, each: txid 32, index 4, length 4, record
//   locations to put back 4, each: txid 32, length 4, record
//
// Coins to put back are those that the block spent and those that a coinbase replaced: until
// BIP30 a later coinbase could have the txid of an earlier one, and took its coins' place.

import { DamagedIndexError } from './errors';

export interface UndoRecord {
  /** The block that this undoes. */
  readonly hash: Buffer;
  readonly transactions: readonly { readonly txid: Buffer; readonly outputs: number }[];
  readonly coins: readonly { readonly txid: Buffer; readonly index: number; readonly record: Buffer }[];
  readonly locations: readonly { readonly txid: Buffer; readonly record: Buffer }[];
}

export function encodeUndo({ hash, transactions, coins, locations }: UndoRecord): Buffer {
  let length = 32 + 3 * 4 + transactions.length * 36;
  for (const { record } of coins) length += 40 + record.length;
  for (const { record } of locations) length += 36 + record.length;
  const bytes = Buffer.allocUnsafe(length);
  let at = hash.copy(bytes);
  const integer = (value: number): void => { at = bytes.writeUInt32BE(value, at); };
  const copy = (part: Buffer): void => { at += part.copy(bytes, at); };
  integer(transactions.length);
  for (const { txid, outputs } of transactions) {
    copy(txid);
    integer(outputs);
  }
  integer(coins.length);
  for (const { txid, index, record } of coins) {
    copy(txid);
    integer(index);
    integer(record.length);
    copy(record);
  }
  integer(locations.length);
  for (const { txid, record } of locations) {
    copy(txid);
    integer(record.length);
    copy(record);
  }
  return bytes;
}

/** Hashes and records are views. @throws DamagedIndexError */
export function decodeUndo(bytes: Buffer): UndoRecord {
  let at = 0;
  const take = (length: number): Buffer => {
    if (length > bytes.length - at)
      throw new DamagedIndexError(`an undo record is damaged: expected ${length} bytes at byte ${at}, got ${bytes.length - at}`);
    return bytes.subarray(at, at += length);
  };
  const integer = (): number => take(4).readUInt32BE();
  const list = <T>(one: () => T): T[] => {
    const items: T[] = [];
    for (let left = integer(); left > 0; left--) items.push(one());
    return items;
  };
  const undo: UndoRecord = {
    hash: take(32),
    transactions: list(() => ({ txid: take(32), outputs: integer() })),
    coins: list(() => ({ txid: take(32), index: integer(), record: take(integer()) })),
    locations: list(() => ({ txid: take(32), record: take(integer()) }))
  };
  if (at !== bytes.length)
    throw new DamagedIndexError(`an undo record is damaged: expected its end at byte ${at}, got ${bytes.length - at} more bytes`);
  return undo;
}
