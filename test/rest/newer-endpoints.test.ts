import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin';
import { chainAAnswers31, chainAPool, type RecordedAnswer } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode, type ChainANode } from '../support/chain-a-node';
import { ask } from '../support/http';
import { differenceFrom31 } from '../support/recorded-31';

/** Requests at a time: fewer than slots and queue together. */
const CLIENTS = 8;

const NEWER = ['blockhashbyheight', 'deploymentinfo', 'spenttxouts', 'blockpart'];
const POOL = ['mempool-info', 'mempool-contents'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'];
const OTHER_METHODS = ['DELETE', 'OPTIONS', 'PATCH', 'TRACE'];

for (const core of ['modern', '0.17'] as const)
  describe(`what Bitcoin Core 31 was recorded to answer where 0.17 did not, with --rest-core=${core}`, () => {
    let served: ChainANode;

    before(async function () {
      this.timeout(CHAIN_A_TIMEOUT_MS);
      served = await openChainANode({ 'rest-core': core });
    });

    after(() => served.close());

    const replay = async (state: RecordedAnswer['state'], isWanted: (answer: RecordedAnswer) => boolean): Promise<number> => {
      const answers = chainAAnswers31().filter((answer) => answer.state === state && isWanted(answer));
      const differences: string[] = [];
      const remaining = answers.values();
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (const answer of remaining) {
            const { id, method, path, headers, requestBodyHex } = answer;
            const body = requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex');
            const reply = await ask(served.port, { method, path, headers: headers ?? {}, body });
            const difference = differenceFrom31(answer, reply, core === 'modern');
            if (difference !== undefined) differences.push(`${id}: ${difference}`);
          }
        })
      );
      expect(differences).to.deep.equal([]);
      return answers.length;
    };

    // What Node.js refuses by itself does not get here: other methods, and bytes in paths that are no ASCII.
    const methods = core === 'modern' ? [...METHODS, ...OTHER_METHODS] : METHODS;
    const isOf = (endpoints: readonly string[], { tags: [endpoint], path, method }: RecordedAnswer): boolean =>
      endpoints.includes(endpoint) && methods.includes(method) && /^\/rest\/[!-~]*$/.test(path);
    const isNewer = (answer: RecordedAnswer): boolean => isOf(NEWER, answer);
    const isOfPool = (answer: RecordedAnswer): boolean => isOf(POOL, answer);

    it('is answered with an empty pool', async function () {
      this.timeout(60_000);
      expect(await replay('confirmed', isNewer)).to.be.above(9);
      if (core === 'modern') expect(await replay('confirmed', isOfPool)).to.equal(6);
    });

    it('is answered with transactions in the pool', async function () {
      this.timeout(60_000);
      for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
      expect(await replay('with-mempool', isNewer)).to.be.above(800);
      if (core === 'modern') expect(await replay('with-mempool', isOfPool)).to.be.above(110);
    });

    it('is answered again from what was kept', async function () {
      this.timeout(60_000);
      expect(await replay('with-mempool', isNewer)).to.be.above(800);
    });
  });
