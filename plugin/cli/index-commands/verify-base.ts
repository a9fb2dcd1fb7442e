// `index verify` of an index that began with the node's coins: it cannot be computed from
// blocks, some of which may be gone. All its coins are held against the node's own, headers
// against those of the node's chain, and what it knows of transactions and how to take blocks
// out again against the node's blocks.

import { hash256, toDisplayHex } from '../../../lib/bitcoin/hash';
import { scanBlock, type ScannedBlock } from '../../../lib/bitcoin/block';
import { bitsOf, MEDIAN_TIME_SPAN, medianTimePast, timeOf } from '../../../lib/bitcoin/header';
import { proofOf } from '../../../lib/bitcoin/work';
import type { Base } from '../../../lib/index/records/base';
import { decodeBaseCoin } from '../../../lib/index/records/base-coin';
import { coinsIn } from '../../../lib/index/records/coin-record';
import { decodeHeader, headerKey, heightOf, type StoredHeader } from '../../../lib/index/records/header';
import { recordOf } from '../../../lib/index/records/layout';
import { SnapshotReader } from '../../../lib/index/read/reader';
import { EXIT, ImpossibleError, type CommandContext, type ExitCode } from './command';
import { blockJson, blockText } from './open-index';
import { differentUndo, whereKnown } from './verify-undo';
import { progressDisplay, type ProgressDisplay } from './progress-display';
import type { IndexSnapshot } from '../../../lib/index/types';
import type { BlockPoint, NodeCoin, NodeSource } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';

/** The base's coins, and those by place. */
const COIN_LETTERS = ['c', 'o'] as const;

/** @throws ImpossibleError when the node stands elsewhere, DamagedIndexError. */
export async function compareWithNode({ stopped, signal, json, out }: CommandContext, store: Store, base: Base, tip: BlockPoint): Promise<ExitCode> {
  const { node } = stopped;
  if (!node.tip().hash.equals(tip.hash))
    throw new ImpossibleError(`the index began with the node's coins, and can only be compared with them at the same block: expected ${blockText(node.tip())}, got ${blockText(tip)}; the node brings it there when it runs`);
  const display = progressDisplay(process.stderr);
  // Damage is to be told as such.
  const reader = new SnapshotReader(store, (error) => { throw error; });
  const comparison = new Comparison({ node, store, base, tip, signal, display });
  const difference = await reader.read((snapshot) => comparison.run(snapshot)).finally(() => {
    display.end();
    reader.close();
  });
  const { records } = comparison;
  out(json
    ? `${JSON.stringify({ verified: difference === undefined, index: blockJson(tip), records, ...difference !== undefined && { difference } })}\n`
    : `${difference === undefined ? `The index is right: all its coins at ${blockText(tip)} are the node's, and the blocks from ${base.positionsFrom} up are in it; ${records} comparisons.` : `The index is wrong after ${records} right comparisons: ${difference}.`}\n`);
  return difference === undefined ? EXIT.done : EXIT.different;
}

interface ComparisonParts {
  readonly node: NodeSource;
  readonly store: Store;
  readonly base: Base;
  readonly tip: BlockPoint;
  readonly signal: AbortSignal;
  readonly display: ProgressDisplay;
}

/** About how much of the work is done when each step begins, 0 to 1. */
const BEGINS = { coins: 0, count: 0.3, headers: 0.4, blocks: 0.45, undo: 0.95 } as const;

class Comparison {
  records = 0;

  constructor(private readonly parts: ComparisonParts) {}

  /** The first difference in words. */
  async run(snapshot: IndexSnapshot): Promise<string | undefined> {
    const { node, store, tip } = this.parts;
    return await this.coins(snapshot) ?? await this.headers() ?? await this.blocks(snapshot)
      ?? await differentUndo(tip, { node, store, snapshot, onRecord: () => { this.note(BEGINS.undo); } });
  }

  private async coins(snapshot: IndexSnapshot): Promise<string | undefined> {
    const set = await this.parts.node.openCoinSet();
    let count = 0;
    try {
      for await (const coins of set.coins()) {
        for (const coin of coins) {
          this.note(BEGINS.count * Math.min(++count / set.count, 1));
          const found = snapshot.coin(coin.txid, coin.index);
          if (found?.value !== coin.value || found.height !== coin.height || found.coinbase !== coin.coinbase || !found.script.equals(coin.script))
            return `coin ${nameOf(coin)}: expected ${coin.value} satoshis of height ${coin.height}, got ${found === undefined ? 'none' : `${found.value} of height ${found.height}`}`;
        }
      }
    } finally {
      await set.close();
    }
    // The node's coins are all there: no others are, if there are as many.
    const own = await this.count();
    return own === count ? undefined : `expected ${count} coins, got ${own}`;
  }

  private async count(): Promise<number> {
    let count = 0;
    for (const letter of COIN_LETTERS) {
      for await (const [key, value] of this.parts.store.range({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) })) {
        this.parts.signal.throwIfAborted();
        count += letter === 'o' ? coinsIn(recordOf(key, value)).length : decodeBaseCoin(key, value, this.parts.base) === undefined ? 0 : 1;
      }
    }
    return count;
  }

  /** Of all blocks, what follows from the headers alone. */
  private async headers(): Promise<string | undefined> {
    const { node, tip } = this.parts;
    let chainwork = 0n;
    let times: readonly number[] = [];
    for (let height = 0; height <= tip.height; height++) {
      this.note(BEGINS.headers + (BEGINS.blocks - BEGINS.headers) * height / (tip.height + 1));
      const hash = await node.activeHash(height);
      const stored = this.storedHeader(height);
      if (hash === undefined || stored?.hash.equals(hash) !== true || !hash256(stored.header).equals(hash) || heightOf(this.parts.store, hash) !== height)
        return `header at height ${height}: expected that of ${hash === undefined ? 'no block' : toDisplayHex(hash)}`;
      chainwork += proofOf(bitsOf(stored.header));
      times = [...times, timeOf(stored.header)].slice(-MEDIAN_TIME_SPAN);
      if (stored.chainwork !== chainwork || stored.medianTime !== medianTimePast(times))
        return `header at height ${height}: expected work ${chainwork} and median time ${medianTimePast(times)}, got ${stored.chainwork} and ${stored.medianTime}`;
    }
    return undefined;
  }

  /** Transactions and sizes of the blocks that were read. */
  private async blocks(snapshot: IndexSnapshot): Promise<string | undefined> {
    const { node, base, tip } = this.parts;
    for (let { height } = tip; height >= base.positionsFrom; height--) {
      this.note(BEGINS.blocks + (BEGINS.undo - BEGINS.blocks) * (tip.height - height) / (tip.height - base.positionsFrom + 1));
      const hash = await node.activeHash(height);
      const raw = hash && await node.rawBlock(hash);
      const block = raw && scanBlock(raw);
      const difference = block && (this.counts(block, height) ?? this.transactions(block, height, snapshot));
      if (difference !== undefined) return difference;
    }
    return undefined;
  }

  private storedHeader(height: number): StoredHeader | undefined {
    const key = headerKey(height);
    const value = this.parts.store.get(key);
    return value && decodeHeader(key, value);
  }

  /** Headers count transactions and bytes up to their block. */
  private counts({ transactions: { length: count }, length }: ScannedBlock, height: number): string | undefined {
    const header = this.storedHeader(height);
    const below = height === 0 ? undefined : this.storedHeader(height - 1);
    const transactions = (header?.chainTransactions ?? 0) - (below?.chainTransactions ?? 0);
    // Bytes are not counted from the genesis block.
    const bytes = below === undefined ? length : (header?.chainBytes ?? 0) - below.chainBytes;
    if (header?.transactionCount === count && transactions === count && bytes === length) return undefined;
    return `header at height ${height}: expected ${count} transactions of ${length} bytes, got ${header?.transactionCount ?? 'none'}, counted as ${transactions} of ${bytes}`;
  }

  private transactions({ transactions }: ScannedBlock, height: number, snapshot: IndexSnapshot): string | undefined {
    for (const { txid, offset, length, isCoinbase } of transactions) {
      const found = whereKnown(() => snapshot.location(txid));
      // A later coinbase may have the same txid.
      if (isCoinbase && found !== undefined && found.block.height > height) continue;
      if (found?.block.height !== height || found.offset !== offset || found.length !== length) return `place of transaction ${toDisplayHex(txid)}: expected byte ${offset} of the block at height ${height}`;
    }
    return undefined;
  }

  private note(part: number): void {
    this.parts.signal.throwIfAborted();
    this.parts.display.compared(++this.records, part);
  }
}

const nameOf = ({ txid, index }: NodeCoin): string => `${toDisplayHex(txid)}-${index}`;
