import { once } from 'node:events';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { blockWithoutWitness } from '../../lib/bitcoin/block';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { blockEndpoint } from '../../lib/rest/endpoints/block';
import { chainInfoEndpoint } from '../../lib/rest/endpoints/chaininfo';
import { transactionEndpoint } from '../../lib/rest/endpoints/tx';
import { restRoutes } from '../../lib/rest/routes';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { HttpError } from '../../lib/server/errors';
import { PROFILES } from '../../lib/views/profile';
import { caught } from '../support/expectations/caught';
import { chainAActiveBlocks, chainAManifest } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { nodeWith } from '../support/bcoin/changed-node';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { ask, askInOneWrite, openSocket, requestBytes } from '../support/client/http';
import type { Socket } from 'node:net';
import type { RestNode } from '../support/node/rest-node';
import type { Answers } from '../../lib/answers/answers';
import type { NodeSource } from '../../lib/node/types/source';
import type { Endpoint } from '../../lib/rest/endpoint';

const largest = (): string => chainAActiveBlocks().reduce((a, b) => (b.raw.length > a.raw.length ? b : a)).hash;

describe('a node with a long chain', () => {
  let served: RestNode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await openChainANode({ 'rest-serial-version': 0, 'rest-threads': 1, 'rest-work-queue': 1, 'rest-timeout': 3 });
  });

  after(() => served.node.close());

  it('takes for heavy what is made of whole blocks, of many headers or of the whole pool', () => {
    const { node, reader } = served.rest;
    const hash = chainAManifest().tip;
    const heavy = ['block/', 'block/notxdetails/', 'spenttxouts/', 'headers/2000/'].map((path) => `${path}${hash}.json`);
    const light = [`tx/${hash}.json`, `headers/1/${hash}.json`, `blockpart/${hash}.bin?offset=0&size=80`, 'mempool/info.json'];
    for (const profile of Object.values(PROFILES)) {
      const routes = restRoutes(endpointContext(node, reader, undefined, profile));
      const isHeavy = (path: string): unknown => {
        const route = routes.find(({ prefix }) => path.startsWith(prefix)) ?? expect.fail('a route');
        return route.isHeavy?.(requestFor(path.slice(route.prefix.length))) ?? false;
      };
      for (const path of [...heavy, 'mempool/contents.json']) expect(isHeavy(`/rest/${path}`), path).to.equal(true);
      for (const path of light) expect(isHeavy(`/rest/${path}`), path).to.equal(false);
    }
  });

  it('works on one request, keeps one waiting and refuses more, if configured so', async () => {
    const requests = Array.from({ length: 12 }, () => ({ path: `/rest/block/${largest()}.json` }));
    const replies = await askInOneWrite(served.port, requests);
    const refused = { status: 500, contentType: 'text/plain', body: 'Work queue depth exceeded\r\n' };
    expect(replies.slice(0, 2).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(replies.slice(2).map(({ status, contentType, body }) => ({ status, contentType, body: body.toString() }))).to.deep.equal(
      Array.from({ length: 10 }, () => refused)
    );
    expect((await ask(served.port, { path: '/rest/chaininfo.json' })).status).to.equal(200);
  });

  it('answers the next client while a slow one does not read, and cuts the slow one off', async () => {
    const connected = once(served.rest.http.server, 'connection') as Promise<[Socket]>;
    const slow = await openSocket(served.port);
    const [ofServer] = await connected;
    slow.pause();
    const closed = once(ofServer, 'close');
    const path = `/rest/block/${largest()}.hex`;
    // Sends requests until the operating system takes no more of the replies.
    while (ofServer.writableLength === 0) {
      const written = ofServer.bytesWritten;
      slow.write(requestBytes({ path }, false));
      while (ofServer.bytesWritten === written && !ofServer.destroyed) await new Promise(setImmediate);
    }
    expect((await ask(served.port, { path })).status).to.equal(200);
    await closed;
    slow.destroy();
  });

  it('cuts off a client that does not read many replies that were ready at once', async () => {
    const connected = once(served.rest.http.server, 'connection') as Promise<[Socket]>;
    const slow = await openSocket(served.port);
    const [ofServer] = await connected;
    slow.pause();
    const closed = once(ofServer, 'close');
    const { genesis } = chainAManifest();
    const long = requestBytes({ path: `/rest/headers/2000/${genesis.hash}.json` }, false);
    const short = requestBytes({ path: '/rest/chaininfo.json' }, false);
    slow.write(Buffer.concat([short, ...Array.from({ length: 400 }, () => [short, long]).flat()]));
    await closed;
    slow.destroy();
  });

  it('leaves witnesses out of bin and hex if configured so', async () => {
    const { hash = '' } = chainAManifest().blocks['mixed'] ?? {};
    const { raw } = chainAActiveBlocks().find((block) => block.hash === hash) ?? { raw: Buffer.alloc(0) };
    const stripped = blockWithoutWitness(raw);
    expect(stripped.length).to.be.below(raw.length);
    expect((await ask(served.port, { path: `/rest/block/${hash}.bin` })).body).to.deep.equal(stripped);
    expect((await ask(served.port, { path: `/rest/block/notxdetails/${hash}.hex` })).body.toString()).to.equal(
      `${stripped.toString('hex')}\n`
    );
    const json = await ask(served.port, { path: `/rest/block/${hash}.json` });
    const { tx } = JSON.parse(json.body.toString()) as { tx: { txid: string; hex: string }[] };
    for (const { txid, hex } of tx.slice(0, 20)) {
      const bytes = Buffer.from(hex, 'hex');
      expect(bytes, txid).to.deep.equal(scanWholeTransaction(bytes).stripped);
      expect((await ask(served.port, { path: `/rest/tx/${txid}.bin` })).body, txid).to.deep.equal(bytes);
    }
  });

  describe('that has thrown its blocks away', () => {
    const { txs, genesis, height } = chainAManifest();
    const pruneHeight = 100;
    let context: Answers;

    before(() => {
      context = contextOf(
        nodeWith(served.rest.node, {
          pruned: true,
          pruneHeight: () => pruneHeight,
          rawBlock: () => Promise.resolve(undefined),
          rawBlockPart: () => Promise.resolve(undefined)
        })
      );
    });

    const contextOf = (node: NodeSource): Answers => endpointContext(node, served.rest.reader, new AnswerCache(2 ** 20));

    const messageOf = async (endpoint: Endpoint, path: string): Promise<string> => {
      const error = await caught(endpoint(requestFor(path)));
      expect(error).to.be.instanceOf(HttpError).with.property('status', 404);
      return (error as HttpError).message;
    };

    it('says so about a block that it knows, in every format', async () => {
      const endpoint = blockEndpoint(context, 'json');
      for (const suffix of ['.bin', '.hex', '.json', ''])
        expect(await messageOf(endpoint, `${genesis.hash}${suffix}`)).to.equal(`${genesis.hash} not available (pruned data)`);
      expect(await messageOf(endpoint, `${'ab'.repeat(32)}.bin`)).to.equal(`${'ab'.repeat(32)} not found`);
    });

    it('does not find a block whose bytes are gone when nothing was pruned', async () => {
      expect(await messageOf(blockEndpoint(contextOf(nodeWith(context.node, { pruned: false })), 'json'), `${genesis.hash}.bin`)).to.equal(
        `${genesis.hash} not found`
      );
    });

    it('does not find transactions of such blocks', async () => {
      const { txid = '' } = Object.values(txs)[0] ?? {};
      expect(await messageOf(transactionEndpoint(context), `${txid}.json`)).to.equal(`${txid} not found`);
    });

    it('shows in chaininfo from which height on it has blocks, and their size', async () => {
      const reply = await chainInfoEndpoint(context)(requestFor('.json'));
      const info = JSON.parse(reply.body.toString()) as Readonly<Record<string, unknown>>;
      const kept = chainAActiveBlocks().slice(pruneHeight);
      expect(info).to.include({
        pruned: true,
        pruneheight: pruneHeight,
        automatic_pruning: true,
        blocks: height,
        size_on_disk: kept.reduce((sum, { raw }) => sum + raw.length + 8, 0)
      });
    });
  });
});
