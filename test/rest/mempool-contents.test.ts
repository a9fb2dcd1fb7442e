import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { mempoolContentsEndpoint } from '../../lib/rest/endpoints/mempool';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { needsNode } from '../support/fleet/fleet';
import { ask } from '../support/client/http';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import type { HostTransaction } from '../../lib/node/host';
import type { Reply } from '../../lib/server/http/reply';

describe("the pool's contents", () => {
  let served: RestNode;
  let coinbases: HostTransaction[];

  beforeEach(async () => {
    served = await openRestNode();
    coinbases = await mineCoinbases(served.node, 104);
    await spend(served.node, coinbases[0] as HostTransaction, COINBASE_SATS); // 104 were mined
  });
  afterEach(() => served.node.close());

  /** The endpoint of the node's pool, with a cache for answers. */
  const endpointWith = (cache: AnswerCache): (() => Promise<Reply>) => {
    const { node, reader } = served.rest;
    const endpoint = mempoolContentsEndpoint(endpointContext(node, reader, cache));
    return () => endpoint(requestFor('.json'));
  };
  const entriesIn = ({ body }: Reply): number => Object.keys(JSON.parse(body.toString()) as object).length;

  it('are written once for each state of the pool, however small the cache for answers is', async function () {
    needsNode(this, 'a reader hears of each step a moment later than its node');
    const contents = endpointWith(new AnswerCache(1_000));
    const first = await contents();
    expect((await contents()).body).to.equal(first.body);
    await spend(served.node, coinbases[1] as HostTransaction, COINBASE_SATS); // 104 were mined
    const second = await contents();
    expect([first, second].map(entriesIn)).to.deep.equal([1, 2]);
    expect((await contents()).body).to.equal(second.body);
    const [entry] = served.node.mempool.map.values();
    served.node.mempool.prioritise(entry, 0, 1_000);
    const third = await contents();
    expect(third.body.equals(second.body)).to.equal(false);
    expect((await contents()).body).to.equal(third.body);
  });

  it('have a transaction by itself as long as it is in the pool, however often it was asked for', async () => {
    const { mempool } = served.node;
    const [entry = expect.fail('an entry')] = mempool.map.values();
    const path = `/rest/tx/${toDisplayHex(entry.tx.hash())}.json`;
    const status = async (): Promise<number> => (await ask(served.port, { path })).status;
    expect([await status(), await status(), await status()]).to.deep.equal([200, 200, 200]);
    mempool.evictEntry(entry);
    expect(await status()).to.equal(404);
  });

  it('take no space in the cache from other answers', async () => {
    const cache = new AnswerCache(4_000);
    const other = { byteLength: 3_000 };
    const section = cache.section<typeof other>('other');
    for (let time = 0; time < 2; time++) section.setIfAskedBefore('cached', () => other);
    await endpointWith(cache)();
    expect(section.get('cached')).to.equal(other);
  });
});
