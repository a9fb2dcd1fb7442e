import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AnswerCache, type Cached, type Shelf } from '../../lib/server/cache/answer-cache';

const entry = (byteLength: number): Cached => ({ byteLength });

/** Offers the value twice, so that it is cached. */
function put(shelf: Shelf<Cached>, key: string, value: Cached): void {
  for (let time = 0; time < 2; time++) shelf.offer(key, () => value);
}

describe('the cache of answers', () => {
  it('keeps the entries that were used last, bounded in bytes over all kinds', () => {
    const cache = new AnswerCache(10_000);
    const [blocks, texts] = [cache.shelf<Cached>('a'), cache.shelf<Cached>('b')];
    const [first, second] = [entry(4_000), entry(4_000)];
    put(blocks, '1', first);
    put(texts, '1', second);
    expect(blocks.get('1')).to.equal(first);
    put(texts, '2', entry(4_000));
    expect([blocks.get('1'), texts.get('1')]).to.deep.equal([first, undefined]);
    expect(cache.byteLength).to.be.within(8_000, 10_000);
  });

  it('takes an entry when it is offered for the second time', () => {
    const shelf = new AnswerCache(10_000).shelf<Cached>('a');
    let made = 0;
    const offer = (key: string): void => shelf.offer(key, () => entry(++made));
    offer('1');
    offer('2');
    expect([shelf.get('1'), shelf.get('2'), made]).to.deep.equal([undefined, undefined, 0]);
    offer('1');
    expect([shelf.get('1'), shelf.get('2'), made]).to.deep.equal([entry(1), undefined, 1]);
  });

  it('remembers offers of tens of thousands of other keys', () => {
    const shelf = new AnswerCache(10_000).shelf<Cached>('a');
    const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`);
    for (const key of keys) shelf.offer(key, () => entry(1));
    for (let i = 0; i < 20_000; i++) shelf.offer(`other ${i}`, () => entry(1));
    let taken = 0;
    for (const key of keys)
      shelf.offer(key, () => {
        taken++;
        return entry(1);
      });
    expect(taken).to.be.within(600, 1_000);
  });

  it('does not keep an entry that is larger than the cache, nor the one that it replaces', () => {
    const cache = new AnswerCache(10_000);
    const shelf = cache.shelf<Cached>('a');
    put(shelf, '1', entry(1_000));
    put(shelf, '1', entry(20_000));
    expect(shelf.get('1')).to.equal(undefined);
    expect(cache.byteLength).to.equal(0);
  });
});
