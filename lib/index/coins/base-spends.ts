// Coins of the base: those that were copied from the node (bootstrap.ts). Each has a record of
// its own under its outpoint, for ever: it only is spent, or put back when the block that spent
// it is taken out again. What a block spent of them is kept beside its undo record. Keys are in
// the node's order, in which LevelDB has nothing to merge: so they have whole txids. When
// blocks of the base are taken out, coins above it are left, and count no more.
//
//   'c' txid 32, index 4      height * 2 + coinbase flag 4, the coin (coin-record.ts)
//   's' height 4              such coins, one behind the other: txid 32, index 4, record

import { OUTPOINT_WORDS } from '../records/cache-entry';
import { COIN_OVERHEAD, GROUP_SIZE, readCoin, writeCoin } from '../records/coin-record';
import { putRecord, recordOf } from '../records/layout';
import { RecordReader } from '../records/variable-integer';
import type { NodeCoin, SpentNodeCoin } from '../../node/types';
import type { StorePut, StoreSnapshot, StoreWrite } from '../../store/store';
import type { Base } from '../records/base';
import type { Coin } from '../types';
import type { WriteBuffer } from '../records/write-buffer';

const COIN_PREFIX = 0x63;
const KEY_LENGTH = 37;
const FIELD_LENGTH = 4;

export function baseCoinKey(txid: Buffer, index: number): Buffer {
  const key = Buffer.allocUnsafe(KEY_LENGTH);
  writeKey(key, txid, index);
  return key;
}

/** The write of a copied coin, put together in the room. */
export function putBaseCoin(coin: NodeCoin, room: WriteBuffer): StoreWrite {
  const bytes = room.reserve(KEY_LENGTH + FIELD_LENGTH + COIN_OVERHEAD + coin.script.length + FIELD_LENGTH);
  writeKey(bytes, coin.txid, coin.index);
  return room.put(KEY_LENGTH, writeRecord(bytes, KEY_LENGTH, coin, coin.index) - KEY_LENGTH);
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

function writeKey(bytes: Buffer, txid: Buffer, index: number): void {
  bytes[0] = COIN_PREFIX;
  txid.copy(bytes, 1, 0, 32);
  bytes.writeUInt32BE(index, 33);
}

/** Returns where it ends. */
function writeRecord(bytes: Buffer, at: number, { height, coinbase, value, script }: SpentNodeCoin, index: number): number {
  bytes.writeUInt32BE(height * 2 + (coinbase ? 1 : 0), at);
  return writeCoin(bytes, at + FIELD_LENGTH, index % GROUP_SIZE, value, script, 0, script.length);
}

// What blocks spend of them

export const spentBaseKey = (height: number): Buffer => {
  const key = Buffer.from('s0000');
  key.writeUInt32BE(height, 1);
  return key;
};

/** The record of what the block at `height` spent, from the coins of all its inputs: those that it made itself are left out. */
export function spentBaseCoins(inputs: Int32Array, coins: readonly SpentNodeCoin[], height: number): Buffer {
  const most = coins.reduce((sum, { script }) => sum + 36 + FIELD_LENGTH + COIN_OVERHEAD + script.length, 0);
  const bytes = Buffer.allocUnsafe(most);
  const outpoints = Buffer.from(inputs.buffer, inputs.byteOffset, inputs.byteLength);
  let end = 0;
  coins.forEach((coin, input) => {
    if (coin.height === height) return;
    const at = input * OUTPOINT_WORDS * 4;
    const index = outpoints.readUInt32LE(at + 32);
    outpoints.copy(bytes, end, at, at + 32);
    bytes.writeUInt32BE(index, end + 32);
    end = writeRecord(bytes, end + 36, coin, index);
  });
  return bytes.subarray(0, end);
}

/** The writes that put the coins of such a record back. @throws DamagedIndexError */
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

/** The base coins that the blocks of a batch spend. */
export class BaseSpends {
  /** Keys as text to records. */
  readonly #found = new Map<string, Buffer>();
  readonly #spent = new Set<string>();
  #undo: Buffer[] = [];

  constructor(private readonly base: Base) {}

  /** Finds those that inputs of a block spend; returns the inputs that spend others. @throws DamagedIndexError */
  async find(inputs: Int32Array, which: readonly number[], records: StoreSnapshot): Promise<number[]> {
    const keys = which.map((input) => keyOf(inputs, input));
    const values = await records.load(keys);
    return which.filter((_, i) => {
      const [key, value] = [keys[i] as Buffer, values[i]]; // as many
      if (value === undefined || this.#spent.has(nameOf(key))) return true;
      const record = recordOf(key, value);
      if (baseCoinOf(record).height > this.base.height) return true;
      this.#found.set(nameOf(key), record);
      return false;
    });
  }

  /** Spends the coin that was found for an input; false: it is none of these. */
  spend(inputs: Int32Array, input: number): boolean {
    const key = keyOf(inputs, input);
    const name = nameOf(key);
    const record = this.#found.get(name);
    if (record === undefined) return false;
    this.#found.delete(name);
    this.#spent.add(name);
    this.#undo.push(key.subarray(1), record);
    return true;
  }

  /** What was spent since the last call, as a record of spent coins. */
  takeUndo(): Buffer {
    const undo = Buffer.concat(this.#undo);
    this.#undo = [];
    return undo;
  }

  *writes(): Generator<StoreWrite> {
    for (const name of this.#spent) yield { type: 'del', key: Buffer.from(name, 'latin1') };
  }
}

function keyOf(inputs: Int32Array, input: number): Buffer {
  const outpoint = Buffer.from(inputs.buffer, inputs.byteOffset + input * OUTPOINT_WORDS * 4, OUTPOINT_WORDS * 4);
  return baseCoinKey(outpoint, outpoint.readUInt32LE(32));
}

const nameOf = (key: Buffer): string => key.toString('latin1');
