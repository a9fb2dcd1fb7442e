import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { PROFILES } from '../../lib/profile/profile';
import { AnswerCache } from '../../lib/rest/cache/answers';
import { BlockTexts } from '../../lib/rest/cache/texts';
import { blockEndpoint } from '../../lib/rest/endpoints/block';
import { SpentOutputs } from '../../lib/rest/spent-outputs';
import { bcoin } from '../support/bcoin';
import {
  chainAActiveBlocks,
  chainAAnswers31,
  chainAManifest,
  chainAPool,
  coreRegtestPrefixes,
  type RecordedAnswer
} from '../support/chain-a';
import { endpointContext, requestFor } from '../support/endpoints';
import { CHAIN_A_TIMEOUT_MS, openChainANode, type ChainANode } from '../support/chain-a-node';
import { ask } from '../support/http';
import { differenceFrom31, isForService } from '../support/recorded-31-comparison';

/** Requests at a time: fewer than slots and queue together. */
const CLIENTS = 8;

describe('what Bitcoin Core 31 was recorded to answer', () => {
  const regtest = bcoin.Network.get('regtest');
  const { addressPrefix } = regtest;
  let served: ChainANode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    // The recorded node's: addresses, and descriptors with their checksums, come out to the letter.
    regtest.addressPrefix = { ...addressPrefix, ...coreRegtestPrefixes };
    served = await openChainANode({ 'rest-core': 'modern', 'rest-filters': true });
  });

  after(async () => {
    regtest.addressPrefix = addressPrefix;
    await served.close();
  });

  const replay = async (state: RecordedAnswer['state'], least: number): Promise<void> => {
    const answers = chainAAnswers31().filter((answer) => answer.state === state && isForService(answer));
    expect(answers).to.have.length.above(least);
    const forgetsSpent = bcoin.pkg.version.startsWith('v1.');
    const differences: string[] = [];
    const remaining = answers.values();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (const answer of remaining) {
          const { id, method, path, headers, requestBodyHex } = answer;
          const body = requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex');
          const reply = await ask(served.port, { method, path, headers: headers ?? {}, body });
          const difference = differenceFrom31(answer, reply, forgetsSpent);
          if (difference !== undefined) differences.push(`${id}: ${difference}`);
        }
      })
    );
    expect(differences).to.deep.equal([]);
  };

  it('is answered with an empty pool', async function () {
    this.timeout(60_000);
    await replay('confirmed', 240);
  });

  it('is answered again from what was kept', async function () {
    this.timeout(60_000);
    await replay('confirmed', 240);
  });

  it('is answered with transactions in the pool', async function () {
    this.timeout(120_000);
    for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    await replay('with-mempool', 2_000);
  });

  it('is told apart by the count in the query, however often it is asked for', async () => {
    const { height } = chainAManifest();
    const [hash] = chainAActiveBlocks().flatMap((block) => (block.height === height - 8 ? [block.hash] : []));
    const statusAndLength = async (query: string): Promise<readonly number[]> => {
      const { status, body } = await ask(served.port, { path: `/rest/headers/${String(hash)}.bin${query}` });
      return [status, status === 200 ? body.length / 80 : 0];
    };
    for (let time = 0; time < 3; time++) {
      expect(await statusAndLength('')).to.deep.equal([200, 5]);
      expect(await statusAndLength('?count=2')).to.deep.equal([200, 2]);
      expect(await statusAndLength('?count=3&count=2')).to.deep.equal([200, 3]);
      expect(await statusAndLength('?count=9')).to.deep.equal([200, 9]);
      expect(await statusAndLength('?count=')).to.deep.equal([400, 0]);
    }
  });

  it('is not answered without what a block spends once that is known', async () => {
    const { node, reader } = served.rest;
    const { hash = '' } = chainAManifest().blocks['mixed'] ?? {};
    let isKnown = false;
    const spent = new SpentOutputs({
      network: node.network,
      spentCoins: (block) => (isKnown ? node.spentCoins(block) : Promise.resolve(undefined))
    });
    const endpoint = blockEndpoint({
      ...endpointContext(node, reader, new AnswerCache(1), PROFILES.modern),
      texts: new BlockTexts(1 << 22),
      spent
    });
    const shown = async (): Promise<boolean> => {
      const reply = await endpoint(requestFor(`${hash}.json`));
      const text = reply.body.toString();
      reply.release?.();
      const showsSpent = text.includes('"prevout":') && text.includes('"fee":');
      // What lacks them holds for no state: the next reply of the same state may have them.
      if (!showsSpent) expect(reply).to.not.have.property('tip');
      return showsSpent;
    };
    expect([await shown(), await shown()]).to.deep.equal([false, false]);
    isKnown = true;
    expect(await shown()).to.equal(true);
    // From memory: what was true stays so.
    isKnown = false;
    expect(await shown()).to.equal(true);
  });
});
