import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { MemoryStore } from '../../lib/store/memory-store';
import { FaultyStore } from '../support/index/faulty-store';
import { ask, type RawReply } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode, VERSION } from '../support/node/served-node';
import { until } from '../support/expectations/until';

interface Health {
  readonly ready: boolean;
  readonly why?: string;
  readonly tip?: { readonly height: number; readonly hash: string };
  readonly seq: number;
  readonly incarnation: string;
  readonly lag_blocks?: number;
  readonly version: string;
}

const health = async (port: number): Promise<[status: number, health: Health]> => {
  const { status, body } = await ask(port, { path: '/fleet/health' });
  return [status, JSON.parse(body.toString()) as Health];
};

describe('the health of a process', () => {
  let served: ServedNode;

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-auth': true, 'api-key': 'sesame' } });
    await mine(served.node, 3);
    await served.settle();
  });
  after(() => served.close());

  const get = (request: { method?: string; path: string }): Promise<RawReply> => ask(served.port, request);

  it('says that it answers, from which block, and which version it is, without a key', async () => {
    const [status, { seq, incarnation, ...said }] = await health(served.port);
    const { height, hash } = served.source.tip();
    expect(status).to.equal(200);
    expect(said).to.deep.equal({ ready: true, tip: { height, hash: toDisplayHex(hash) }, lag_blocks: 0, version: VERSION });
    expect({ log: incarnation, sequence: seq }).to.deep.equal(served.source.position.now);
  });

  it('is asked with GET and HEAD, with a query or as an absolute target, and is not stored', async () => {
    for (const path of ['/fleet/health?from=proxy', 'http://reader.example/fleet/health'])
      expect((await get({ path })).status, path).to.equal(200);
    const head = await get({ method: 'HEAD', path: '/fleet/health' });
    expect([head.status, head.headers['cache-control'], head.contentType]).to.deep.equal([200, 'no-store', 'application/json']);
    const post = await get({ method: 'POST', path: '/fleet/health' });
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
    // Other paths are the node's.
    expect((await get({ path: '/fleet/healthy' })).status).to.equal(401);
  });

  it('is 503 with the reason while one of the interfaces does not answer', async () => {
    const store = new FaultyStore(new MemoryStore());
    const failing = await ServedNode.open({}, { scriptStore: store, failurePauseMs: 60_000 });
    try {
      store.fail('batch', 0);
      await mine(failing.node, 1);
      await until(() => failing.scripts.state.phase === 'failed');
      const [status, { ready, why }] = await health(failing.port);
      expect([status, ready, why]).to.deep.equal([503, false, 'the index by script failed; the log of the node says why']);
    } finally {
      await failing.close();
    }
  });
});
