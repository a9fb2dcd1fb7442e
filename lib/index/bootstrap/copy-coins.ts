// Starts an empty index from the coins that the node holds, instead of from all its blocks: in one pass over one state of the
// node, whose tip becomes the base of the index (base.ts). The index's tip is written last: an interrupted copy starts over.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { MalformedBytesError } from '../../bitcoin/reader';
import { totalSubsidy } from '../../bitcoin/subsidy';
import { BASE_BYTES, findBase, putBase, type Base } from '../records/base';
import { putBaseCoin } from '../records/base-coin';
import { encodeHeader, extendHeaders, headerKey, NO_HEADERS, putHeight, putTip, TIP_KEY, type HeaderChain } from '../records/chain';
import { damaged, putRecord, WriteBuffer } from '../records/layout';
import { CoinSetError } from '../errors';
import { ChainMovedError } from '../../node/errors';
import type { NetworkInfo } from '../../node/types/chain';
import type { CoinSet, NodeCoin } from '../../node/types/coins';
import type { StoreWrite } from '../../store/store';
import type { IndexState } from '../types';
import type { StepParts } from './steps';

/**
 * Two coinbases of the main network were replaced by later ones with the same txid while they still had coins. For a chain
 * below that height an index is quickly built from blocks.
 */
const REPEATED_COINBASES = { chain: 'main', upTo: 91_880, coins: 2, value: 10_000_000_000 } as const;

export interface BootstrapParts extends StepParts {
  /** Once it is aborted, work stops after the current part. */
  readonly signal: AbortSignal;
  /** Called before each part of the work. */
  readonly onState: (state: IndexState) => void;
  /** Empties the store and prepares it for the first block. */
  readonly clear: () => Promise<void>;
}

/**
 * Empties an index that has only a part of the node's coins: a base, but no tip.
 * @throws DamagedIndexError when it has blocks above the base, and so had a tip; StoreError
 */
export async function dropPartialCopy({ store, logger, clear }: Pick<BootstrapParts, 'store' | 'logger' | 'clear'>): Promise<void> {
  const base = findBase(store);
  if (base === undefined) return;
  if (store.get(headerKey(base.height + 1)) !== undefined) throw damaged(TIP_KEY, 'a tip above the base', 'none');
  logger.warning('Copying the coins of the node was interrupted. What was copied is deleted.');
  await clear();
}

/**
 * Brings an empty index to the node's current state, or leaves it empty, to be built from blocks. Returns the reason if the
 * node's coins cannot be used; trying again would not help.
 */
export async function copyCoins(parts: BootstrapParts): Promise<string | undefined> {
  const { signal, logger, writer, clear } = parts;
  for (;;) {
    signal.throwIfAborted();
    try {
      if (await copyState(parts)) await writer.load();
      return undefined;
    } catch (error) {
      const hasMoved = error instanceof ChainMovedError;
      if (!(hasMoved || error instanceof CoinSetError || error instanceof MalformedBytesError)) throw error;
      logger.warning(`${hasMoved ? 'Copying the coins of the node again' : 'Building the index from blocks'}: ${error.message}.`);
      await clear();
      if (!hasMoved) return error.message;
    }
  }
}

/**
 * False: the chain is so short that building the index from blocks is quick. @throws CoinSetError when the coins are not what
 * they must be, ChainMovedError, MalformedBytesError.
 */
async function copyState(parts: BootstrapParts): Promise<boolean> {
  const { node, store } = parts;
  const set = await node.openCoinSet();
  try {
    const { tip } = set;
    if (tip.height === 0 || (node.network.chain === REPEATED_COINBASES.chain && tip.height < REPEATED_COINBASES.upTo)) return false;
    const base: Base = { ...tip, positionsFrom: tip.height + 1, bytes: 0, ended: false };
    // The base is written first: a base without a tip means that a copy was interrupted.
    await store.batch([putBase(base)], { durable: false });
    await writeHeaders(set, parts);
    await writeCoins(set, parts);
    await store.batch([putTip(tip)], { durable: true });
    return true;
  } finally {
    await set.close();
  }
}

async function writeHeaders(set: CoinSet, { store, signal, onState }: BootstrapParts): Promise<void> {
  let chain: HeaderChain = NO_HEADERS;
  let previous: Buffer = Buffer.alloc(32);
  for await (const headers of set.headers()) {
    signal.throwIfAborted();
    onState({ phase: 'copying', coins: 0, of: set.count });
    const writes: StoreWrite[] = [];
    for (const header of headers) {
      if (!previousHashOf(header).equals(previous)) throw new ChainMovedError(`expected a header on top of ${toDisplayHex(previous)}`);
      const hash = hash256(header);
      const isBase = hash.equals(set.tip.hash);
      const next = extendHeaders(chain, hash, header, {
        transactionCount: 0,
        chainTransactions: isBase ? set.transactions : 0,
        chainBytes: isBase ? BASE_BYTES : 0
      });
      writes.push(putRecord(headerKey(next.tip.height), encodeHeader(next.tip)), putHeight(hash, next.tip.height));
      chain = next;
      previous = hash;
    }
    await store.batch(writes, { durable: false });
  }
  if (!previous.equals(set.tip.hash))
    throw new ChainMovedError(`expected headers up to ${toDisplayHex(set.tip.hash)}, got some up to ${toDisplayHex(previous)}`);
}

/** @throws CoinSetError when number or value of the coins differ from what the node has counted. */
async function writeCoins(set: CoinSet, { node, store, signal, onState }: BootstrapParts): Promise<void> {
  const buffer = new WriteBuffer();
  let [count, value] = [0, 0];
  const writesOf = function* (coins: readonly NodeCoin[]): Generator<StoreWrite> {
    for (const coin of coins) {
      count++;
      value += coin.value;
      yield putBaseCoin(coin, buffer);
    }
  };
  // The next coins are read while the previous ones are written.
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const coins of set.coins()) {
      await writing;
      signal.throwIfAborted();
      onState({ phase: 'copying', coins: count, of: set.count });
      writing = store.batch(writesOf(coins), { durable: false });
      // The write is awaited above or below; a rejection that is unhandled until then would end the node.
      writing.catch(() => undefined);
    }
  } finally {
    // After an error the caller clears the store: no write may come later than that.
    await writing;
  }
  requireAllOf(set, count, value, node.network);
}

/** @throws CoinSetError */
function requireAllOf(set: CoinSet, count: number, value: number, network: NetworkInfo): void {
  const { height } = set.tip;
  const repeated = network.chain === REPEATED_COINBASES.chain ? REPEATED_COINBASES : { coins: 0, value: 0 };
  const expected = { count: set.count - repeated.coins, value: set.value - repeated.value };
  if (count !== expected.count || value !== expected.value)
    throw new CoinSetError(
      `expected ${expected.count} coins of ${expected.value} satoshis at height ${height}, as the node has counted them, got ${count} of ${value}`
    );
  const most = totalSubsidy(height, network.halvingInterval);
  if (value > most)
    throw new CoinSetError(`expected coins of at most ${most} satoshis at height ${height}, all that was ever created, got ${value}`);
}
