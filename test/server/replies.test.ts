import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { ReplyCache } from '../../lib/server/cache/replies';
import type { HeaderRecord, IndexReader, IndexSnapshot } from '../../lib/index/types';
import type { Reply } from '../../lib/server/http/reply';

const newTip = (): HeaderRecord => ({
  hash: Buffer.alloc(32, 1),
  height: 1,
  header: Buffer.alloc(80),
  chainwork: 1n,
  medianTime: 0,
  transactionCount: 1,
  chainBytes: 0
});

describe('cached replies', () => {
  let tip: HeaderRecord;
  let node: { pruned: boolean };
  let made: number;
  let cache: AnswerCache;
  const reader: IndexReader = { read: (use) => use({ tip } as IndexSnapshot) };
  const open = (): ReplyCache => new ReplyCache(cache, node, reader);
  const replyOf = async (replies: ReplyCache, question: string, make: () => Promise<Reply>): Promise<Reply> =>
    replies.find(question) ?? (await replies.make(question, '/rest/tx/', make));
  const make =
    (body: Buffer, holds = true) =>
    (): Promise<Reply> => {
      made++;
      return Promise.resolve({ contentType: 'application/octet-stream', body, ...(holds && { tip }) });
    };

  beforeEach(() => {
    tip = newTip();
    node = { pruned: false };
    made = 0;
    cache = new AnswerCache(1_000_000);
  });

  it('are given only in the very state for which they hold, even if another one looks the same', async () => {
    const replies = open();
    const ask = async (): Promise<string> => (await replyOf(replies, 'question', make(Buffer.from('body')))).body.toString();
    for (let time = 0; time < 4; time++) expect(await ask()).to.equal('body');
    expect(made).to.equal(2);
    tip = newTip();
    for (let time = 0; time < 4; time++) expect(await ask()).to.equal('body');
    expect(made).to.equal(3);
  });

  it('are not given once the node prunes', async () => {
    const replies = open();
    for (let time = 0; time < 3; time++) await replyOf(replies, 'question', make(Buffer.from('body')));
    node.pruned = true;
    await replyOf(replies, 'question', make(Buffer.from('body')));
    expect(made).to.equal(3);
  });

  it('have their own memory, which counts together with the question', async () => {
    const block = Buffer.alloc(50_000, 1);
    const replies = open();
    for (let time = 0; time < 2; time++) await replyOf(replies, 'question', make(block.subarray(10, 20)));
    block.fill(2);
    expect((await replyOf(replies, 'question', make(block))).body).to.deep.equal(Buffer.alloc(10, 1));
    expect(cache.byteLength).to.be.within(18, 1_000);
  });

  it('do not include replies that depend on more than the state, or that would evict many others', async () => {
    const replies = open();
    for (let time = 0; time < 3; time++) {
      await replyOf(replies, 'long', make(Buffer.alloc(524_289)));
      await replyOf(replies, 'pool', make(Buffer.alloc(10), false));
    }
    expect(made).to.equal(6);
    expect(cache.byteLength).to.equal(0);
  });
});
