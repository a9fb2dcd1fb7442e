import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { DescribedRpc, type RpcDocument } from '../support/client/described-rpc';
import { isFleetWanted, needsNode } from '../support/fleet/fleet';
import { freePort, openRegtestNode } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { RpcCaller } from '../support/client/rpc';
import { until } from '../support/expectations/until';
import type { TestFullNode } from '../support/bcoin/bcoin';

describe('the peers of a node', () => {
  let served: RestNode;
  let other: TestFullNode;
  let caller: RpcCaller;

  before(async function () {
    needsNode(this, 'a reader has no peers');
    const port = await freePort();
    served = await openRestNode({ settings: { 'rest-core': 'modern', listen: true, host: '127.0.0.1', port } });
    other = await openRegtestNode({ settings: { only: [`127.0.0.1:${port}`] } });
    await untilReady(served);
    caller = new RpcCaller(served.port);
    await served.node.connect();
    await other.connect();
    await until(() => served.node.pool.peers.inbound === 1);
  });
  after(async () => {
    if (isFleetWanted) return;
    await other.close();
    await served.node.close();
  });

  it('are shown with all fields of Bitcoin Core', async () => {
    expect(await caller.call('getconnectioncount')).to.equal(1);
    // The version of the peer comes first.
    let peers: readonly Record<string, unknown>[] = [];
    do peers = await caller.call<readonly Record<string, unknown>[]>('getpeerinfo');
    while (peers[0]?.['subver'] === '');
    const described = new DescribedRpc(await caller.call<RpcDocument>('rpc.discover'));
    expect(described.faultsIn('getpeerinfo', peers)).to.deep.equal([]);
    expect(peers).to.have.length(1);
    expect(peers[0]).to.deep.include({ inbound: true, connection_type: 'inbound', network: 'not_publicly_routable', relaytxes: true });
    expect(peers[0]?.['subver']).to.match(/^\/bcoin:/);
    expect(peers[0]?.['addr']).to.match(/^127\.0\.0\.1:\d+$/);
    expect(Number(peers[0]?.['conntime'])).to.be.closeTo(Date.now() / 1_000, 60);
    expect(Number(peers[0]?.['bytesrecv'])).to.be.above(0);
  });
});
