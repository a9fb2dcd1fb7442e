import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { current, expectLevel, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { activeChain, chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import type { IndexedBlock } from '../../lib/index/types';
import type { BlockPoint } from '../../lib/node/types/chain';

describe('an index that follows', () => {
  withNodeAndIndex();

  beforeEach(async () => {
    // On 1.0.2 a reset does not reach the pool while the node is not connected.
    await current.host.connect();
    await chainWithSpends(current.host);
    await current.index.open();
    await reach('live');
  });

  it("is at the node's tip whenever the chain reports a block as connected", async () => {
    for (let i = 0; i < 3; i++) {
      await mine(current.host, 1);
      await expectLevel();
    }
  });

  it('follows a reorganization of five blocks over three in lockstep', async () => {
    const blocks: IndexedBlock[] = [];
    current.index.blocks$.subscribe((block) => blocks.push(block));
    const { height } = current.host.chain;
    await reorganize(current.host, 3, 5);
    await expectLevel();
    expect(blocks.map(({ type, block }) => `${type} ${block.height - height}`)).to.deep.equal([
      'disconnect 0',
      'disconnect -1',
      'disconnect -2',
      'connect -2',
      'connect -1',
      'connect 0',
      'connect 1',
      'connect 2'
    ]);
  });

  for (const back of [1, 2, 10, 40]) {
    it(`follows a reset by ${back} blocks in lockstep, and the blocks after it`, async () => {
      await current.host.chain.reset(current.host.chain.height - back);
      await expectLevel();
      await mine(current.host, 2);
      await expectLevel();
    });
  }

  it('follows a reset that the chain does not announce, without waiting for a block', async () => {
    await current.host.chain.replay(current.host.chain.height - 3);
    await firstValueFrom(
      current.index.state$.pipe(filter((state) => state.phase === 'live' && state.height === current.host.chain.height))
    );
    await expectLevel();
  });

  it('follows a reset to the genesis block', async () => {
    await current.host.chain.reset(0);
    await expectLevel();
    await mine(current.host, 2);
    await expectLevel();
  });

  it('has each block on the disk itself before the chain continues, whether it was connected or disconnected', async () => {
    const durable: boolean[] = [];
    const batch = current.store.batch.bind(current.store);
    current.store.batch = async (writes, options): Promise<void> => {
      await batch(writes, options);
      durable.push(options.durable);
    };
    const each: boolean[][] = [];
    for (const change of [
      (): Promise<unknown> => mine(current.host, 1),
      (): Promise<unknown> => current.host.chain.reset(current.host.chain.height - 2),
      (): Promise<unknown> => mine(current.host, 2)
    ]) {
      await change();
      each.push(durable.splice(0));
      await expectLevel();
    }
    expect(each).to.deep.equal([[true], [true, true], [true, true]]);
  });

  it('emits its tip: the current one at once, then each new one', async () => {
    const tips: BlockPoint[] = [];
    const { height } = current.host.chain;
    current.index.tip$.subscribe((tip) => tips.push(tip));
    await mine(current.host, 2);
    await current.host.chain.reset(height);
    expect(tips.map((tip) => tip.height - height)).to.deep.equal([0, 1, 2, 1, 0]);
  });

  it('lets a reader see one state from beginning to end, whatever happens meanwhile', async () => {
    const { height } = current.host.chain;
    await current.index.reader.read(async (snapshot) => {
      const coinbase = await coinbaseAt(height);
      await reorganize(current.host, 1, 2);
      expect(snapshot.tip.height).to.equal(height);
      expect(snapshot.coin(coinbase, 0)?.height).to.equal(height);
      expect(current.index.reader.read((now) => now.tip.height)).to.equal(height + 1);
      expect(current.index.reader.read((now) => now.coin(coinbase, 0))).to.equal(undefined);
    });
  });
});

/** Txid of the coinbase of an active block. */
async function coinbaseAt(height: number): Promise<Buffer> {
  const raw = (await activeChain(current.node))[height] as Buffer;
  return scanBlock(raw).transactions[0]?.txid ?? expect.fail('a coinbase');
}
