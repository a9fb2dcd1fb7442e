import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PROFILES } from '../../lib/views/profile';
import { bcoin } from '../support/bcoin/bcoin';
import { chainAActiveBlocks, chainAAnswers, chainAManifest, type RecordedAnswer } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, fillChainAPool, openChainANode } from '../support/node/chain-a-node';
import { isFleetWanted, needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { differencesFrom, withCoreAddresses } from '../support/recorded/core';
import { untilReady, type RestNode } from '../support/node/rest-node';

// A reader has no coins of a node to start from.
for (const bootstrap of isFleetWanted ? ['blocks'] : ['blocks', 'coins'])
  describe(`recorded replies of Bitcoin Core 0.17, from an index that began with ${bootstrap}`, () => {
    let served: RestNode;
    withCoreAddresses();

    before(async function () {
      this.timeout(CHAIN_A_TIMEOUT_MS);
      served = await openChainANode({ 'rest-bootstrap': bootstrap });
      while (served.rest.reader.read(({ backfilling: filling }) => filling) !== undefined) await setImmediate();
    });

    after(() => served.node.close());

    const replay = async (
      state: RecordedAnswer['state'],
      { port }: RestNode,
      isWanted: (answer: RecordedAnswer) => boolean = () => true
    ): Promise<void> => {
      // Odd HTTP framing is the HTTP server's business.
      const answers = chainAAnswers().filter((answer) => answer.state === state && !answer.tags.includes('transport') && isWanted(answer));
      expect(answers).to.have.length.above(240);
      expect(await differencesFrom(answers, port, PROFILES['0.17'].replies)).to.deep.equal([]);
    };

    it('are given with an empty pool', async () => {
      await replay('confirmed', served);
    });

    it('are given again from the caches', async () => {
      await replay('confirmed', served);
    });

    it('are given with transactions in the pool', async function () {
      this.timeout(120_000);
      await fillChainAPool(served.node);
      await replay('with-mempool', served);
    });

    it('are given from the caches after the chain was disconnected and connected again', async function () {
      needsNode(this, NO_FEED_WHILE_SHORTER);
      this.timeout(CHAIN_A_TIMEOUT_MS);
      // Not the node of the other tests, since blocks off the chain are deleted here.
      const other = await openChainANode();
      const isWanted = ({ tags }: RecordedAnswer): boolean => !tags.includes('stale');
      try {
        await replay('confirmed', other, isWanted);
        const { height } = chainAManifest();
        await other.node.chain.reset(height - 20);
        for (const { raw } of chainAActiveBlocks().slice(height - 19)) await other.node.chain.add(bcoin.Block.fromRaw(raw));
        await untilReady(other);
        await replay('confirmed', other, isWanted);
      } finally {
        await other.node.close();
      }
    });
  });
