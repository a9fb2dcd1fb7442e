// Coins of the base: those that were copied from the node (lib/index/bootstrap). Each has its own
// record under its outpoint, which is deleted when the coin is spent, and put back when the block
// that spent it is undone; for that, the coins of the base that a block spent are stored beside its
// undo record. Keys have whole txids: the node delivers coins in this order, so that LevelDB has
// nothing to merge. When the base's own block is undone, the block below becomes the base; coins
// above it stay in the store, and are ignored.
//
//   'c' txid 32, index 4      height * 2 + coinbase flag 4, the coin (coin-record.ts)
//   's' height 4              such coins, one after another: txid 32, index 4, record

import { OUTPOINT_LENGTH } from '../../bitcoin/transaction';
import { OUTPOINT_WORDS } from './cache-entry';
import { COIN_OVERHEAD, GROUP_SIZE, readCoin, writeCoin } from './coin-record';
import { keyOfHeight, putRecord, recordOf, type WriteBuffer } from './layout';
import { RecordReader } from './numbers';
import type { Base } from './base';
import type { NodeCoin, SpentNodeCoin } from '../../node/types/coins';
import type { StorePut, StoreRange, StoreWrite } from '../../store/store';
import type { Coin } from '../types';

const LETTER = 'c'.charCodeAt(0);
const KEY_LENGTH = 1 + OUTPOINT_LENGTH;
const HEIGHT_LENGTH = 4;
/** Where the coin (coin-record.ts) begins in one entry of the record of spent coins. */
export const BASE_COIN_AT = OUTPOINT_LENGTH + HEIGHT_LENGTH;

/** `txid`: its first 32 bytes count, in wire order. The index is big endian, so that a transaction's coins ascend. */
export function baseCoinKey(txid: Buffer, index: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_LENGTH);
  key[0] = LETTER;
  writeOutpoint(key, 1, txid, index);
  return key;
}

/** The coins of a transaction in the order of their indexes: no block has space for the last one. */
export function baseCoinsOf(txid: Buffer): StoreRange {
  return { gte: baseCoinKey(txid, 0), lt: baseCoinKey(txid, 0xffff_ffff) };
}

/** All coins of the base. */
export const BASE_COINS: StoreRange = { gte: Buffer.from('c'), lt: Buffer.from('d') };

/** A view. */
export function baseCoinTxid(key: Buffer): Buffer {
  return key.subarray(1, 33);
}

/** Which output of its transaction the coin under a key is. */
export function baseCoinIndex(key: Buffer): number {
  return key.readUInt32BE(33);
}

/** The write of a copied coin, made in a buffer. */
export function putBaseCoin(coin: NodeCoin, buffer: WriteBuffer): StoreWrite {
  const bytes = buffer.reserve(KEY_LENGTH + HEIGHT_LENGTH + COIN_OVERHEAD + coin.script.length);
  bytes[0] = LETTER;
  writeOutpoint(bytes, 1, coin.txid, coin.index);
  return buffer.put(KEY_LENGTH, writeBaseCoin(bytes, KEY_LENGTH, coin, coin.index) - KEY_LENGTH);
}

/** undefined: it was made above the base. @throws DamagedIndexError */
export function decodeBaseCoin(key: Buffer, value: Buffer, base: Base): Coin | undefined {
  const coin = baseCoinOf(recordOf(key, value));
  return coin.height > base.height ? undefined : coin;
}

/** The coin in a record. @throws DamagedIndexError */
export function baseCoinOf(record: Buffer): Coin {
  const reader = new RecordReader(record);
  const field = reader.u32();
  const { value, script } = readCoin(reader);
  return { height: field >>> 1, coinbase: (field & 1) === 1, value, script };
}

/** Returns the end of the outpoint. */
function writeOutpoint(bytes: Buffer, at: number, txid: Buffer, index: number): number {
  return bytes.writeUInt32BE(index, at + txid.copy(bytes, at, 0, 32));
}

/** Returns the end of the coin. */
function writeBaseCoin(bytes: Buffer, at: number, { height, coinbase, value, script }: SpentNodeCoin, index: number): number {
  bytes.writeUInt32BE(height * 2 + (coinbase ? 1 : 0), at);
  return writeCoin(bytes, at + HEIGHT_LENGTH, index % GROUP_SIZE, value, script, 0, script.length);
}

// The coins of the base that a block spent

export const spentBaseKey = keyOfHeight('s');

/** The record of the coins that the block at `height` spent. `coins`: one for each input; coins that the block itself made are left out. */
export function spentBaseCoins(inputs: Int32Array, coins: readonly SpentNodeCoin[], height: number): Buffer {
  const most = coins.reduce((sum, { script }) => sum + OUTPOINT_LENGTH + HEIGHT_LENGTH + COIN_OVERHEAD + script.length, 0);
  const bytes = Buffer.allocUnsafe(most);
  const outpoints = Buffer.from(inputs.buffer, inputs.byteOffset, inputs.byteLength);
  let end = 0;
  coins.forEach((coin, input) => {
    if (coin.height === height) return;
    const outpoint = outpoints.subarray(input * OUTPOINT_WORDS * 4);
    const index = outpoint.readUInt32LE(32);
    end = writeBaseCoin(bytes, writeOutpoint(bytes, end, outpoint, index), coin, index);
  });
  return bytes.subarray(0, end);
}

/** The writes that put back the coins of such a record. @throws DamagedIndexError */
export function restoringBaseWrites(key: Buffer, value: Buffer): StorePut[] {
  const reader = new RecordReader(recordOf(key, value));
  const writes: StorePut[] = [];
  while (!reader.atEnd) {
    const txid = reader.take(32);
    const index = reader.u32();
    const start = reader.offset;
    reader.u32();
    readCoin(reader);
    writes.push(putRecord(baseCoinKey(txid, index), reader.bytes.subarray(start, reader.offset)));
  }
  return writes;
}
