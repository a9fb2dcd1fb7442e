import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { blockFilterEndpoint, blockFilterHeadersEndpoint } from '../../lib/rest/endpoints/blockfilter';
import { RestError } from '../../lib/rest/errors';
import { MemoryStore } from '../../lib/store/memory-store';
import { untilLive } from '../support/base-index';
import { bcoin, type TestFullNode } from '../support/bcoin';
import { caught } from '../support/caught';
import { chainAAnswers31, chainABlocks, chainAManifest, recordedBody, type RecordedAnswer } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode, type ChainANode } from '../support/chain-a-node';
import { endpointContext, requestFor } from '../support/endpoints';
import { ask } from '../support/http';
import { MemoryLog } from '../support/memory-log';
import { reorganize } from '../support/regtest-chain';
import { mine, openRegtestNode } from '../support/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import type { Endpoint, EndpointContext } from '../../lib/rest/endpoint';

const ENDPOINTS = ['/rest/blockfilter/', '/rest/blockfilterheaders/'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'];
/** Requests at a time: fewer than slots and queue together. */
const CLIENTS = 8;

const NOT_CONNECTED = 'Filter not found. Block was not connected to active chain.\r\n';

/** By the hash. */
const stale = new Map(chainABlocks().flatMap((block) => (block.stale ? [[block.hash, block.raw] as const] : [])));

/** bcoin 1.x forgets what a block spent when it takes the block out; of one that spends nothing nobody knows whether it was ever in. */
const isRemembered = (raw: Buffer): boolean => !/^v?1\./.test(bcoin.pkg.version) && scanBlock(raw).transactions.length > 1;

/** Node.js itself refuses other paths. */
const isAscii = (path: string): boolean => /^[ -~]*$/.test(path);

const answers = (): RecordedAnswer[] =>
  chainAAnswers31().filter(
    ({ path, method, tags }) =>
      ENDPOINTS.some((prefix) => path.startsWith(prefix)) && METHODS.includes(method) && !tags.includes('transport') && isAscii(path)
  );

/** With our decisions: what belongs to no block of the chain is not cached by others, and nothing is known of forgotten blocks. */
function expectedReply(
  answer: RecordedAnswer,
  cacheControl: boolean
): readonly [status: number, type: string | null, cache: string | undefined, body: string] {
  const { status, contentType, path, method } = answer;
  const body = method === 'HEAD' ? '' : recordedBody(answer).toString('latin1');
  const staleBlock = stale.get(/[0-9a-f]{64}/i.exec(path)?.[0].toLowerCase() ?? '');
  const caching = cacheControl ? (staleBlock !== undefined ? 'no-store' : answer.cacheControl) : undefined;
  if (staleBlock !== undefined && !isRemembered(staleBlock) && status === 200 && path.startsWith('/rest/blockfilter/'))
    return [404, 'text/plain', caching, NOT_CONNECTED];
  return [status, contentType, caching, body];
}

for (const [core, cacheControl] of [
  ['0.17', false],
  ['modern', true]
] as const)
  describe(`what Bitcoin Core was recorded to answer about filters, with --rest-core=${core}`, function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    let served: ChainANode;

    before(async () => {
      served = await openChainANode({ 'rest-core': core, 'rest-filters': true });
      while (served.rest.reader.read((snapshot) => snapshot.filterHeaderAt(snapshot.tip.height)) === undefined) await setImmediate();
    });

    after(() => served.close());

    it('is answered', async () => {
      const differences: string[] = [];
      const remaining = answers().values();
      let asked = 0;
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (const answer of remaining) {
            const { id, method, path, headers = {}, requestBodyHex } = answer;
            const reply = await ask(served.port, {
              method,
              path,
              headers,
              body: requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex')
            });
            const got = [reply.status, reply.contentType, reply.headers['cache-control'], reply.body.toString('latin1')];
            const expected = expectedReply(answer, cacheControl);
            if (JSON.stringify(got) !== JSON.stringify(expected))
              differences.push(`${id}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
            asked++;
          }
        })
      );
      expect(differences).to.deep.equal([]);
      expect(asked).to.be.greaterThan(550);
    });
  });

describe('filters that are not there yet', () => {
  let host: TestFullNode;
  let index: ChainIndexer;
  let context: EndpointContext;

  before(async () => {
    host = await openRegtestNode();
    await host.connect();
    await mine(host, 10);
    const node = new BcoinNode(host);
    // Without the option nothing fills them in.
    index = new ChainIndexer({ store: new MemoryStore(), node, logger: new MemoryLog(), migrations: [] });
    await index.open();
    await untilLive(index);
    context = { ...endpointContext(node, index.reader), filters: true };
  });

  after(async () => {
    await index.close();
    await host.close();
  });

  const refusalOf = async (endpoint: Endpoint, path: string): Promise<string> => {
    const error = await caught(endpoint(requestFor(path)));
    return error instanceof RestError ? `${error.status} ${error.message}` : String(error);
  };

  it('are said to be on their way, whatever the format', async () => {
    const tip = toDisplayHex(context.node.tip().hash);
    const onTheWay = '404 Filter not found. Block filters are still in the process of being indexed.';
    for (const suffix of ['.bin', '.hex', '.json', '']) {
      expect(await refusalOf(blockFilterEndpoint(context), `basic/${tip}${suffix}`)).to.equal(onTheWay);
      expect(await refusalOf(blockFilterHeadersEndpoint(context), `basic/${tip}${suffix}`)).to.equal(onTheWay);
    }
    const unknown = 'ab'.repeat(32);
    expect(await refusalOf(blockFilterEndpoint(context), `basic/${unknown}`)).to.equal(`404 ${unknown} not found`);
    const { body } = await blockFilterHeadersEndpoint(context)(requestFor(`basic/${unknown}.json`));
    expect(body.toString()).to.equal('[]\n');
  });
});

describe('the filter of a block that was taken out', () => {
  let served: RestNode;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-filters': true, 'rest-core': 'modern' } });
    await served.node.connect();
    await mine(served.node, 3);
    await untilReady(served);
  });

  after(() => served.node.close());

  it('is answered as before, and not to be kept any more', async () => {
    const hash = toDisplayHex(served.rest.node.tip().hash);
    const path = `/rest/blockfilter/basic/${hash}.json`;
    const before = await ask(served.port, { path });
    expect(before.status).to.equal(200);
    expect(before.headers['cache-control']).to.equal('public, immutable, max-age=86400');
    await reorganize(served.node, 1, 2);
    await untilReady(served);
    const after = await ask(served.port, { path });
    expect(after.status).to.equal(200);
    expect(after.body).to.deep.equal(before.body);
    expect(after.headers['cache-control']).to.equal('no-store');
    expect((await ask(served.port, { path: `/rest/blockfilterheaders/basic/${hash}.json` })).body.toString()).to.equal('[]\n');
  });
});

describe('filters that nobody asked for', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);
  let served: ChainANode;

  before(async () => {
    served = await openChainANode();
  });

  after(() => served.close());

  it('are said not to be there, once the rest of the request is right', async () => {
    const textOf = async (path: string): Promise<string> => {
      const { status, body } = await ask(served.port, { path: `/rest/${path}` });
      return `${status} ${body.toString()}`;
    };
    const { tip } = chainAManifest();
    const off = '400 Index is not enabled for filtertype basic\r\n';
    expect(await textOf(`blockfilter/basic/${tip}.json`)).to.equal(off);
    expect(await textOf(`blockfilter/basic/${'ab'.repeat(32)}.exe`)).to.equal(`400 Invalid hash: ${'ab'.repeat(32)}.exe\r\n`);
    expect(await textOf(`blockfilter/basic/${'ab'.repeat(32)}`)).to.equal(off);
    expect(await textOf(`blockfilter/extended/${tip}.json`)).to.equal('400 Unknown filtertype extended\r\n');
    expect(await textOf(`blockfilterheaders/basic/${tip}.json`)).to.equal(off);
    expect(await textOf(`blockfilterheaders/basic/2/${tip}.hex`)).to.equal(off);
    expect(await textOf(`blockfilterheaders/basic/0/${tip}.hex`)).to.equal(
      '400 Header count is invalid or out of acceptable range (1-2000): 0\r\n'
    );
  });
});
