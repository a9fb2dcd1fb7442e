import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AnswerCache } from '../../lib/rest/cache/answers';
import { StateReplies, StateShelf } from '../../lib/rest/cache/replies';
import type { HeaderRecord } from '../../lib/index/types';
import type { Reply } from '../../lib/rest/format';

const tip = (height: number): HeaderRecord => ({
  hash: Buffer.alloc(32, height), height, header: Buffer.alloc(80), chainwork: 1n, medianTime: 0, transactionCount: 1, chainBytes: 0
});
const reply = (body: Buffer): Reply => ({ contentType: 'application/octet-stream', body });

describe('what is kept of one state of the index', () => {
  it('is given for that state alone, also when another one looks the same', () => {
    const shelf = new StateShelf<number | undefined>(new AnswerCache(10_000), 'a');
    const state = { tip: tip(1) };
    shelf.set('key', state, undefined, 0);
    expect(shelf.get('key', state)).to.deep.include({ value: undefined });
    expect([shelf.get('other', state), shelf.get('key', { tip: tip(2) }), shelf.get('key', { tip: tip(1) })]).to.deep.equal([undefined, undefined, undefined]);
  });

  it('has memory of its own, which counts together with the question', async () => {
    const cache = new AnswerCache(100_000);
    const replies = new StateReplies(cache, 'a');
    const state = { tip: tip(1) };
    const block = Buffer.alloc(50_000, 1);
    const made = reply(block.subarray(10, 20));
    expect(replies.keep('question', state, made)).to.equal(made);
    block.fill(2);
    expect(replies.get('question', state)).to.deep.equal(reply(Buffer.alloc(10, 1)));
    expect(cache.byteLength).to.be.within(18, 1_000);
    const later = replies.keep('later', state, Promise.resolve(made));
    expect(replies.get('later', state)).to.equal(undefined);
    expect(await later).to.equal(made);
    expect(replies.get('later', state)).to.deep.equal(made);
  });

  it('is no reply that would drive many others out', () => {
    const cache = new AnswerCache(1_000_000);
    const replies = new StateReplies(cache, 'a');
    const state = { tip: tip(1) };
    void replies.keep('long', state, reply(Buffer.alloc(65_537)));
    expect(replies.get('long', state)).to.equal(undefined);
    expect(cache.byteLength).to.equal(0);
  });
});
