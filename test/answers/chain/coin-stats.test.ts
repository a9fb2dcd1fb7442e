import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { CoinStats, TxidsMissingError } from '../../../lib/answers/chain/coin-stats';
import { txidsFrom, type TxidsOf } from '../../../lib/answers/scripts/txids';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { NotifyingNode } from '../../support/node/notifying-node';
import { PoolWalk } from '../../support/pool/walk';

const client = { isGone: false };

describe('what all coins add up to', () => {
  let walk: PoolWalk;
  let all: NotifyingNode;
  let txidsOf: TxidsOf;

  before(async () => {
    walk = await PoolWalk.start();
    all = await NotifyingNode.beside(walk.host);
    txidsOf = txidsFrom(all.scripts.reader);
  });
  after(async () => {
    await all.close();
    await walk.close();
  });

  const tipHash = (): string => toDisplayHex(all.index.reader.read(({ tip }) => tip.hash));

  it('is that of a block of the chain, although a reorganization takes the first one away while it is hashed', async () => {
    const first = tipHash();
    let asked = 0;
    const disturbed = new CoinStats(all.index.reader, async (block) => {
      if (asked++ === 0) {
        await walk.goBack('fork', 1);
        await all.settle();
      }
      return txidsOf(block);
    });
    const { tip, muhash, coins } = await disturbed.sums('muhash', client);
    expect([toDisplayHex(tip.hash) === tipHash(), tipHash() === first]).to.deep.equal([true, false]);
    const calm = await new CoinStats(all.index.reader, txidsOf).sums('muhash', client);
    expect({ muhash, coins }).to.deep.equal({ muhash: calm.muhash, coins: calm.coins });
  });

  it('is read once for each block', async () => {
    let asked = 0;
    const counted = new CoinStats(all.index.reader, (block) => {
      asked++;
      return txidsOf(block);
    });
    const first = await counted.sums('muhash', client);
    const blocks = asked;
    expect(blocks).to.be.above(0);
    expect(await counted.sums('muhash', client)).to.deep.equal(first);
    expect(asked).to.equal(blocks);
    await walk.step({ do: 'mine' });
    await all.settle();
    const next = await counted.sums('muhash', client);
    expect(toDisplayHex(next.tip.hash)).to.equal(tipHash());
    expect([next.muhash?.equals(first.muhash ?? Buffer.alloc(0)), asked > blocks]).to.deep.equal([false, true]);
  });

  it('cannot be hashed without txids', async () => {
    const error: unknown = await new CoinStats(all.index.reader, undefined).sums('muhash', client).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TxidsMissingError);
    expect((await new CoinStats(all.index.reader, undefined).sums('none', client)).coins).to.be.above(0);
  });
});
