// All coins of the node at one block, read from a snapshot of its database while its chain moves on. Keys are those of bcoin's
// blockchain/layout.js: `c` coins, `H` hashes by height, `e` entries by hash.

import { HEADER_LENGTH } from '../bitcoin/header';
import { MalformedBytesError } from '../bitcoin/reader';
import { ChainMovedError } from './errors';
import { fromHost, sameHostHash, type HostChain, type HostIterator, type HostRange } from './host';
import { StoredCoinReader } from './stored-coin';
import type { BlockPoint } from './types/chain';
import type { CoinSet, NodeCoin } from './types/coins';

/** Coins that are yielded together. More would take much memory. */
const COINS_AT_ONCE = 10_000;
const HEADERS_AT_ONCE = 500;

/** The coins at a moment in which the chain does not change; the chain waits only while the snapshot is taken. Must be closed. */
export async function openCoinSet(chain: HostChain): Promise<CoinSet> {
  const unlock = await chain.locker.lock();
  try {
    if (!sameHostHash(chain.tip.hash, chain.db.state.tip)) throw new ChainMovedError('the chain is being reset');
    return new HostCoinSet(chain);
  } finally {
    unlock();
  }
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
    const {
      tip,
      db: { db, state }
    } = chain;
    this.#chain = chain;
    this.tip = { hash: Buffer.from(fromHost(tip.hash)), height: tip.height };
    this.count = state.coin;
    this.value = state.value;
    this.transactions = state.tx;
    this.#coins = db.iterator({ ...bounds('c', 36), values: true });
    this.#heights = db.iterator({ ...bounds('H', 4), values: true });
    // From here on the iterators read from a snapshot, of LevelDB or of the tree in memory.
    this.#coins.start();
    this.#heights.start();
  }

  async *coins(): AsyncGenerator<readonly NodeCoin[]> {
    for await (const records of portions(this.#coins, COINS_AT_ONCE))
      yield records.map(([coinKey, record]) => readNodeCoin(coinKey, record));
  }

  async *headers(): AsyncGenerator<readonly Buffer[]> {
    const { db } = this.#chain.db;
    for await (const records of portions(this.#heights, HEADERS_AT_ONCE)) {
      yield await Promise.all(
        records.map(async ([, hash]) => {
          // Entries are not read from the snapshot, but they never change; a reset deletes them.
          const entry = await db.get(key('e', hash));
          if (entry === null) throw new ChainMovedError('the chain was reset meanwhile');
          return entry.subarray(0, HEADER_LENGTH);
        })
      );
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
    while (portion.length < size && (await records.next())) portion.push([records.key, records.value]);
    if (portion.length > 0) yield portion;
    if (portion.length < size) return;
  }
}

/** All keys that begin with a letter and have `length` bytes after it. */
function bounds(letter: string, length: number): HostRange {
  const [first, last] = [key(letter, Buffer.alloc(length)), key(letter, Buffer.alloc(length, 0xff))];
  return { gt: key(letter), gte: first, lt: Buffer.concat([last, Buffer.alloc(1)]), lte: last };
}

function key(letter: string, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(letter), ...parts]);
}

/** A coin from its key (`c`, txid 32, index 4) and its record; the txid is a view. @throws MalformedBytesError */
export function readNodeCoin(coinKey: Buffer, record: Buffer): NodeCoin {
  if (coinKey.length !== 37) throw new MalformedBytesError('a key of 37 bytes', `${coinKey.length}`, 0);
  const coin = new StoredCoinReader(record).coin();
  return { txid: coinKey.subarray(1, 33), index: coinKey.readUInt32BE(33), ...coin };
}
