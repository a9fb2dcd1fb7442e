import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { blockFilterEndpoint, blockFilterHeadersEndpoint } from '../../lib/rest/endpoints/blockfilter';
import { HttpError } from '../../lib/server/errors';
import { untilLive } from '../support/index/base-index';
import { caught } from '../support/expectations/caught';
import { chainAManifest } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode } from '../support/node/chain-a-node';
import { endpointContext, requestFor } from '../support/client/endpoints';
import { ask } from '../support/client/http';
import { indexerOn } from '../support/node/indexed-node';
import { reorganize } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { Answers } from '../../lib/answers/answers';
import type { Endpoint } from '../../lib/rest/endpoint';
import type { TestFullNode } from '../support/bcoin/bcoin';

describe('filters that have not been made yet', () => {
  let host: TestFullNode;
  let index: ChainIndexer;
  let context: Answers;

  before(async () => {
    host = await openRegtestNode();
    await host.connect();
    await mine(host, 10);
    const node = new BcoinNode(host);
    // Without the option nothing fills them in.
    index = indexerOn(node);
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
    return error instanceof HttpError ? `${error.status} ${error.message}` : String(error);
  };

  it('are said to be in the making, in every format', async () => {
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

describe('the filter of a block that was disconnected', () => {
  let served: RestNode;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-filters': true, 'rest-core': 'modern' } });
    await served.node.connect();
    await mine(served.node, 3);
    await untilReady(served);
  });

  after(() => served.node.close());

  it('is answered as before, but must no longer be cached', async () => {
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

describe('filters that are not switched on', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);
  let served: RestNode;

  before(async () => {
    served = await openChainANode();
  });

  after(() => served.node.close());

  it('are said not to exist, if the rest of the request is valid', async () => {
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
