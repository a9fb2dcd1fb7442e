// Fills an empty index from the coins that the node holds, instead of from all its blocks: in
// one pass over one state, which is the index's base then (base.ts). The tip is written last:
// what was interrupted before is begun anew.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { MalformedBytesError } from '../../bitcoin/reader';
import { totalSubsidy } from '../../bitcoin/subsidy';
import { BASE_BYTES, putBase, type Base } from '../records/base';
import { putBaseCoin } from '../records/base-coin';
import { encodeHeader, extendHeaders, headerKey, NO_HEADERS, putHeight, type HeaderChain } from '../records/header';
import { putRecord } from '../records/layout';
import { putTip } from '../records/tip';
import { CoinSetError } from '../errors';
import { WriteBuffer } from '../records/write-buffer';
import { ChainMovedError } from '../../node/errors';
import type { CoinSet, NodeCoin, NodeSource } from '../../node/types';
import type { Store, StoreWrite } from '../../store/store';
import type { IndexWriter } from '../write/index-writer';
import type { IndexLogger } from '../types';
import type { IndexState } from '../types';

/**
 * Two coinbases of the main network that later ones with the same txid took the place of, as
 * long as it had coins to lose: below, an index is quickly built from blocks.
 */
const REPEATED_COINBASES = { chain: 'main', upTo: 91_880, coins: 2, value: 10_000_000_000 } as const;

const REPORT_MS = 1_000;

export interface BootstrapOptions {
  readonly node: NodeSource;
  readonly store: Store;
  readonly indexer: IndexWriter;
  readonly logger: IndexLogger;
  readonly signal: AbortSignal;
  readonly onState: (state: IndexState) => void;
  /** Empties the store and makes it ready for the first block. */
  readonly clear: () => Promise<void>;
}

export class Bootstrap {
  #refusal: string | undefined;

  constructor(private readonly options: BootstrapOptions) {}

  /** Why the node's coins cannot be taken; they are not tried again. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Brings an empty index to the node's state of now, or leaves it empty: then it is built from blocks. */
  async fill(): Promise<void> {
    const { signal, logger, indexer, clear } = this.options;
    while (this.#refusal === undefined) {
      signal.throwIfAborted();
      try {
        if (await this.copy()) await indexer.load();
        return;
      } catch (error) {
        if (!(error instanceof CoinSetError || error instanceof ChainMovedError || error instanceof MalformedBytesError)) throw error;
        if (!(error instanceof ChainMovedError)) this.#refusal = error.message;
        logger.warning(`${this.#refusal === undefined ? 'Copying the coins of the node anew' : 'Building the index from blocks'}: ${error.message}.`);
        await clear();
      }
    }
  }

  /** False: a chain to build from blocks. @throws CoinSetError when the coins are not what they must be, ChainMovedError, MalformedBytesError. */
  private async copy(): Promise<boolean> {
    const { node } = this.options;
    const set = await node.openCoinSet();
    try {
      if (set.tip.height === 0 || node.network.chain === REPEATED_COINBASES.chain && set.tip.height < REPEATED_COINBASES.upTo) return false;
      await new Copy(set, this.options).run();
      return true;
    } finally {
      await set.close();
    }
  }
}

class Copy {
  readonly #room = new WriteBuffer();
  #coins = 0;
  #value = 0;
  #reported = -Infinity;

  constructor(private readonly set: CoinSet, private readonly options: Pick<BootstrapOptions, 'node' | 'store' | 'signal' | 'onState'>) {}

  async run(): Promise<void> {
    const { set: { tip }, options: { store } } = this;
    const base: Base = { ...tip, positionsFrom: tip.height + 1, bytes: 0, ended: false };
    // Before all else: it tells what was left behind when there is no tip.
    await store.batch([putBase(base)], { durable: false });
    await this.copyHeaders();
    await this.copyCoins();
    this.check();
    await store.batch([putTip(tip)], { durable: true });
  }

  private async copyHeaders(): Promise<void> {
    const { set, options: { store, signal } } = this;
    let chain: HeaderChain = NO_HEADERS;
    let previous: Buffer = Buffer.alloc(32);
    for await (const headers of set.headers()) {
      signal.throwIfAborted();
      this.report();
      const writes: StoreWrite[] = [];
      for (const header of headers) {
        if (!previousHashOf(header).equals(previous)) throw new ChainMovedError(`expected a header on top of ${toDisplayHex(previous)}`);
        const hash = hash256(header);
        const isBase = hash.equals(set.tip.hash);
        const next = extendHeaders(chain, hash, header, { transactionCount: 0, chainTransactions: isBase ? set.transactions : 0, chainBytes: isBase ? BASE_BYTES : 0 });
        writes.push(putRecord(headerKey(next.tip.height), encodeHeader(next.tip)), putHeight(hash, next.tip.height));
        chain = next;
        previous = hash;
      }
      await store.batch(writes, { durable: false });
    }
    if (!previous.equals(set.tip.hash)) throw new ChainMovedError(`expected headers up to ${toDisplayHex(set.tip.hash)}, got some up to ${toDisplayHex(previous)}`);
  }

  private async copyCoins(): Promise<void> {
    const { set, options: { store, signal } } = this;
    // Coins are read while those before are written.
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const coins of set.coins()) {
        await writing;
        signal.throwIfAborted();
        this.report();
        writing = store.batch(this.writesOf(coins), { durable: false });
        // Waited for above or below; not heard in between it would end the node.
        writing.catch(() => undefined);
      }
    } finally {
      // Nothing may come into a store that is cleared because of what went wrong.
      await writing;
    }
  }

  private *writesOf(coins: readonly NodeCoin[]): Generator<StoreWrite> {
    for (const coin of coins) {
      this.#coins++;
      this.#value += coin.value;
      yield putBaseCoin(coin, this.#room);
    }
  }

  /** @throws CoinSetError */
  private check(): void {
    const { set, options: { node: { network } } } = this;
    const repeated = network.chain === REPEATED_COINBASES.chain ? REPEATED_COINBASES : { coins: 0, value: 0 };
    const [coins, value] = [set.count - repeated.coins, set.value - repeated.value];
    if (this.#coins !== coins || this.#value !== value)
      throw new CoinSetError(`expected ${coins} coins of ${value} satoshis at height ${set.tip.height}, as the node has counted them, got ${this.#coins} of ${this.#value}`);
    const most = totalSubsidy(set.tip.height, network.halvingInterval);
    if (value > most) throw new CoinSetError(`expected coins of at most ${most} satoshis at height ${set.tip.height}, all that was ever created, got ${value}`);
  }

  private report(): void {
    const now = performance.now();
    if (now - this.#reported < REPORT_MS) return;
    this.#reported = now;
    this.options.onState({ phase: 'copying', coins: this.#coins, of: this.set.count });
  }
}
