import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BlockForms } from '../../lib/answers/blocks/block-forms';
import { SpentOutputs } from '../../lib/answers/blocks/spent-outputs';
import { BlockTexts } from '../../lib/answers/blocks/texts';
import { blockEndpoint } from '../../lib/rest/endpoints/block';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { isUnder } from '../../lib/server/http/mount';
import { PROFILES } from '../../lib/views/profile';
import { chainAActiveBlocks, chainAAnswers31, chainAManifest, type RecordedAnswer } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, fillChainAPool, openChainANode } from '../support/node/chain-a-node';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { ask } from '../support/client/http';
import { differencesFrom, isForService, withCoreAddresses } from '../support/recorded/core';
import type { RestNode } from '../support/node/rest-node';

/** Endpoints that 0.17 does not have, and the methods that this edition serves as 31 does. */
const NEWER = ['blockhashbyheight', 'deploymentinfo', 'spenttxouts', 'blockpart', 'blockfilter', 'blockfilterheaders'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'];

const isNewer = ({ tags: [endpoint], method }: RecordedAnswer): boolean => NEWER.includes(endpoint) && METHODS.includes(method);

type Edition = keyof typeof PROFILES;

/** A node of the edition, with its filters made. */
async function openNode(core: Edition): Promise<RestNode> {
  const served = await openChainANode({ 'rest-core': core, 'rest-filters': true });
  while (served.rest.reader.read((snapshot) => snapshot.filterHeaderAt(snapshot.tip.height)) === undefined) await setImmediate();
  return served;
}

/** Asks for every recorded answer of a state that the service of the edition has, and compares. `least`: there are more of them. */
async function replay(core: Edition, { port }: RestNode, state: RecordedAnswer['state'], least: number): Promise<void> {
  // Other paths are the node's own.
  const isAsked = (answer: RecordedAnswer): boolean =>
    isForService(answer) && isUnder('/rest', answer.path) && (core === 'modern' || isNewer(answer));
  const answers = chainAAnswers31().filter((answer) => answer.state === state && isAsked(answer));
  expect(answers).to.have.length.above(least);
  expect(await differencesFrom(answers, port, PROFILES[core].replies)).to.deep.equal([]);
}

const fillPool = async ({ node }: RestNode): Promise<void> => {
  await fillChainAPool(node);
};

describe('recorded replies of Bitcoin Core 31', () => {
  let served: RestNode;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openNode('modern');
  });

  after(() => served.node.close());

  it('are given with an empty pool', async () => {
    await replay('modern', served, 'confirmed', 276);
  });

  it('are given again from the caches', async () => {
    await replay('modern', served, 'confirmed', 276);
  });

  it('are given with transactions in the pool', async function () {
    this.timeout(120_000);
    await fillPool(served);
    await replay('modern', served, 'with-mempool', 3_869);
  });

  it('are given again with the same pool', async function () {
    this.timeout(120_000);
    await replay('modern', served, 'with-mempool', 3_869);
  });

  it('differ by the count in the query, however often they are asked for', async () => {
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

  it('do not lack the outputs that a block spends once these are known', async () => {
    const { node, reader } = served.rest;
    const { hash = '' } = chainAManifest().blocks['mixed'] ?? {};
    let isKnown = false;
    const spent = new SpentOutputs({
      network: node.network,
      spentCoins: (block) => (isKnown ? node.spentCoins(block) : Promise.resolve(undefined))
    });
    const context = endpointContext(node, reader, new AnswerCache(1), PROFILES.modern);
    const blockForms = new BlockForms({ ...context, texts: new BlockTexts(1 << 22), spent });
    const endpoint = blockEndpoint({ ...context, blockForms }, 'json');
    const shown = async (): Promise<boolean> => {
      const reply = await endpoint(requestFor(`${hash}.json`));
      const text = reply.body.toString();
      reply.release?.();
      const showsSpent = text.includes('"prevout":') && text.includes('"fee":');
      // A reply that lacks them holds for no state: the next reply of the same state may have them.
      if (!showsSpent) expect(reply.tip).to.equal(undefined);
      return showsSpent;
    };
    expect([await shown(), await shown()]).to.deep.equal([false, false]);
    isKnown = true;
    expect(await shown()).to.equal(true);
    // From memory, where replies stay complete.
    isKnown = false;
    expect(await shown()).to.equal(true);
  });
});

describe('recorded replies of Bitcoin Core 31 from endpoints that 0.17 does not have, with --rest-core=0.17', () => {
  let served: RestNode;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openNode('0.17');
  });

  after(() => served.node.close());

  it('are given with an empty pool', async () => {
    await replay('0.17', served, 'confirmed', 15);
  });

  it('are given with transactions in the pool', async () => {
    await fillPool(served);
    await replay('0.17', served, 'with-mempool', 1_488);
  });

  it('are given again from the caches', async () => {
    await replay('0.17', served, 'with-mempool', 1_488);
  });
});
