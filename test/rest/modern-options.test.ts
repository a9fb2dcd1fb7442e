import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { PROFILES } from '../../lib/views/profile';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAActiveBlocks, chainADeprecated31, chainAPool } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { ask, askInOneWrite } from '../support/client/http';
import { differenceFrom } from '../support/recorded/core';
import type { RestNode } from '../support/node/rest-node';

describe('a node that speaks as Bitcoin Core 31 with options', () => {
  let served: RestNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({
      'rest-core': 'modern',
      'rest-deprecated': 'bip125,fullrbf,warnings',
      'rest-threads': 1,
      'rest-work-queue': 1
    });
  });

  after(() => served.node.close());

  it('brings back deprecated fields, where and as Bitcoin Core does', async () => {
    const recorded = chainADeprecated31();
    expect(recorded).to.have.length(3);
    const pool = chainAPool().map((raw) => bcoin.TX.fromRaw(raw));
    const one = pool.find((transaction) => recorded.some(({ body }) => body?.includes(toDisplayHex(transaction.hash())) === true));
    await served.node.mempool.addTX(one ?? expect.fail('the transaction of the recorded pool'));
    for (const answer of recorded) {
      // bcoin replaces nothing in its pool.
      const expected = { ...answer, body: answer.body?.replace('"fullrbf":true', '"fullrbf":false') ?? '' };
      const reply = await ask(served.port, { path: answer.path });
      expect(differenceFrom(expected, reply, PROFILES.modern.replies)).to.equal(undefined);
    }
  });

  it('refuses with 503 what the work queue has no room for, with no-store', async () => {
    const { hash } = chainAActiveBlocks().reduce((a, b) => (b.raw.length > a.raw.length ? b : a));
    const replies = await askInOneWrite(
      served.port,
      Array.from({ length: 12 }, () => ({ path: `/rest/block/${hash}.json` }))
    );
    expect(replies.slice(0, 2).map(({ status }) => status)).to.deep.equal([200, 200]);
    // Every error has one form, plain text with a line end; here the reference sends HTML without one.
    const refused = [503, 'text/plain', 'no-store', 'Work queue depth exceeded\r\n'];
    expect(
      replies.slice(2).map(({ status, contentType, headers, body }) => [status, contentType, headers['cache-control'], body.toString()])
    ).to.deep.equal(Array.from({ length: 10 }, () => refused));
  });
});
