// Verifies the undo records of an index that began with the node's coins: each is compared with the node's undo data of its block, and
// there must be no gap between them.

import { toDisplayHex } from '../../../../lib/bitcoin/hash';
import { scanBlock } from '../../../../lib/bitcoin/block';
import { baseCoinOf, restoringBaseWrites, spentBaseKey } from '../../../../lib/index/records/base-coin';
import { GROUP_SIZE, readCoin } from '../../../../lib/index/records/coin-record';
import { recordOf } from '../../../../lib/index/records/layout';
import { TxidHasher } from '../../../../lib/index/records/txid-hash';
import { decodeUndo, HASH_START_LENGTH, undoKey, type UndoRecord } from '../../../../lib/index/records/undo-record';
import { NotYetKnownError } from '../../../../lib/index/errors';
import { ClosedIndex } from '../../../../lib/index/read/closed-index';
import { RecordReader } from '../../../../lib/index/records/numbers';
import type { IndexSnapshot } from '../../../../lib/index/types';
import type { BlockPoint } from '../../../../lib/node/types/chain';
import type { SpentNodeCoin } from '../../../../lib/node/types/coins';
import type { NodeSource } from '../../../../lib/node/types/source';
import type { Store } from '../../../../lib/store/store';

export interface UndoParts {
  readonly node: NodeSource;
  readonly store: Store;
  readonly snapshot: IndexSnapshot;
  /** Called before each record. May throw to end the comparison. */
  readonly onRecord: () => void;
}

/** The first difference as text, from the tip down. Blocks without undo data in the node are not compared. @throws DamagedIndexError */
export async function differentUndo(tip: BlockPoint, parts: UndoParts): Promise<string | undefined> {
  const { node, store, onRecord } = parts;
  const hasher = TxidHasher.of(store);
  let { height } = tip;
  for (; height > 0; height--) {
    const key = undoKey(height);
    const value = store.get(key);
    if (value === undefined) break;
    onRecord();
    const hash = await node.activeHash(height);
    const [raw, spent] = hash === undefined ? [] : [await node.rawBlock(hash), await node.spentCoins(hash)];
    const undo = decodeUndo(recordOf(key, value), height);
    if (hash?.equals(undo.hash) !== true || (raw && spent && !isUndoOf(raw, spent, undo, height, hasher, parts)))
      return `undo record of height ${height}: expected that of ${hash === undefined ? 'no block' : toDisplayHex(hash)} and the coins that it spent`;
  }
  const lowest = await new ClosedIndex(store).lowestUndo();
  return lowest === undefined || lowest > height
    ? undefined
    : `undo record of height ${lowest}: expected none below the gap at height ${height}`;
}

function isUndoOf(
  raw: Buffer,
  spent: readonly SpentNodeCoin[],
  undo: UndoRecord,
  height: number,
  hasher: TxidHasher,
  { store, snapshot }: UndoParts
): boolean {
  const { transactions } = scanBlock(raw);
  const starts = Buffer.concat(transactions.map(({ txid }) => hasher.hash(txid).subarray(0, HASH_START_LENGTH)));
  const inputs = transactions.filter(({ isCoinbase }) => !isCoinbase).flatMap((transaction) => transaction.inputs);
  const expected: string[] = [];
  /** Txids of the transactions from which the block spends, by position. */
  const txids = new Map<string, Buffer>();
  spent.forEach((coin, i) => {
    const input = inputs[i];
    // Coins that the block itself creates are not in its undo record.
    if (input === undefined || coin.height === height) return;
    const { txid } = input;
    const position = whereKnown(() => snapshot.position(txid));
    // Of a coinbase with the txid of an earlier one (BIP30), the index knows the position of the last only.
    if (position !== undefined) txids.set(`${coin.height} ${coin.coinbase ? 0 : position.index}`, txid);
    expected.push(textOf(txid, input.index, coin));
  });
  const found = [...coinsOfUndo(undo, txids), ...baseCoinsOfUndo(height, store)];
  return spent.length === inputs.length && starts.equals(undo.hashStarts) && found.sort().join() === expected.sort().join();
}

/** Undefined if an index that began with coins does not know: it then has no record by position. */
export function whereKnown<T>(ask: () => T | undefined): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof NotYetKnownError) return undefined;
    throw error;
  }
}

/** The coins of an undo record, without those that the coinbase replaced: the block did not spend these. */
function coinsOfUndo({ coins, replaced }: UndoRecord, txids: ReadonlyMap<string, Buffer>): string[] {
  return coins
    .filter(({ position }) => position.height !== replaced?.height || position.index !== replaced.index)
    .map(({ position, group, coin }) => {
      const { slot, value, script } = readCoin(new RecordReader(coin));
      const txid = txids.get(`${position.height} ${position.index}`) ?? Buffer.alloc(0);
      return textOf(txid, group * GROUP_SIZE + slot, { height: position.height, coinbase: position.index === 0, value, script });
    });
}

function baseCoinsOfUndo(height: number, store: Store): string[] {
  const key = spentBaseKey(height);
  const value = store.get(key);
  const writes = value === undefined ? [] : restoringBaseWrites(key, value);
  return writes.map((write) => textOf(write.key.subarray(1, 33), write.key.readUInt32BE(33), baseCoinOf(recordOf(write.key, write.value))));
}

function textOf(txid: Buffer, index: number, { height, coinbase, value, script }: SpentNodeCoin): string {
  return `${txid.toString('hex')}-${index} ${height} ${coinbase ? 'coinbase' : ''} ${value} ${script.toString('hex')}`;
}
