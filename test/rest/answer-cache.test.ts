import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AGAIN, AnswerCache, type Kept } from '../../lib/rest/cache/answers';

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

  it('takes what is asked for again for worth keeping, unless what would have to go was used since', () => {
    const cache = new AnswerCache(10_000);
    const [shelf, other] = [cache.shelf<Kept>('a'), cache.shelf<Kept>('b')];
    expect(['1', '2', '1', '2'].map((key) => shelf.isWorthKeeping(key, 3_000, AGAIN))).to.deep.equal([false, false, true, true]);
    expect(other.isWorthKeeping('1', 3_000, AGAIN)).to.equal(false);
    other.set('x', kept(9_000));
    expect(shelf.isWorthKeeping('1', 3_000, AGAIN)).to.equal(false);
    expect(shelf.isWorthKeeping('1', 3_000, AGAIN)).to.equal(true);
    other.get('x');
    expect(shelf.isWorthKeeping('1', 3_000, AGAIN)).to.equal(false);
  });

  it('takes what is made quickly for worth keeping when it is asked for more often', () => {
    const cache = new AnswerCache(10_000);
    const [shelf, other] = [cache.shelf<Kept>('a'), cache.shelf<Kept>('b')];
    const ask = (times: number): boolean[] => Array.from({ length: times }, () => shelf.isWorthKeeping('1', 3_000, 4));
    expect(ask(2)).to.deep.equal([false, true]);
    other.set('x', kept(9_000));
    expect(ask(4)).to.deep.equal([false, false, false, true]);
    other.get('x');
    expect(ask(3)).to.deep.equal([false, false, false]);
    other.get('x');
    expect(ask(4)).to.deep.equal([false, false, false, true]);
  });

  it('looks at all that would have to go', () => {
    const cache = new AnswerCache(10_000);
    const [small, large] = [cache.shelf<Kept>('a'), cache.shelf<Kept>('b')];
    for (const key of ['1', '2', '3']) small.set(key, kept(2_500));
    large.isWorthKeeping('x', 8_000, AGAIN);
    small.get('3');
    expect(large.isWorthKeeping('x', 8_000, AGAIN)).to.equal(false);
    expect(large.isWorthKeeping('x', 8_000, AGAIN)).to.equal(true);
    small.get('1');
    expect(large.isWorthKeeping('x', 5_000, AGAIN)).to.equal(true);
  });

  it('does not remember longer what was asked for than until as much was asked for as it has room for', () => {
    const shelf = new AnswerCache(10_000).shelf<Kept>('a');
    for (const key of ['1', '2', '3', '4']) shelf.isWorthKeeping(key, 3_000, AGAIN);
    expect(shelf.isWorthKeeping('1', 3_000, AGAIN)).to.equal(false);
  });

  it('says what it has room for, and when something is not kept any more', () => {
    const cache = new AnswerCache(10_000);
    const shelf = cache.shelf<Kept>('a');
    const dropped: string[] = [];
    const keep = (key: string, byteLength: number, name = key): void => { shelf.set(key, { byteLength, onDropped: () => dropped.push(name) }); };
    keep('1', 6_000);
    expect([2_900, 3_000].map((byteLength) => shelf.hasRoomFor(byteLength))).to.deep.equal([true, false]);
    keep('2', 6_000);
    expect(dropped).to.deep.equal(['1']);
    keep('2', 1_000, 'again 2');
    keep('3', 20_000);
    shelf.drop('2');
    expect(dropped).to.deep.equal(['1', '2', '3', 'again 2']);
  });
});
