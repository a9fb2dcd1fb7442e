// What takes a block out of the index again, without the block: the node may no longer have
// it. Integers are big endian, sizes in bytes:
//
//   block hash 32
//   transactions 4, their txids 32 each
//   replaced 1, and when it is 1: place of the transaction whose txid the coinbase has 6
//   coins to put back, to the end: place 6, group 2, the coin (coin-record.ts)
//
// Coins to put back are those that the block spent of earlier blocks, and those that its
// coinbase replaced: until BIP30 a later coinbase could have the txid of an earlier one, and
// took its coins' place. The coins that the block made are found by its height.

import { readCoin } from './coin-record';
import { encodePlace, type Place } from './layout';
import { RecordReader } from './variable-integer';

export interface SpentCoin {
  readonly place: Place;
  readonly group: number;
  readonly coin: Buffer;
}

export interface UndoRecord {
  /** The block that this undoes. */
  readonly hash: Buffer;
  /** 32 bytes for each transaction. */
  readonly txids: Buffer;
  /** Place of the transaction that had the coinbase's txid before. */
  readonly replaced: Place | undefined;
  readonly coins: readonly SpentCoin[];
}

/** Collects the coins to put back while a block is taken in. */
export class SpentCoinList {
  #bytes = Buffer.allocUnsafe(1 << 12);
  #length = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(height: number, position: number, group: number, coin: Buffer): void {
    const at = this.#length;
    this.#length += 8 + coin.length;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(this.#length * 2);
      this.#bytes.copy(grown, 0, 0, at);
      this.#bytes = grown;
    }
    this.#bytes.writeUInt32BE(height, at);
    this.#bytes.writeUInt16BE(position, at + 4);
    this.#bytes.writeUInt16BE(group, at + 6);
    coin.copy(this.#bytes, at + 8);
  }
}

/** `coins`: the bytes of a SpentCoinList. */
export function encodeUndo(hash: Uint8Array, txids: Uint8Array, replaced: Place | undefined, coins: Buffer): Buffer {
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32BE(txids.length / 32);
  const replacement = replaced === undefined ? [Buffer.from([0])] : [Buffer.from([1]), encodePlace(replaced)];
  return Buffer.concat([hash, count, txids, ...replacement, coins]);
}

/** Hashes and coins are views. @throws DamagedIndexError */
export function decodeUndo(bytes: Buffer): UndoRecord {
  const reader = new RecordReader(bytes);
  const hash = reader.take(32);
  const txids = reader.take(reader.u32() * 32);
  const replaced = reader.byte() === 0 ? undefined : readPlace(reader);
  const coins: SpentCoin[] = [];
  while (!reader.atEnd) coins.push({ place: readPlace(reader), group: reader.u16(), coin: readCoin(reader).bytes });
  return { hash, txids, replaced, coins };
}

function readPlace(reader: RecordReader): Place {
  return { height: reader.u32(), position: reader.u16() };
}
