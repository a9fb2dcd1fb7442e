import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { isUnder } from '../../lib/server/http/mount';
import { PROFILES } from '../../lib/views/profile';
import { chainAAnswers, chainAAnswers31, type RecordedAnswer } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, fillChainAPool, openChainANode } from '../support/node/chain-a-node';
import { needsNats } from '../support/fleet/nats';
import { differencesFrom, isForService, withCoreAddresses } from '../support/recorded/core';
import { RpcCaller } from '../support/client/rpc';
import { testScale } from '../support/process/scale';
import { basicAuth } from '../support/client/http';
import type { RestNode } from '../support/node/rest-node';

/** A sample: `TEST_SOURCE=fleet` has the suites of all interfaces asked of a reader. */
const STEP = testScale() > 1 ? 1 : 3;

const ANSWERS = { '0.17': chainAAnswers, modern: chainAAnswers31 } as const;

for (const core of ['0.17', 'modern'] as const)
  describe(`recorded replies of Bitcoin Core, asked of a reader with --rest-core=${core}`, function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    let served: RestNode;
    withCoreAddresses();

    before(async function () {
      needsNats(this);
      served = await openChainANode({ 'rest-core': core, 'rest-filters': true }, { isFleet: true });
    });

    after(() => served.node.close());

    for (const state of ['confirmed', 'with-mempool'] as const)
      it(`are given ${state === 'confirmed' ? 'with an empty pool' : 'with transactions in the pool'}`, async () => {
        if (state === 'with-mempool') await fillChainAPool(served.node);
        const isAsked = (answer: RecordedAnswer): boolean =>
          answer.state === state && !answer.tags.includes('transport') && isForService(answer) && isUnder('/rest', answer.path);
        const answers = ANSWERS[core]().filter(isAsked);
        expect(answers).to.have.length.above(200);
        const asked = answers.filter((_, i) => i % STEP === 0);
        expect(await differencesFrom(asked, served.port, PROFILES[core].replies)).to.deep.equal([]);
      });

    if (core === 'modern')
      it("and a call of bcoin's own is the node's", async () => {
        const caller = new RpcCaller(served.port, {
          Authorization: basicAuth(`x:${served.node.http.options.apiKey}`)
        });
        const own = await served.node.rpc.call({ method: 'getblockbyheight', params: [1], id: null }, {});
        expect(await caller.call('getblockbyheight', 1)).to.deep.equal(own.result);
      });
  });
