import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { mine } from '../support/bcoin/regtest-node';
import type { HostFullBlock } from '../support/bcoin/bcoin';

describe('in-process users', () => {
  let served: RestNode;

  beforeEach(async () => {
    served = await openRestNode();
    await untilReady(served);
  });

  afterEach(() => served.node.close());

  it('read coins, headers, locations and the tip of one consistent state', async () => {
    const [block] = (await mine(served.node, 3)) as [HostFullBlock];
    const coinbase = block.txs[0]?.hash() ?? Buffer.alloc(0);
    served.rest.reader.read((snapshot) => {
      expect(snapshot.tip.height).to.equal(3);
      expect(snapshot.coin(coinbase, 0)).to.include({ height: 1, coinbase: true, value: 5_000_000_000 });
      expect(snapshot.heightOf(block.hash())).to.equal(1);
      expect(snapshot.headerAt(1)?.header).to.deep.equal(block.toRaw().subarray(0, 80));
      const location = snapshot.location(coinbase);
      expect(location?.block).to.deep.equal({ hash: block.hash(), height: 1 });
      expect(block.toRaw().subarray(location?.offset, (location?.offset ?? 0) + (location?.length ?? 0))).to.deep.equal(
        block.txs[0]?.toRaw()
      );
    });
  });

  it('keep a state while they hold it, whatever the chain does', async () => {
    await mine(served.node, 1);
    await served.rest.reader.read(async (snapshot) => {
      await mine(served.node, 2);
      expect(snapshot.tip.height).to.equal(1);
      expect(snapshot.headerAt(2)).to.equal(undefined);
    });
    expect(served.rest.reader.read((snapshot) => snapshot.tip.height)).to.equal(3);
  });

  it('are told blocks, tips and readiness', async () => {
    const heard: string[] = [];
    const subscriptions = [
      served.rest.blocks$.subscribe(({ type, block }) => heard.push(`${type} ${block.height}`)),
      served.rest.tip$.subscribe(({ height }) => heard.push(`tip ${height}`)),
      served.rest.ready$.subscribe((ready) => heard.push(ready ? 'ready' : 'not ready'))
    ];
    await mine(served.node, 2);
    await mine(served.node, 2, (await served.node.chain.getEntryByHeight(1)) ?? undefined);
    expect(heard.filter((word) => !word.startsWith('tip'))).to.deep.equal([
      'ready',
      'connect 1',
      'connect 2',
      'disconnect 2',
      'connect 2',
      'connect 3'
    ]);
    expect(heard.filter((word) => word.startsWith('tip'))).to.deep.equal(['tip 0', 'tip 1', 'tip 2', 'tip 1', 'tip 2', 'tip 3']);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });
});
