// Indexes built from nothing, block by block, with which others are compared byte for byte.

import { expect } from 'chai';
import { withKnownBytes, type Base } from '../../../lib/index/records/base';
import { decodeHeader, TIP_KEY, type StoredHeader } from '../../../lib/index/records/chain';
import { BLOCK_RECORDS } from '../../../lib/index/records/layout';
import { IndexWriter } from '../../../lib/index/write/index-writer';
import { MemoryStore } from '../../../lib/store/memory-store';
import { expectSame } from '../expectations/expect-same';
import { knownHash } from '../chain/known-blocks';
import type { Store, StorePut, StoreWrite } from '../../../lib/store/store';

/** Key to value, both in hex. */
export type StoreImage = ReadonlyMap<string, string>;

/** The tip and the records of blocks, without the store's own keys, which come first. */
const STATE = { gte: TIP_KEY, lt: BLOCK_RECORDS.lt };
/** Number of cached states: building starts from the highest one that is in the chain. */
const KEPT = 48;

/** Records of filters are compared with a separate model (filters.ts). */
const FILTER_LETTERS = 'efg';

/** Every byte of the index's state, except filters. */
export async function storeImage(store: Store): Promise<StoreImage> {
  const image = new Map<string, string>();
  for await (const [key, value] of store.range(STATE))
    if (!FILTER_LETTERS.includes(key.toString('latin1', 0, 1))) image.set(key.toString('hex'), value.toString('hex'));
  return image;
}

interface FreshState {
  readonly image: StoreImage;
  readonly writes: readonly StoreWrite[];
}

export class FreshIndexes {
  /** By secret and tip. */
  readonly #states = new Map<string, FreshState>();

  /** The content of an index of this chain with all its undo records and this secret. The chain goes from the genesis block up. */
  async imageOf(chain: readonly Buffer[], secret: StorePut): Promise<StoreImage> {
    const nameOf = (raw: Buffer): string => `${secret.value.toString('hex')} ${knownHash(raw).toString('hex')}`;
    let known = chain.length;
    let state: FreshState | undefined;
    while (known > 0 && state === undefined) state = this.#states.get(nameOf(chain[--known] as Buffer)); // below the length
    if (state !== undefined && known === chain.length - 1) return state.image;
    const [genesis, tip] = [chain[0] as Buffer, chain.at(-1) as Buffer]; // a chain has the genesis block
    const built = await build([...(state?.writes ?? []), secret], state === undefined ? chain : chain.slice(known + 1), knownHash(genesis));
    this.#keep(nameOf(tip), built);
    return built.image;
  }

  #keep(name: string, state: FreshState): void {
    this.#states.set(name, state);
    const [oldest] = this.#states.keys();
    if (this.#states.size > KEPT && oldest !== undefined) this.#states.delete(oldest);
  }
}

async function build(from: readonly StoreWrite[], blocks: readonly Buffer[], genesisHash: Buffer): Promise<FreshState> {
  const store = new MemoryStore();
  await store.open();
  await store.batch(from, { durable: false });
  const indexer = new IndexWriter({ store, genesisHash, undoDepth: 1_000_000, onMove: () => undefined });
  await indexer.load();
  for (const raw of blocks) await indexer.apply(raw);
  const writes: StoreWrite[] = [];
  for await (const [key, value] of store.range(STATE)) writes.push({ type: 'put', key, value });
  const image = await storeImage(store);
  await store.close();
  return { image, writes };
}

/**
 * The content that an index started from coins shares with every other index once the backfill is done: the tip, heights, lengths,
 * positions, byte for byte; and headers as readers get them.
 */
export function expectSameBesideCoins(found: StoreImage, fresh: StoreImage, base: Base): void {
  const records = (image: StoreImage): string[] =>
    [...image].filter(([key]) => 'Tblp'.includes(letterOf(key))).map(([key, value]) => `${key} ${value}`);
  expectSame(records(found), records(fresh));
  const headers = (image: StoreImage): StoredHeader[] =>
    [...image]
      .filter(([key]) => letterOf(key) === 'h')
      .map(([key, value]) => decodeHeader(Buffer.from(key, 'hex'), Buffer.from(value, 'hex')));
  expectSame(
    headers(found).map((header) => withKnownBytes(base, header)),
    headers(fresh)
  );
  expect([...new Set([...found.keys()].map(letterOf))].filter((letter) => !'BSTbcdhlops'.includes(letter))).to.deep.equal([]);
}

const letterOf = (key: string): string => Buffer.from(key.slice(0, 2), 'hex').toString('latin1');

/** Undo records may be missing below those that are kept, and where the index caught up; everything else is the same. */
export function expectSameImage(found: StoreImage, fresh: StoreImage, undoDepth: number): void {
  const undo = Buffer.from('d').toString('hex');
  const isUndo = (key: string): boolean => key.startsWith(undo);
  // Compared first without chai: a walk makes millions of comparisons.
  for (const [key, value] of found) if (value !== fresh.get(key)) expect(value, `the record under ${key}`).to.equal(fresh.get(key));
  const heights: number[] = [];
  for (const key of fresh.keys()) {
    if (!found.has(key)) expectSame(isUndo(key), true, `the key ${key} without a record`);
    else if (isUndo(key)) heights.push(parseInt(key.slice(2), 16));
  }
  const tip = [...fresh.keys()].filter(isUndo).length;
  const lowest = heights[0] ?? tip + 1;
  expectSame(
    heights,
    Array.from({ length: tip + 1 - lowest }, (_, i) => lowest + i),
    'heights with undo records'
  );
  expect(lowest, 'lowest height with an undo record').to.be.greaterThan(tip - undoDepth);
}
