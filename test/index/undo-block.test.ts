import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { encodePosition, positionKey } from '../../lib/index/records/position';
import { TXID_HASH_LENGTH } from '../../lib/index/records/txid-hash';
import { HASH_START_LENGTH } from '../../lib/index/records/undo-record';
import { undoWrites } from '../../lib/index/write/undo-block';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';

const HEIGHT = 7;
const [HASH, PREVIOUS] = [Buffer.alloc(32, 2), { hash: Buffer.alloc(32, 1), height: HEIGHT - 1 }];

/** Hashes of txids that begin with the same bytes as far as an undo record has them. */
const alike = (number: number): Buffer =>
  Buffer.concat([Buffer.alloc(HASH_START_LENGTH, 5), Buffer.alloc(TXID_HASH_LENGTH - HASH_START_LENGTH, number)]);

describe('undoing a block whose txids have hashes that begin alike', () => {
  /** The keys of positions that go with the block, if the store has positions at these places, by the numbers of the hashes. */
  async function deleted(
    places: readonly (readonly [number: number, height: number, index: number])[],
    transactions: number
  ): Promise<string[]> {
    const store = new MemoryStore();
    await store.open();
    const records = places.map(([number, height, index]) => putRecord(positionKey(alike(number)), encodePosition({ height, index })));
    await store.batch(records, { durable: false });
    const hashStarts = Buffer.alloc(transactions * HASH_START_LENGTH, 5);
    const writes = await undoWrites({ hash: HASH, hashStarts, replaced: undefined, coins: [] }, HEIGHT, PREVIOUS, store);
    await store.close();
    return writes.flatMap(({ type, key }) => (type === 'del' && key.toString('latin1', 0, 1) === 'p' ? [key.toString('hex')] : []));
  }
  const keys = (...numbers: number[]): string[] => numbers.map((number) => positionKey(alike(number)).toString('hex'));

  it('removes the position of each of its own transactions, in their order, and of no other', async () => {
    const places = [
      [1, HEIGHT, 1],
      [2, HEIGHT - 1, 0],
      [3, HEIGHT, 0],
      [4, HEIGHT - 1, 1]
    ] as const;
    expect(await deleted(places, 2)).to.deep.equal(keys(3, 1));
  });

  it('finds damage if one is missing', async () => {
    expect(await caught(deleted([[1, HEIGHT, 0]], 2))).to.be.instanceOf(DamagedIndexError);
  });
});
