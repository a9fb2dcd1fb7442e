// What all coins of an index add up to, and their MuHash3072, as Bitcoin Core's `gettxoutsetinfo muhash` has it (kernel/coinstats.cpp): nodes and indexes with
// the same coins have the same one.

import { HASH_LENGTH } from '../../bitcoin/hash';
import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../../bitcoin/reader';
import { damaged } from '../records/layout';
import { findBase } from '../records/base';
import { BASE_COINS, baseCoinIndex, baseCoinTxid, decodeBaseCoin } from '../records/base-coin';
import { ALL_COINS, coinPosition, transactionCoins } from '../records/coin-record';
import { HashThreads } from './hash-threads';
import { Slice, nextTurn } from '../../turns/slices';
import type { StoreSnapshot } from '../../store/store';
import type { Coin, Position, TransactionCoin, UtxoHash, UtxoSums } from '../types';

/** Outpoint 36, height and coinbase flag 4, amount 8, length of the script. */
const MOST_BESIDE_SCRIPT = 48 + LONGEST_COMPACT_SIZE;

/** Called for each record. `height`: of the block whose coins these are. May throw, which ends the work. */
export type OnRecord = (height: number) => void;

type TxidsOfHeight = (height: number) => Promise<Buffer>;

export interface UtxoHashOptions {
  /** The concatenated txids of the block at a height: the index has only hashes of them. Asked for in ascending order. */
  readonly txidsOf: TxidsOfHeight;
  readonly onRecord: OnRecord;
}

/** As `utxoHash`, without the hash: needs no txids and no threads. @throws DamagedIndexError, StoreError, and what the callback throws */
export async function utxoSums(snapshot: StoreSnapshot, onRecord: OnRecord): Promise<UtxoSums> {
  const sums = new Sums();
  for await (const record of recordsOf(snapshot, onRecord)) sums.add(record);
  return sums;
}

/**
 * Reads all coins of one state of the index: `snapshot` is closed by the caller. Threads do most of the work.
 * @throws DamagedIndexError, StoreError, and what the callbacks throw
 */
export async function utxoHash(snapshot: StoreSnapshot, options: UtxoHashOptions): Promise<UtxoHash> {
  const threads = new HashThreads();
  try {
    const sums = new Sums();
    let block: { readonly height: number; readonly txids: Buffer } = { height: -1, txids: Buffer.alloc(0) };
    for await (const record of recordsOf(snapshot, options.onRecord)) {
      sums.add(record);
      const { key, position, coins } = record;
      if (position !== undefined && position.height !== block.height)
        block = { height: position.height, txids: await options.txidsOf(position.height) };
      const txid = position === undefined ? baseCoinTxid(key) : txidIn(block.txids, position.index, key);
      for (const coin of coins) await threads.add(elementOf(txid, coin.index, coin));
    }
    const { coins, satoshis, transactions, scriptBytes } = sums;
    return { muhash: await threads.digest(), coins, satoshis, transactions, scriptBytes };
  } finally {
    await threads.close();
  }
}

/** Coins of one transaction. */
interface CoinRecord {
  readonly key: Buffer;
  /** Undefined: the index has copied the coin, whose key has the txid. */
  readonly position: Position | undefined;
  readonly coins: readonly TransactionCoin[];
}

class Sums implements UtxoSums {
  coins = 0;
  satoshis = 0n;
  transactions = 0;
  scriptBytes = 0;
  #last: CoinRecord | undefined;

  add(record: CoinRecord): void {
    if (record.coins.length > 0 && !isSameTransaction(record, this.#last)) this.transactions++;
    if (record.coins.length > 0) this.#last = record;
    for (const { value, script } of record.coins) {
      this.coins++;
      this.satoshis += BigInt(value);
      this.scriptBytes += script.length;
    }
  }
}

function isSameTransaction({ key, position }: CoinRecord, last: CoinRecord | undefined): boolean {
  if (last === undefined) return false;
  if (position === undefined) return last.position === undefined && baseCoinTxid(key).equals(baseCoinTxid(last.key));
  return position.height === last.position?.height && position.index === last.position.index;
}

/** Gives the event loop its turns. */
async function* recordsOf(snapshot: StoreSnapshot, onRecord: OnRecord): AsyncGenerator<CoinRecord> {
  const slice = new Slice();
  const base = findBase(snapshot);
  if (base !== undefined)
    for await (const page of snapshot.pages(BASE_COINS))
      for (const [key, value] of page) {
        if (slice.isOverAfterStep()) await nextTurn();
        const coin = decodeBaseCoin(key, value, base);
        onRecord(coin?.height ?? 0);
        if (coin !== undefined) yield { key, position: undefined, coins: [{ ...coin, index: baseCoinIndex(key) }] };
      }
  for await (const page of snapshot.pages(ALL_COINS))
    for (const [key, value] of page) {
      if (slice.isOverAfterStep()) await nextTurn();
      const position = coinPosition(key);
      onRecord(position.height);
      yield { key, position, coins: transactionCoins(key, value, position) };
    }
}

/** @throws DamagedIndexError */
function txidIn(txids: Buffer, index: number, key: Buffer): Buffer {
  const at = index * HASH_LENGTH;
  if (at >= txids.length) throw damaged(key, `one of the ${txids.length / HASH_LENGTH} transactions of the block`, `transaction ${index}`);
  return txids.subarray(at, at + HASH_LENGTH);
}

/** outpoint; height * 2 + coinbase flag 4; amount 8; script after its length. All little endian. */
function elementOf(txid: Buffer, index: number, { height, coinbase, value, script }: Coin): Buffer {
  const bytes = Buffer.allocUnsafe(MOST_BESIDE_SCRIPT + script.length);
  let end = bytes.writeUInt32LE(index, txid.copy(bytes));
  end = bytes.writeUInt32LE(height * 2 + (coinbase ? 1 : 0), end);
  end = bytes.writeBigInt64LE(BigInt(value), end);
  end = writeCompactSize(bytes, script.length, end);
  return bytes.subarray(0, end + script.copy(bytes, end));
}
