import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AnswerCache, type Kept } from '../../lib/rest/answer-cache';

const kept = (byteLength: number): Kept => ({ byteLength });

describe('the cache of answers', () => {
  it('keeps what was used last within its bytes, of all kinds together', () => {
    const cache = new AnswerCache(10_000);
    const [blocks, texts] = [cache.shelf<Kept>('a'), cache.shelf<Kept>('b')];
    const [first, second] = [kept(4_000), kept(4_000)];
    blocks.set('1', first);
    texts.set('1', second);
    expect(blocks.get('1')).to.equal(first);
    texts.set('2', kept(4_000));
    expect([blocks.get('1'), texts.get('1')]).to.deep.equal([first, undefined]);
    expect(cache.byteLength).to.be.within(8_000, 10_000);
  });

  it('drops what it is told to, of one kind', () => {
    const cache = new AnswerCache(10_000);
    const [blocks, texts] = [cache.shelf<Kept>('a'), cache.shelf<Kept>('b')];
    const other = kept(100);
    blocks.set('1', kept(100));
    texts.set('1', other);
    blocks.drop('1');
    expect([blocks.get('1'), texts.get('1')]).to.deep.equal([undefined, other]);
  });

  it('does not keep what is larger than all of it, nor what stood there before', () => {
    const cache = new AnswerCache(10_000);
    const shelf = cache.shelf<Kept>('a');
    shelf.set('1', kept(1_000));
    shelf.set('1', kept(20_000));
    expect(shelf.get('1')).to.equal(undefined);
    expect(cache.byteLength).to.equal(0);
  });
});
