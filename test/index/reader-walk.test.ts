import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { SnapshotReader } from '../../lib/index/read/reader';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { MemoryStore } from '../../lib/store/memory-store';
import { addBlocks } from '../support/index/filled-batch';
import { blockHash } from '../support/chain/made-blocks';
import { madeChain, madeGenesis, plannedBlock } from '../support/chain/made-chains';
import { testScale, testSeed } from '../support/process/scale';
import { describeCoin, modelOf, modelTransactions, type IndexModel } from '../support/index/utxo-model';
import type { IndexSnapshot } from '../../lib/index/types';

const WALKS = 2;

/** Each look checks one of this many outputs; the next look checks others. */
const SHARE = 5;

const isFailing = fc.nat(5).map((n) => n === 0);
const step = fc.oneof(
  fc.record({ sizes: fc.constant([1]), isFailing }),
  fc.record({ sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }), isFailing }),
  fc.record({ undone: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ undone: fc.constant(Infinity) })
);
const walk = fc.record({
  plans: fc.array(plannedBlock, { minLength: 14, maxLength: 20 }),
  fork: fc.nat(8),
  others: fc.array(plannedBlock, { minLength: 8, maxLength: 12 }),
  steps: fc.array(step, { minLength: 12, maxLength: 18, size: 'max' }),
  // So little that generations swap with nearly each batch, or so much that they never do.
  cacheBytes: fc.constantFrom(6 * 1024, 10 * 1024, 1024 * 1024)
});

/** An index of two chains, one at a time, whose writes fail when told to. */
class WalkedIndex {
  /** How often readers looked, and how often there was a cache to read from. */
  looks = 0;
  looksIntoCache = 0;
  readonly #store = new MemoryStore();
  readonly #writer: IndexWriter;
  readonly #reader: SnapshotReader;
  readonly #models = new Map<string, IndexModel>();
  readonly #outputs = new Map<string, readonly [txid: Buffer, index: number]>();
  #isFailing = false;

  constructor(chains: readonly (readonly Buffer[])[], cacheBytes: number) {
    for (const chain of chains)
      for (const [height, raw] of chain.entries()) {
        this.#models.set(toDisplayHex(blockHash(raw)), modelOf(chain.slice(0, height + 1)));
        for (const { txid, outputs } of modelTransactions(raw, height))
          for (const [index, { name }] of outputs.entries()) this.#outputs.set(name, [txid, index]);
      }
    const write = this.#store.batch.bind(this.#store);
    this.#store.batch = (writes, options) =>
      write(writes, {
        ...options,
        onTaken: () => {
          options.onTaken?.();
          this.#look();
          if (this.#isFailing) throw new Error('no space left');
        }
      });
    const genesisHash = blockHash(madeGenesis);
    this.#writer = new IndexWriter({ store: this.#store, genesisHash, undoDepth: 100, cacheBytes, onMove: () => this.#reader.renew() });
    this.#reader = new SnapshotReader(
      this.#store,
      (error) => {
        throw error;
      },
      this.#writer
    );
  }

  get height(): number {
    return this.#writer.tip?.height ?? -1;
  }

  async open(): Promise<void> {
    await this.#store.open();
    await this.#writer.load();
    await this.#writer.apply(madeGenesis);
  }

  async close(): Promise<void> {
    this.#reader.close();
    await this.#writer.close();
    await this.#store.close();
  }

  isOn(chain: readonly Buffer[]): boolean {
    const raw = chain[this.height];
    return raw !== undefined && this.#writer.tip?.hash.equals(blockHash(raw)) === true;
  }

  /** Adds the next blocks in batches of these sizes, each filled while the previous one is written; looks meanwhile. */
  async takeIn(chain: readonly Buffer[], sizes: readonly number[], isFailing: boolean): Promise<void> {
    let next = this.height + 1;
    const fill = async (): Promise<void> => {
      let before = Promise.resolve();
      try {
        for (const size of sizes) {
          const batch = this.#writer.batch();
          await addBlocks(batch, chain.slice(next, next + size), this.#writer);
          next += size;
          if (batch.blocks.length === 0) return;
          const { handedOver, written } = this.#writer.commit(batch);
          await before;
          before = written;
          await handedOver;
        }
      } finally {
        await before;
      }
    };
    this.#isFailing = isFailing;
    const error = await this.#lookUntil(fill());
    this.#isFailing = false;
    if (!isFailing && error !== undefined) throw error;
  }

  async undo(): Promise<void> {
    const error = await this.#lookUntil(this.#writer.undo());
    if (error !== undefined) throw error;
  }

  /** Looks again and again, also as a reader that stays, until the change is over; returns the change's error. */
  async #lookUntil(change: Promise<unknown>): Promise<Error | undefined> {
    const outcome: { isThere: boolean; error?: Error } = { isThere: false };
    const end = change
      .catch((error: unknown) => {
        outcome.error = error as Error;
      })
      .finally(() => {
        outcome.isThere = true;
      });
    await this.#reader.read(async (snapshot) => {
      while (!outcome.isThere) {
        this.#look();
        await Promise.resolve();
        this.#look();
        await nextTurn();
      }
      this.#expectRight(snapshot);
    });
    await end;
    this.#look();
    return outcome.error;
  }

  #look(): void {
    if (this.#writer.tip === undefined) return;
    this.looks++;
    if (this.#writer.coinCacheAt(this.#writer.state) !== undefined) this.looksIntoCache++;
    this.#reader.read((snapshot) => {
      this.#expectRight(snapshot);
    });
  }

  #expectRight(snapshot: IndexSnapshot): void {
    const tip = toDisplayHex(snapshot.tip.hash);
    const { coins, locations } = this.#models.get(tip) ?? expect.fail(`no such tip: ${tip}`);
    let number = this.looks;
    for (const [name, [txid, index]] of this.#outputs) {
      if (number++ % SHARE !== 0) continue;
      const coin = snapshot.coin(txid, index);
      const position = snapshot.position(txid);
      const location = locations.get(toDisplayHex(txid))?.split(' ')[0];
      const found = [coin && describeCoin(coin), position && String(position.block.height)];
      if (found[0] !== coins.get(name) || found[1] !== location) expect(found, name).to.deep.equal([coins.get(name), location]);
    }
  }
}

describe('readers while the index moves', () => {
  const seed = testSeed();

  it(`find the coins and transactions of their own state at every moment, however little is cached: TEST_SEED=${seed}`, async function () {
    this.timeout(60_000 * testScale());
    let [looks, looksIntoCache] = [0, 0];
    await fc.assert(
      fc.asyncProperty(walk, async ({ plans, fork, others, steps, cacheBytes }) => {
        const chains = [madeChain(plans), madeChain([...plans.slice(0, fork), ...others])] as const;
        let [chain, other] = chains;
        const index = new WalkedIndex(chains, cacheBytes);
        await index.open();
        for (const next of steps) {
          if ('sizes' in next) await index.takeIn(chain, next.sizes, next.isFailing);
          else if (next.undone < Infinity) for (let i = 0; i < next.undone && index.height > 0; i++) await index.undo();
          else {
            [chain, other] = [other, chain];
            while (!index.isOn(chain)) await index.undo();
          }
        }
        await index.close();
        looks += index.looks;
        looksIntoCache += index.looksIntoCache;
      }),
      { numRuns: WALKS * testScale(), seed }
    );
    expect(looksIntoCache).to.be.within(1, looks - 1);
  });
});
