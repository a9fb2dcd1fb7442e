// `index verify` of an index that began with the node's coins. It cannot be computed again, because some blocks may be gone. All its
// coins are compared with the node's own, its headers with those of the node's chain, and its positions and undo records with the
// node's blocks.

import { scanBlock, type ScannedBlock } from '../../../../lib/bitcoin/block';
import { hash256, toDisplayHex } from '../../../../lib/bitcoin/hash';
import { nextHeader, type HeaderFold } from '../../../../lib/bitcoin/header';
import { SnapshotReader } from '../../../../lib/index/read/reader';
import { decodeBaseCoin } from '../../../../lib/index/records/base-coin';
import { decodeHeader, headerKey, heightOf, type StoredHeader } from '../../../../lib/index/records/chain';
import { coinsIn } from '../../../../lib/index/records/coin-record';
import { recordOf } from '../../../../lib/index/records/layout';
import { ImpossibleError } from '../errors';
import { blockText, described, MAIN, verdict, type Report } from '../report';
import { differentFilter } from './filters';
import { differentUndo, whereKnown } from './undo-records';
import type { Base } from '../../../../lib/index/records/base';
import type { IndexSnapshot } from '../../../../lib/index/types';
import type { BlockPoint } from '../../../../lib/node/types/chain';
import type { NodeSource } from '../../../../lib/node/types/source';
import type { Store } from '../../../../lib/store/store';
import type { CommandContext } from '../stopped-index';

/** The letters of records of the base's coins, and of coins by position. */
const COIN_LETTERS = ['c', 'o'] as const;

/** @throws ImpossibleError when the node is at another block, DamagedIndexError. */
export async function compareWithNode(
  { stopped: { node }, display, signal }: CommandContext,
  store: Store,
  base: Base,
  tip: BlockPoint
): Promise<Report> {
  if (!node.tip().hash.equals(tip.hash))
    throw new ImpossibleError(
      `the index began with the node's coins, and can only be compared with them at the same block: ` +
        `expected ${blockText(node.tip())}, got ${blockText(tip)}; the node brings it there when it runs`
    );
  let records = 0;
  const note = (part: number): void => {
    signal.throwIfAborted();
    display.compared(++records, part);
  };
  // Damage must end the comparison as an error.
  const reader = new SnapshotReader(store, (error) => {
    throw error;
  });
  const difference = await reader
    .read((snapshot) => firstDifference({ node, store, base, tip, snapshot, signal, note }))
    .finally(() => {
      display.end();
      reader.close();
    });
  return verdict(MAIN, {
    tip,
    difference,
    counts: { records },
    right:
      `all its coins at ${blockText(tip)} are the node's, ` +
      `and the blocks from ${base.positionsFrom} up are in it; ${records} comparisons.`,
    wrong: ` after ${records} right comparisons`
  });
}

interface Compared {
  readonly node: NodeSource;
  readonly store: Store;
  readonly base: Base;
  readonly tip: BlockPoint;
  readonly snapshot: IndexSnapshot;
  readonly signal: AbortSignal;
  /** To be called before each comparison, with how much of the work is done, 0 to 1. @throws the reason of an abort. */
  readonly note: (part: number) => void;
}

/** Roughly how much of the work is done when each step after the first one begins, 0 to 1. */
const BEGINS = { headers: 0.4, blocks: 0.45, undo: 0.95 } as const;

/** The first difference as text; so is that of each step. */
async function firstDifference(compared: Compared): Promise<string | undefined> {
  const { node, store, tip, note } = compared;
  const noteRest = (): void => {
    note(BEGINS.undo);
  };
  const difference =
    (await differentCoin(compared)) ??
    (await differentHeader(compared)) ??
    (await differentBlock(compared)) ??
    (await differentUndo(tip, { ...compared, onRecord: noteRest })) ??
    (await differentFilter(tip, { node, store, onBlock: noteRest }));
  return typeof difference === 'object' ? described(difference, MAIN.describe).text : difference;
}

async function differentCoin({ node, store, base, snapshot, signal, note }: Compared): Promise<string | undefined> {
  const set = await node.openCoinSet();
  let count = 0;
  try {
    for await (const coins of set.coins()) {
      for (const { txid, index, value, height, coinbase, script } of coins) {
        note(BEGINS.headers * Math.min(++count / set.count, 1));
        const found = snapshot.coin(txid, index);
        if (found?.value !== value || found.height !== height || found.coinbase !== coinbase || !found.script.equals(script))
          return (
            `coin ${toDisplayHex(txid)}-${index}: expected ${value} satoshis of height ${height}, ` +
            `got ${found === undefined ? 'none' : `${found.value} of height ${found.height}`}`
          );
      }
    }
  } finally {
    await set.close();
  }
  // The index has all the node's coins: if it has as many, it has no others.
  let own = 0;
  for (const letter of COIN_LETTERS) {
    for await (const [key, value] of store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) {
      signal.throwIfAborted();
      own += letter === 'o' ? coinsIn(recordOf(key, value)).length : decodeBaseCoin(key, value, base) === undefined ? 0 : 1;
    }
  }
  return own === count ? undefined : `expected ${count} coins, got ${own}`;
}

/** Compares everything that follows from the headers alone, for all blocks. */
async function differentHeader({ node, store, tip, note }: Compared): Promise<string | undefined> {
  let fold: HeaderFold | undefined;
  for (let height = 0; height <= tip.height; height++) {
    note(BEGINS.headers + ((BEGINS.blocks - BEGINS.headers) * height) / (tip.height + 1));
    const hash = await node.activeHash(height);
    const stored = storedHeader(store, height);
    if (
      hash === undefined ||
      stored?.hash.equals(hash) !== true ||
      !hash256(stored.header).equals(hash) ||
      heightOf(store, hash) !== height
    )
      return `header at height ${height}: expected that of ${hash === undefined ? 'no block' : toDisplayHex(hash)}`;
    fold = nextHeader(fold, stored.header);
    if (stored.chainwork !== fold.chainwork || stored.medianTime !== fold.medianTime)
      return (
        `header at height ${height}: expected work ${fold.chainwork} and median time ${fold.medianTime}, ` +
        `got ${stored.chainwork} and ${stored.medianTime}`
      );
  }
  return undefined;
}

/** Compares transactions and sizes of the blocks whose positions the index has. */
async function differentBlock({ node, store, base, tip, snapshot, note }: Compared): Promise<string | undefined> {
  for (let { height } = tip; height >= base.positionsFrom; height--) {
    note(BEGINS.blocks + ((BEGINS.undo - BEGINS.blocks) * (tip.height - height)) / (tip.height - base.positionsFrom + 1));
    const hash = await node.activeHash(height);
    const raw = hash && (await node.rawBlock(hash));
    const block = raw && scanBlock(raw);
    const difference = block && (differentCounts(block, height, store) ?? differentPosition(block, height, snapshot));
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function storedHeader(store: Store, height: number): StoredHeader | undefined {
  const key = headerKey(height);
  const value = store.get(key);
  return value && decodeHeader(key, value);
}

/** Compares numbers of transactions and bytes, of which header records have running totals. */
function differentCounts({ transactions: { length: count }, length }: ScannedBlock, height: number, store: Store): string | undefined {
  const header = storedHeader(store, height);
  const below = height === 0 ? undefined : storedHeader(store, height - 1);
  const transactions = (header?.chainTransactions ?? 0) - (below?.chainTransactions ?? 0);
  // The total of bytes need not begin with the genesis block.
  const bytes = below === undefined ? length : (header?.chainBytes ?? 0) - below.chainBytes;
  if (header?.transactionCount === count && transactions === count && bytes === length) return undefined;
  return (
    `header at height ${height}: expected ${count} transactions of ${length} bytes, ` +
    `got ${header?.transactionCount ?? 'none'}, counted as ${transactions} of ${bytes}`
  );
}

function differentPosition({ transactions }: ScannedBlock, height: number, snapshot: IndexSnapshot): string | undefined {
  for (const { txid, offset, length, isCoinbase } of transactions) {
    const found = whereKnown(() => snapshot.location(txid));
    // A later coinbase may have the same txid.
    if (isCoinbase && found !== undefined && found.block.height > height) continue;
    if (found?.block.height !== height || found.offset !== offset || found.length !== length)
      return `position of transaction ${toDisplayHex(txid)}: expected byte ${offset} of the block at height ${height}`;
  }
  return undefined;
}
