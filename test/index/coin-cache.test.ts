import { expect } from 'chai';
import { describe, it } from 'mocha';
import { HEAD_WORDS, HEIGHT, POSITION, packPosition, STATE, UNSPENT } from '../../lib/index/records/cache-entry';
import { CoinCache, NO_ENTRY } from '../../lib/index/coins/coin-cache';
import { Generation } from '../../lib/index/coins/generation';

const MIB = 1024 * 1024;
const COIN_WORDS = 16;
const ENTRY_WORDS = HEAD_WORDS + COIN_WORDS;

/** Entries of one coin each; their txids count up from `first`. */
function madeEntries(first: number, count: number): Int32Array {
  const words = new Int32Array(count * ENTRY_WORDS);
  for (let i = 0; i < count; i++) {
    const at = i * ENTRY_WORDS;
    words[at] = first + i;
    words[at + HEIGHT] = 1;
    words[at + POSITION] = packPosition(i & 0xffff, 0);
    words[at + UNSPENT] = 1;
    words[at + STATE] = (COIN_WORDS * 4) << 3;
  }
  return words;
}

/** The txid of an entry. */
const wordsOf = (number: number): Int32Array => Int32Array.of(number, 0, 0, 0, 0, 0, 0, 0);

/** Takes all writes that the cache has pending. */
function write(cache: CoinCache): number {
  let count = 0;
  for (const { type } of cache.writes()) count += type === 'put' ? 1 : 0;
  cache.handedOver();
  cache.written();
  return count;
}

describe('the coin cache', () => {
  for (const mebibytes of [4, 64]) {
    it(`holds no more than it may beside the engine's copies of a batch, tables included, however many coins go through it: ${mebibytes} MiB`, () => {
      const perBlock = 500;
      const cache = new CoinCache(mebibytes * MIB);
      let most = 0;
      let written = 0;
      const total = (mebibytes * MIB * 4) / (ENTRY_WORDS * 4);
      let made = 0;
      for (; made < total; made += perBlock) {
        cache.append(madeEntries(made + 1, perBlock));
        most = Math.max(most, cache.size);
        if (cache.isFull(0)) written += write(cache);
      }
      expect(written + write(cache)).to.equal(made);
      expect(most).to.be.at.most(mebibytes * MIB * 0.7 + perBlock * ENTRY_WORDS * 4);
      expect(most, 'and uses it').to.be.greaterThan(mebibytes * MIB * 0.4);
    });
  }

  it('loses no pending write when it is made smaller, and soon takes less memory', () => {
    const cache = new CoinCache(64 * MIB);
    const perBlock = 500;
    let made = 0;
    let written = 0;
    const takeIn = (until: () => boolean): void => {
      for (; !until(); made += perBlock) {
        cache.append(madeEntries(made + 1, perBlock));
        if (cache.isFull(0)) written += write(cache);
      }
    };
    takeIn(() => cache.size > 24 * MIB);
    // There are always pending writes here.
    cache.append(madeEntries(made + 1, perBlock));
    made += perBlock;
    const known = Array.from({ length: made }, (_, i) => cache.find(wordsOf(i + 1), 0, 0) !== NO_ENTRY);
    cache.resize(16 * MIB);
    expect(known.map((_, i) => cache.find(wordsOf(i + 1), 0, 0) !== NO_ENTRY)).to.deep.equal(known);
    const before = made;
    takeIn(() => made > before + 300_000);
    expect(cache.size).to.be.within(16 * MIB * 0.3, 16 * MIB * 0.75 + perBlock * ENTRY_WORDS * 4);
    expect(written + write(cache), 'each is written once').to.equal(made);
  });

  it('gives memory back with the entries that it drops', () => {
    const generation = new Generation(8 * MIB);
    generation.append(madeEntries(1, 100_000));
    generation.resize(MIB);
    expect(generation.find(wordsOf(100_000), 0, 0)).to.not.equal(0);
    generation.clear();
    expect(generation.words.length).to.equal(MIB);
    expect(generation.find(wordsOf(100_000), 0, 0)).to.equal(0);
    generation.append(madeEntries(1, 100));
    expect(generation.find(wordsOf(100), 0, 0)).to.not.equal(0);
  });

  it('has coins that were written lately, but no longer those written long ago', () => {
    const cache = new CoinCache(4 * MIB);
    const last = 60_000;
    for (let made = 0; made < last; made += 500) {
      cache.append(madeEntries(made + 1, 500));
      if (cache.isFull(0)) write(cache);
    }
    expect(cache.find(wordsOf(1), 0, 0)).to.equal(NO_ENTRY);
    for (let number = last - 7_000; number <= last; number++) {
      const entry = cache.find(wordsOf(number), 0, 0);
      expect(entry, `entry ${number}`).not.to.equal(NO_ENTRY);
      expect(cache.spend(entry, 0, 2, 0, { undo: undefined, hasher: undefined })).to.equal(true);
    }
  });
});
