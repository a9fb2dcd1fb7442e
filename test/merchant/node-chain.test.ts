import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { NodeChain } from '../../lib/merchant/node-chain';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { afterThisTurn } from '../support/expectations/turn';

describe('a merchant’s look at the chain', () => {
  let served: RestNode;

  before(async () => {
    served = await openRestNode({});
    await untilReady(served);
  });
  after(() => served.node.close());

  it('lets other work go on between the coins that a transaction spends', async () => {
    const { node, reader } = served.rest;
    const chain = new NodeChain(node, reader);
    const outpoints = Array.from({ length: 5_000 }, () => randomBytes(36));
    const isLater = afterThisTurn();
    expect(await chain.standing({ txid: randomBytes(32), outpoints, outputs: [0] })).to.deep.equal({ state: 'absent' });
    expect(isLater()).to.equal(true);
  });
});
