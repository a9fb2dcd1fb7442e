import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { AnswerCache } from '../../lib/rest/answer-cache';
import { DEFAULT_LIMITS } from '../../lib/rest/limits';
import { RawBlocks } from '../../lib/rest/raw-blocks';
import { RestRequest } from '../../lib/rest/endpoint';
import { RestError } from '../../lib/rest/errors';
import { findRoute, restRoutes, type Route } from '../../lib/rest/routes';
import { activeChain, chainWithSpends, reorganize } from '../support/regtest-chain';
import { ask } from '../support/http';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';

/** Paths about every block and transaction that there ever was, in every format. */
function pathsOf(raws: Iterable<Buffer>): string[] {
  const paths = ['/rest/chaininfo.json'];
  for (const raw of raws) {
    const { hash, transactions } = scanBlock(raw);
    const id = toDisplayHex(hash);
    for (const prefix of ['block/', 'block/notxdetails/', 'headers/1/', 'headers/70/', 'headers/2000/'])
      for (const suffix of ['.bin', '.hex', '.json']) paths.push(`/rest/${prefix}${id}${suffix}`);
    for (const { txid } of transactions.slice(-2))
      for (const suffix of ['.bin', '.json']) paths.push(`/rest/tx/${toDisplayHex(txid)}${suffix}`);
  }
  return paths;
}

describe('answers that were given before', () => {
  let served: RestNode;
  /** Every block that was in the chain at some time, by its hash. */
  let known: Map<string, Buffer>;

  beforeEach(async () => {
    served = await openRestNode();
    await untilReady(served);
    known = new Map();
  });

  afterEach(() => served.node.close());

  /** Endpoints that remember nothing. */
  const coldRoutes = (): Route[] => {
    const { node, reader } = served.rest;
    const cache = new AnswerCache(1);
    return restRoutes({ node, reader, witness: true, limits: DEFAULT_LIMITS, cache, blocks: new RawBlocks(node, cache) });
  };

  const coldAnswer = async (path: string): Promise<string> => {
    const route = findRoute(coldRoutes(), path) ?? expect.fail('a route');
    try {
      const { body } = await route.endpoint(new RestRequest(path.slice(route.prefix.length), Buffer.alloc(0), { destroyed: false }));
      return body.toString('latin1');
    } catch (error) {
      if (error instanceof RestError) return `${error.message}\r\n`;
      throw error;
    }
  };

  /** Asks for everything: what is warm must be what is cold. */
  const compare = async (): Promise<void> => {
    for (const raw of await activeChain(served.rest.node)) known.set(toDisplayHex(scanBlock(raw).hash), raw);
    for (const path of pathsOf([...known.values()].slice(-16)))
      for (let time = 0; time < 2; time++)
        expect((await ask(served.port, { path })).body.toString('latin1') === await coldAnswer(path), path).to.equal(true);
  };

  it('hold no longer than what they say, whatever the chain does', async function () {
    this.timeout(120_000);
    await chainWithSpends(served.node);
    await compare();
    await reorganize(served.node, 1, 2);
    await compare();
    await reorganize(served.node, 6, 7);
    await compare();
    await served.node.chain.reset(100);
    await untilReady(served);
    await compare();
  });
});
