// All coins of the node at one block, read from a snapshot of its database while its chain
// goes on, and those that a block spent. Keys are those of bcoin's blockchain/layout.js: `c` coins, `u` coins that a
// block spent, `H` hashes by height, `e` entries by hash.

import { sameHostHash, fromHost } from './host-hash';
import { readNodeCoin, readUndoCoins } from './host-coin';
import { ChainMovedError } from './errors';
import type { HostChain, HostIterator, HostNode } from './host';
import type { BlockPoint, CoinSet, NodeCoin, SpentNodeCoin } from './types';

const HEADER_BYTES = 80;
/** Enough for a piece of work, little enough for the memory. */
const PORTION = 10_000;
const HEADERS_AT_ONCE = 500;

/**
 * Takes the state of a moment in which nothing is under way in the chain; the chain is not held
 * longer than that. To be closed.
 */
export async function openCoinSet(chain: HostChain): Promise<CoinSet> {
  const unlock = await chain.locker.lock();
  try {
    if (!sameHostHash(chain.tip.hash, chain.db.state.tip)) throw new ChainMovedError('the chain is being reset');
    return new HostCoinSet(chain);
  } finally {
    unlock();
  }
}

/** The coins that a block spends: `u` by hash in 1.x, in the block store of 2.x. */
export async function readSpentCoins(hash: Buffer, { blocks, chain }: HostNode): Promise<readonly SpentNodeCoin[] | undefined> {
  const record = await (blocks === undefined ? chain.db.db.get(key('u', hash)) : blocks.readUndo(hash));
  return record === null ? undefined : readUndoCoins(record);
}

class HostCoinSet implements CoinSet {
  readonly tip: BlockPoint;
  readonly count: number;
  readonly value: number;
  readonly transactions: number;
  readonly #chain: HostChain;
  readonly #coins: HostIterator;
  readonly #heights: HostIterator;

  constructor(chain: HostChain) {
    const { tip, db: { db, state } } = chain;
    this.#chain = chain;
    this.tip = { hash: Buffer.from(fromHost(tip.hash)), height: tip.height };
    this.count = state.coin;
    this.value = state.value;
    this.transactions = state.tx;
    this.#coins = db.iterator({ ...bounds('c', 36), values: true });
    this.#heights = db.iterator({ ...bounds('H', 4), values: true });
    // Started is: on its snapshot, LevelDB's or that of the tree in memory.
    this.#coins.start();
    this.#heights.start();
  }

  async *coins(): AsyncGenerator<readonly NodeCoin[]> {
    for await (const records of portions(this.#coins, PORTION))
      yield records.map(([coinKey, record]) => readNodeCoin(coinKey, record));
  }

  async *headers(): AsyncGenerator<readonly Buffer[]> {
    const { db } = this.#chain.db;
    for await (const records of portions(this.#heights, HEADERS_AT_ONCE)) {
      yield await Promise.all(records.map(async ([, hash]) => {
        // Not of the snapshot, but an entry never changes; a reset deletes it.
        const entry = await db.get(key('e', hash));
        if (entry === null) throw new ChainMovedError('the chain was reset meanwhile');
        return entry.subarray(0, HEADER_BYTES);
      }));
    }
  }

  async close(): Promise<void> {
    await this.#coins.end();
    await this.#heights.end();
  }
}

async function* portions(records: HostIterator, size: number): AsyncGenerator<(readonly [key: Buffer, value: Buffer])[]> {
  for (;;) {
    const portion: (readonly [Buffer, Buffer])[] = [];
    while (portion.length < size && await records.next()) portion.push([records.key, records.value]);
    if (portion.length > 0) yield portion;
    if (portion.length < size) return;
  }
}

/** Of all keys of a letter that are so long behind it. */
function bounds(letter: string, length: number): { readonly gt: Buffer; readonly gte: Buffer; readonly lt: Buffer; readonly lte: Buffer } {
  const [first, last] = [key(letter, Buffer.alloc(length)), key(letter, Buffer.alloc(length, 0xff))];
  return { gt: key(letter), gte: first, lt: Buffer.concat([last, Buffer.alloc(1)]), lte: last };
}

function key(letter: string, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(letter), ...parts]);
}
