// The main index of a walk (walk.ts). After every step it is compared, byte for byte, with one built from nothing.

import { join } from 'node:path';
import { expect } from 'chai';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { ChainIndexer } from '../../../lib/index/chain-index';
import { IndexUnavailableError, NotYetKnownError } from '../../../lib/index/errors';
import { BASE_KEY } from '../../../lib/index/records/layout';
import { sameSecret } from '../../../lib/index/records/txid-hash';
import { DiskStore } from '../../../lib/store/disk-store';
import { baseOf, expectRight as expectBaseIndexOf } from './base-index';
import { expectSame, expectSameBytes } from '../expectations/expect-same';
import { FaultyStore } from './faulty-store';
import { expectFilters, expectHonestFilters, FilterModel } from './filters';
import { expectSameBesideCoins, expectSameImage, FreshIndexes, storeImage } from './fresh-index';
import { knownHash } from '../chain/known-blocks';
import { describeCoin, expectIndexOf, modelOf, modelTransactions } from './utxo-model';
import { phaseAtRest, type WalkedIndex, type WalkedParts } from './walked-index';
import type { BootstrapFrom, IndexSnapshot } from '../../../lib/index/types';

/** So little that catching up takes many batches, generations swap, and coins have to be read. */
const CACHE_BYTES = 8 * 1024;

export class WalkedMainIndex implements WalkedIndex {
  readonly rebuildLine = 'warning Rebuilding the index: ';
  readonly folder: string | undefined;
  readonly store: FaultyStore;
  scrubMs = 0;
  readonly #parts: WalkedParts;
  readonly #bootstrap: BootstrapFrom;
  readonly #fresh = new FreshIndexes();
  readonly #filters = new FilterModel();
  #indexer: ChainIndexer | undefined;

  /** `hasFilters`: whether it is opened with filters. */
  constructor(
    parts: WalkedParts,
    bootstrap: BootstrapFrom,
    public hasFilters: boolean
  ) {
    this.#parts = parts;
    this.#bootstrap = bootstrap;
    this.folder = parts.folder && join(parts.folder, 'index');
    this.store = new FaultyStore(this.folder === undefined ? parts.inMemory() : new DiskStore(this.folder));
  }

  get indexer(): ChainIndexer {
    return this.#indexer ?? expect.fail('an index that was opened');
  }

  get state(): ChainIndexer['state'] {
    return this.indexer.state;
  }

  get state$(): ChainIndexer['state$'] {
    return this.indexer.state$;
  }

  async open(): Promise<void> {
    const { node, log: logger, undoDepth, cacheBytes = CACHE_BYTES } = this.#parts;
    this.#indexer = new ChainIndexer({
      store: this.store,
      node,
      logger,
      migrations: [],
      undoDepth,
      bootstrap: this.#bootstrap,
      filters: this.hasFilters,
      cacheBytes,
      scrubMs: this.scrubMs
    });
    await this.#indexer.open();
  }

  async close(): Promise<void> {
    await this.#indexer?.close();
  }

  untilAtRest(): Promise<'live' | 'failed'> {
    const { node } = this.#parts;
    return phaseAtRest(this.state$, (state) => {
      const { height } = state as { height: number }; // it is live
      return height === node.tip().height && this.tip?.hash.equals(node.tip().hash) !== false;
    });
  }

  /** `from`: the lowest block that may have changed since a whole check; of those below only coins are read, which later blocks spend. */
  expectHonest(from = 0): Promise<boolean> {
    const tip = this.tip;
    if (tip === undefined) return Promise.resolve(false);
    const { state } = this;
    if (state.phase === 'live') expect(tip.height, 'the height of which readers of a live index are answered').to.equal(state.height);
    const chain = this.#parts.chainTo(tip.hash);
    const { coins, locations, headers } = modelOf(chain);
    const filters = this.#filters.of(chain).slice(from);
    const blocks = chain.slice(from);
    const isRead = this.#readOrNothing((snapshot) => {
      expect(snapshot.headerAt(chain.length)).to.equal(undefined);
      const told = blocks.map((_, i) => snapshot.headerAt(from + i) ?? expect.fail('a header'));
      // During the backfill of an index that started from coins, facts that only blocks tell are not known yet.
      if (snapshot.backfilling !== undefined)
        expectSame(
          told.map(({ hash }) => toDisplayHex(hash)),
          headers.slice(from).map((header) => header.slice(0, 64))
        );
      else {
        expectSame(
          told.map(({ hash, transactionCount, chainBytes }) => `${toDisplayHex(hash)} ${transactionCount} ${chainBytes}`),
          headers.slice(from)
        );
        expectRuns(snapshot, chain, from);
      }
      filters.forEach(({ filter, header }, i) => {
        expectSameBytes(snapshot.filterAt(from + i) ?? filter, filter);
        expectSameBytes(snapshot.filterHeaderAt(from + i) ?? header, header);
      });
      blocks.forEach((raw, i) => {
        expectSame(snapshot.heightOf(knownHash(raw)), from + i);
      });
      // The genesis block's coinbase has a location but no coin, and may be asked for like the others.
      for (const { txid, name } of blocks.flatMap((raw, i) => modelTransactions(raw, from + i))) {
        const expected = locations.get(name);
        try {
          const location = snapshot.location(txid);
          expectSame(location && `${location.block.height} ${location.offset} ${location.length}`, expected);
          expectSame(snapshot.position(txid)?.block, location?.block);
        } catch (error) {
          if (!(error instanceof NotYetKnownError)) throw error;
          expect(error.backfill).to.equal(snapshot.backfilling);
          expect(Number(expected?.split(' ')[0])).to.be.below(snapshot.backfilling?.height ?? 0);
          expect(() => snapshot.position(txid)).to.throw(NotYetKnownError);
        }
      }
      for (const { txid, outputs } of chain.flatMap(modelTransactions))
        outputs.forEach(({ name }, index) => {
          const coin = snapshot.coin(txid, index);
          expectSame(coin && describeCoin(coin), coins.get(name));
        });
      return true;
    });
    return Promise.resolve(isRead === true);
  }

  /** Equals one built from nothing in every byte; one that started from coins, in all but what only blocks tell. */
  async expectRight(chain: readonly Buffer[]): Promise<void> {
    const { node, log, undoDepth } = this.#parts;
    expect(await this.untilAtRest(), log.lines.slice(-3).join('\n')).to.equal('live');
    expect(this.tip).to.deep.equal(node.tip());
    const fresh = await this.#fresh.imageOf(chain, sameSecret(this.store));
    await (this.hasFilters ? expectFilters : expectHonestFilters)(this.store, chain, this.#filters);
    if (this.store.get(BASE_KEY) !== undefined) {
      await expectBaseIndexOf(this.store, node, chain);
      expectSameBesideCoins(await storeImage(this.store), fresh, baseOf(this.store));
      return;
    }
    await expectIndexOf(this.store, chain);
    expectSameImage(await storeImage(this.store), fresh, undoDepth);
  }

  /** The tip that readers get; undefined: none. */
  get tip(): { hash: Buffer; height: number } | undefined {
    return this.#readOrNothing(({ tip: { hash, height } }) => ({ hash, height }));
  }

  /** undefined: the index has nothing to read. */
  #readOrNothing<T>(use: (snapshot: IndexSnapshot) => T): T | undefined {
    try {
      return this.indexer.reader.read(use);
    } catch (error) {
      if (error instanceof IndexUnavailableError) return undefined;
      throw error;
    }
  }
}

/** Fails unless headers from a height on, in runs of any length, are those of the chain, in order. */
function expectRuns(snapshot: IndexSnapshot, chain: readonly Buffer[], from: number): void {
  const headers: Buffer[] = [];
  for (let height = from; height < chain.length;) {
    const run = snapshot.headerRun(height, chain.length) ?? expect.fail(`headers from ${height} on`);
    headers.push(run.headers);
    height += run.count;
    const next = chain[height];
    expectSame(run.nextHash, next && knownHash(next));
  }
  expect(Buffer.concat(headers).equals(Buffer.concat(chain.slice(from).map((raw) => raw.subarray(0, 80))))).to.equal(true);
  expect(snapshot.headerRun(chain.length, 1)).to.equal(undefined);
}
