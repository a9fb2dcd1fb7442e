import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AnswerCache, type Cached, type CacheSection } from '../../lib/server/cache/answer-cache';

const entry = (byteLength: number): Cached => ({ byteLength });

/** Offers the value twice, so that it is cached. */
function put(section: CacheSection<Cached>, key: string, value: Cached): void {
  for (let time = 0; time < 2; time++) section.setIfAskedBefore(key, () => value);
}

describe('the cache of answers', () => {
  it('keeps the entries that were used last, bounded in bytes over all kinds', () => {
    const cache = new AnswerCache(10_000);
    const [blocks, texts] = [cache.section<Cached>('a'), cache.section<Cached>('b')];
    const [first, second] = [entry(4_000), entry(4_000)];
    put(blocks, '1', first);
    put(texts, '1', second);
    expect(blocks.get('1')).to.equal(first);
    put(texts, '2', entry(4_000));
    expect([blocks.get('1'), texts.get('1')]).to.deep.equal([first, undefined]);
    expect(cache.byteLength).to.be.within(8_000, 10_000);
  });

  it('takes an entry when it is offered for the second time', () => {
    const section = new AnswerCache(10_000).section<Cached>('a');
    let made = 0;
    const offer = (key: string): void => section.setIfAskedBefore(key, () => entry(++made));
    offer('1');
    offer('2');
    expect([section.get('1'), section.get('2'), made]).to.deep.equal([undefined, undefined, 0]);
    offer('1');
    expect([section.get('1'), section.get('2'), made]).to.deep.equal([entry(1), undefined, 1]);
  });

  it('remembers offers of tens of thousands of other keys', () => {
    const section = new AnswerCache(10_000).section<Cached>('a');
    const keys = Array.from({ length: 1_000 }, (_, i) => `${i}`);
    for (const key of keys) section.setIfAskedBefore(key, () => entry(1));
    for (let i = 0; i < 20_000; i++) section.setIfAskedBefore(`other ${i}`, () => entry(1));
    let taken = 0;
    for (const key of keys)
      section.setIfAskedBefore(key, () => {
        taken++;
        return entry(1);
      });
    expect(taken).to.be.within(600, 1_000);
  });

  it('does not keep an entry that is larger than the cache, nor the one that it replaces', () => {
    const cache = new AnswerCache(10_000);
    const section = cache.section<Cached>('a');
    put(section, '1', entry(1_000));
    put(section, '1', entry(20_000));
    expect(section.get('1')).to.equal(undefined);
    expect(cache.byteLength).to.equal(0);
  });
});
