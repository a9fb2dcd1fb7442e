import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin';
import { chainAActiveBlocks, chainAAnswers, chainAManifest, chainAPool, type RecordedAnswer } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode, type ChainANode } from '../support/chain-a-node';
import { ask } from '../support/http';
import { differenceFrom } from '../support/recorded-comparison';
import { untilReady } from '../support/rest-node';

/** Requests at a time: fewer than slots and queue together. */
const CLIENTS = 8;

for (const bootstrap of ['blocks', 'coins'])
  describe(`what Bitcoin Core 0.17 was recorded to answer, from an index that began with ${bootstrap}`, () => {
    let served: ChainANode;

    before(async function () {
      this.timeout(CHAIN_A_TIMEOUT_MS);
      served = await openChainANode({ 'rest-bootstrap': bootstrap });
      while (served.rest.reader.read(({ backfilling: filling }) => filling) !== undefined) await setImmediate();
    });

    after(() => served.close());

    const replay = async (
      state: RecordedAnswer['state'],
      { rest, port }: ChainANode,
      isWanted: (answer: RecordedAnswer) => boolean = () => true
    ): Promise<void> => {
      // Odd framing of HTTP itself is left to the HTTP server.
      const answers = chainAAnswers().filter((answer) => answer.state === state && !answer.tags.includes('transport') && isWanted(answer));
      expect(answers).to.have.length.above(240);
      const { addressPrefixes } = rest.node.network;
      const differences: string[] = [];
      const remaining = answers.values();
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (const answer of remaining) {
            const { id, method, path, headers, requestBodyHex } = answer;
            const body = requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex');
            const difference = differenceFrom(answer, await ask(port, { method, path, headers: headers ?? {}, body }), addressPrefixes);
            if (difference !== undefined) differences.push(`${id}: ${difference}`);
          }
        })
      );
      expect(differences).to.deep.equal([]);
    };

    it('is answered with an empty pool', async function () {
      this.timeout(60_000);
      await replay('confirmed', served);
    });

    it('is answered again from what was kept', async function () {
      this.timeout(60_000);
      await replay('confirmed', served);
    });

    it('is answered with transactions in the pool', async function () {
      this.timeout(120_000);
      for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
      await replay('with-mempool', served);
    });

    it('is answered from what was kept after the chain was taken back and came again', async function () {
      this.timeout(CHAIN_A_TIMEOUT_MS);
      // Not the node of the others: what is off its chain is deleted.
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
        await other.close();
      }
    });
  });
