// `index verify` of an index that began with the node's coins. It cannot be computed again, because some blocks may be gone. All its
// coins are compared with the node's own, its headers with those of the node's chain, and its positions and undo records with the
// node's blocks.

import { scanBlock, type ScannedBlock } from '../../../lib/bitcoin/block';
import { hash256, toDisplayHex } from '../../../lib/bitcoin/hash';
import { nextHeader, type HeaderFold } from '../../../lib/bitcoin/header';
import { SnapshotReader } from '../../../lib/index/read/reader';
import { decodeBaseCoin } from '../../../lib/index/records/base-coin';
import { decodeHeader, headerKey, heightOf, type StoredHeader } from '../../../lib/index/records/chain';
import { coinsIn } from '../../../lib/index/records/coin-record';
import { recordOf } from '../../../lib/index/records/layout';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { differenceText } from './difference';
import { ImpossibleError } from './errors';
import { blockJson, blockText } from './open-index';
import { differentFilter } from './verify-filters';
import { differentUndo, whereKnown } from './verify-undo';
import type { Base } from '../../../lib/index/records/base';
import type { IndexSnapshot } from '../../../lib/index/types';
import type { BlockPoint, NodeSource } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';

/** The letters of records of the base's coins, and of coins by position. */
const COIN_LETTERS = ['c', 'o'] as const;

/** @throws ImpossibleError when the node is at another block, DamagedIndexError. */
export async function compareWithNode(
  { stopped: { node }, display, signal }: CommandContext,
  store: Store,
  base: Base,
  tip: BlockPoint
): Promise<CommandResult> {
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
    .read((snapshot) => new Comparison({ node, store, base, tip, snapshot, signal, note }).run())
    .finally(() => {
      display.end();
      reader.close();
    });
  return {
    exit: difference === undefined ? EXIT.done : EXIT.different,
    json: { verified: difference === undefined, index: blockJson(tip), records, ...(difference !== undefined && { difference }) },
    text:
      difference === undefined
        ? `The index is right: all its coins at ${blockText(tip)} are the node's, ` +
          `and the blocks from ${base.positionsFrom} up are in it; ${records} comparisons.`
        : `The index is wrong after ${records} right comparisons: ${difference}.`
  };
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

/** Roughly how much of the work is done when each step begins, 0 to 1. */
const BEGINS = { coins: 0, headers: 0.4, blocks: 0.45, undo: 0.95 } as const;

/** Each step returns the first difference as text, or undefined. */
class Comparison {
  readonly #compared: Compared;

  constructor(compared: Compared) {
    this.#compared = compared;
  }

  async run(): Promise<string | undefined> {
    const { tip, note } = this.#compared;
    return (
      (await this.#coins()) ??
      (await this.#headers()) ??
      (await this.#blocks()) ??
      (await differentUndo(tip, {
        ...this.#compared,
        onRecord: () => {
          note(BEGINS.undo);
        }
      })) ??
      (await this.#filters())
    );
  }

  async #coins(): Promise<string | undefined> {
    const { node, store, base, snapshot, signal, note } = this.#compared;
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
  async #headers(): Promise<string | undefined> {
    const { node, tip, note } = this.#compared;
    let fold: HeaderFold | undefined;
    for (let height = 0; height <= tip.height; height++) {
      note(BEGINS.headers + ((BEGINS.blocks - BEGINS.headers) * height) / (tip.height + 1));
      const hash = await node.activeHash(height);
      const stored = this.#storedHeader(height);
      if (
        hash === undefined ||
        stored?.hash.equals(hash) !== true ||
        !hash256(stored.header).equals(hash) ||
        heightOf(this.#compared.store, hash) !== height
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
  async #blocks(): Promise<string | undefined> {
    const { node, base, tip, note } = this.#compared;
    for (let { height } = tip; height >= base.positionsFrom; height--) {
      note(BEGINS.blocks + ((BEGINS.undo - BEGINS.blocks) * (tip.height - height)) / (tip.height - base.positionsFrom + 1));
      const hash = await node.activeHash(height);
      const raw = hash && (await node.rawBlock(hash));
      const block = raw && scanBlock(raw);
      const difference = block && (this.#counts(block, height) ?? this.#transactions(block, height));
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  async #filters(): Promise<string | undefined> {
    const { node, store, tip, note } = this.#compared;
    const difference = await differentFilter(tip, {
      node,
      store,
      onBlock: () => {
        note(BEGINS.undo);
      }
    });
    return difference && differenceText(difference);
  }

  #storedHeader(height: number): StoredHeader | undefined {
    const key = headerKey(height);
    const value = this.#compared.store.get(key);
    return value && decodeHeader(key, value);
  }

  /** Compares numbers of transactions and bytes, of which header records have running totals. */
  #counts({ transactions: { length: count }, length }: ScannedBlock, height: number): string | undefined {
    const header = this.#storedHeader(height);
    const below = height === 0 ? undefined : this.#storedHeader(height - 1);
    const transactions = (header?.chainTransactions ?? 0) - (below?.chainTransactions ?? 0);
    // The total of bytes need not begin with the genesis block.
    const bytes = below === undefined ? length : (header?.chainBytes ?? 0) - below.chainBytes;
    if (header?.transactionCount === count && transactions === count && bytes === length) return undefined;
    return (
      `header at height ${height}: expected ${count} transactions of ${length} bytes, ` +
      `got ${header?.transactionCount ?? 'none'}, counted as ${transactions} of ${bytes}`
    );
  }

  #transactions({ transactions }: ScannedBlock, height: number): string | undefined {
    const { snapshot } = this.#compared;
    for (const { txid, offset, length, isCoinbase } of transactions) {
      const found = whereKnown(() => snapshot.location(txid));
      // A later coinbase may have the same txid.
      if (isCoinbase && found !== undefined && found.block.height > height) continue;
      if (found?.block.height !== height || found.offset !== offset || found.length !== length)
        return `position of transaction ${toDisplayHex(txid)}: expected byte ${offset} of the block at height ${height}`;
    }
    return undefined;
  }
}
