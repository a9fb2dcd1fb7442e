import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { freePort, openRegtestNode } from '../support/bcoin/regtest-node';
import { activeChain, mineCoinbases, spend } from '../support/chain/regtest-chain';
import type { PoolEntry } from '../../lib/node/types/pool';
import type { HostTransaction } from '../../lib/node/host';

describe('a transaction of the pool', () => {
  let host: TestFullNode;
  let peer: TestFullNode;
  let port: number;
  let node: BcoinNode;
  let given: HostTransaction;

  beforeEach(async () => {
    port = await freePort();
    host = await openRegtestNode({ settings: { listen: true, host: '127.0.0.1', port } });
    peer = await openRegtestNode({ settings: { only: [`127.0.0.1:${port}`] } });
    node = new BcoinNode(host);
    const [coinbase] = await mineCoinbases(host, 101);
    for (const raw of (await activeChain(node)).slice(1)) await peer.chain.add(bcoin.Block.fromRaw(raw));
    given = await spend(host, coinbase as HostTransaction, COINBASE_SATS); // 101 were mined
  });

  afterEach(async () => {
    await peer.close();
    await host.close();
  });

  const only = (source: BcoinNode): PoolEntry => source.pool.entries()[0] ?? expect.fail('a transaction');
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await setTimeout(10);
  };

  it('is unbroadcast until a peer asks for it, and not at all if it comes from a peer', async () => {
    const other = new BcoinNode(peer);
    const before = only(node);
    expect(before.isUnbroadcast).to.equal(true);
    expect(node.pool.info().unbroadcast).to.equal(1);
    const { revision } = node.pool;
    await host.connect();
    await peer.connect();
    // Only connected peers hear of the transaction, so it is announced again until the peer has it.
    await until(() => {
      host.pool.announceTX(given);
      return other.pool.entries().length > 0;
    });
    await until(() => node.pool.info().unbroadcast === 0);
    expect(only(node)).to.not.equal(before);
    expect(only(node).isUnbroadcast).to.equal(false);
    expect(node.pool.revision).to.be.above(revision);
    await until(() => other.pool.info().unbroadcast === 0);
    expect(only(other).isUnbroadcast).to.equal(false);
  });
});
