import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';

describe('the state of the chain', () => {
  let served: ServedNode;

  before(async () => (served = await ServedNode.open()));
  after(() => served.close());

  it('is written once, until the chain has changed', async () => {
    const { chainInfo } = served.answers;
    const first = await chainInfo.get();
    expect(await chainInfo.get()).to.equal(first);
    expect(first.basis.isSame()).to.equal(true);
    await mine(served.node, 1);
    await served.settle();
    expect(first.basis.isSame()).to.equal(false);
    const second = await chainInfo.get();
    expect(second.text).to.not.deep.equal(first.text);
    expect(await chainInfo.get()).to.equal(second);
  });
});
