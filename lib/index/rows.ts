// What a block adds to the index and takes from it: plain functions, no store in sight.
// Coins that the block itself spends never appear.

import { isUnspendable } from '../bitcoin/script';
import { blockHashKey, coinKey, encodeCoin, encodeLocation, encodeTip, headerKey, locationKey, putRecord, TIP_KEY, undoKey } from './layout';
import type { ScannedBlock } from '../bitcoin/block';
import type { ScannedTransaction } from '../bitcoin/transaction';
import type { BlockPoint } from '../node/types';
import type { StoreWrite } from '../store/store';
import type { UndoRecord } from './undo-record';

/** An outpoint as a key of maps: the latin1 text of its 36 bytes on the wire. */
export type Outpoint = string;

export interface BlockRows {
  /** Records of the coins that the block leaves. */
  readonly created: ReadonlyMap<Outpoint, Buffer>;
  /** What the block spends of earlier blocks, in its order. */
  readonly spent: readonly Outpoint[];
  /** Records of where the transactions lie. */
  readonly locations: readonly { readonly txid: Buffer; readonly record: Buffer }[];
  /** The coins of the coinbase, which may replace coins (BIP30); also those that the block goes on to spend. */
  readonly coinbaseCoins: readonly Outpoint[];
}

/** What was in the index before the block. */
export interface BlockFindings {
  /** Records of the coins in `spent`, in its order. */
  readonly spent: readonly Buffer[];
  /** Coins in whose place the coinbase's come. */
  readonly replacedCoins: ReadonlyMap<Outpoint, Buffer>;
  /** The location in whose place the coinbase's comes. */
  readonly replacedLocation: Buffer | undefined;
}

/** The output of the genesis coinbase was never a coin; its transaction is found all the same. */
export function blockRows(block: ScannedBlock, height: number): BlockRows {
  const created = new Map<Outpoint, Buffer>();
  const spent: Outpoint[] = [];
  const locations: { txid: Buffer; record: Buffer }[] = [];
  let coinbaseCoins: Outpoint[] = [];
  for (const transaction of block.transactions) {
    const { txid, offset, length, isCoinbase } = transaction;
    locations.push({ txid, record: encodeLocation({ height, offset, length }) });
    if (isCoinbase) {
      if (height > 0) addCoins(created, transaction, height);
      coinbaseCoins = [...created.keys()];
      continue;
    }
    for (const input of transaction.inputs) {
      const outpoint = input.bytes.toString('latin1', input.offset, input.offset + 36);
      if (!created.delete(outpoint)) spent.push(outpoint);
    }
    addCoins(created, transaction, height);
  }
  return { created, spent, locations, coinbaseCoins };
}

function addCoins(coins: Map<Outpoint, Buffer>, transaction: ScannedTransaction, height: number): void {
  const txid = transaction.txid.toString('latin1');
  const coinbase = transaction.isCoinbase;
  transaction.outputs.forEach(({ value, script }, index) => {
    if (!isUnspendable(script)) coins.set(txid + littleEndian(index), encodeCoin({ height, coinbase, value, script }));
  });
}

function littleEndian(index: number): string {
  return String.fromCharCode(index & 0xff, index >>> 8 & 0xff, index >>> 16 & 0xff, index >>> 24);
}

export function fromOutpoint(outpoint: Outpoint): { txid: Buffer; index: number } {
  const bytes = Buffer.from(outpoint, 'latin1');
  return { txid: bytes.subarray(0, 32), index: bytes.readUInt32LE(32) };
}

export function outpointCoinKey(outpoint: Outpoint): Buffer {
  const { txid, index } = fromOutpoint(outpoint);
  return coinKey(txid, index);
}

export function undoOf(block: ScannedBlock, rows: BlockRows, found: BlockFindings): UndoRecord {
  const [coinbase] = rows.locations;
  return {
    hash: block.hash,
    transactions: block.transactions.map(({ txid, outputs }) => ({ txid, outputs: outputs.length })),
    coins: [
      ...rows.spent.map((outpoint, i) => ({ ...fromOutpoint(outpoint), record: found.spent[i] as Buffer })), // one for each
      ...[...found.replacedCoins].map(([outpoint, record]) => ({ ...fromOutpoint(outpoint), record }))
    ],
    locations: found.replacedLocation === undefined || coinbase === undefined ? [] : [{ txid: coinbase.txid, record: found.replacedLocation }]
  };
}

/** The writes that take the block at `height` out again and make `previous` the tip. */
export function undoWrites(undo: UndoRecord, height: number, previous: BlockPoint): StoreWrite[] {
  const writes: StoreWrite[] = [];
  for (const { txid, outputs } of undo.transactions) {
    writes.push({ type: 'del', key: locationKey(txid) });
    for (let index = 0; index < outputs; index++)
      writes.push({ type: 'del', key: coinKey(txid, index) });
  }
  // After the deletions: a replaced coin has the key of the one that replaced it.
  for (const { txid, index, record } of undo.coins)
    writes.push(putRecord(coinKey(txid, index), record));
  for (const { txid, record } of undo.locations)
    writes.push(putRecord(locationKey(txid), record));
  writes.push(
    { type: 'del', key: headerKey(height) },
    { type: 'del', key: blockHashKey(undo.hash) },
    { type: 'del', key: undoKey(height) },
    putRecord(TIP_KEY, encodeTip(previous))
  );
  return writes;
}
