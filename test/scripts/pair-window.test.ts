import { expect } from 'chai';
import { describe, it } from 'mocha';
import { NotifyingNode } from '../support/node/notifying-node';
import { PoolWalk } from '../support/pool/walk';
import { mine } from '../support/bcoin/regtest-node';

describe('between the writes of a block into the two indexes', () => {
  it('readers get both of them at the block before', async () => {
    const walk = await PoolWalk.start();
    const all = await NotifyingNode.beside(walk.host);
    const { height } = all.index.reader.read(({ tip }) => tip);
    const got: object[] = [];
    const reading: Promise<unknown>[] = [];
    all.index.blocks$.subscribe(({ block }) => {
      // The main index has the block, the index by script does not have it yet.
      reading.push(
        all.scripts.reader.read(async (snapshot) => {
          const { tip } = snapshot.index;
          const txids = await snapshot.txids(tip.height);
          got.push({ main: block.height - height, both: tip.height - height, txids: txids.length });
        })
      );
    });
    await mine(walk.host, 2);
    await Promise.all(reading);
    expect(got).to.deep.equal([
      { main: 1, both: 0, txids: 1 },
      { main: 2, both: 1, txids: 1 }
    ]);
    await all.close();
    await walk.close();
  });
});
