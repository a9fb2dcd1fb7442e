import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { ServedNode } from '../support/node/served-node';
import { mine } from '../support/bcoin/regtest-node';

describe('the chain over Esplora’s interface', () => {
  let served: ServedNode;

  before(async () => {
    served = await ServedNode.open();
    await mine(served.node, 12);
    await served.settle();
  });
  after(() => served.node.close());

  const hashAt = (height: number): string =>
    toDisplayHex(served.index.reader.read((snapshot) => snapshot.headerAt(height)?.hash as Buffer));
  const text = async (path: string): Promise<string> => {
    const { status, body } = await served.get(path);
    return `${status} ${body.toString()}`;
  };

  it('has a tip', async () => {
    expect(await text('/blocks/tip/height')).to.equal('200 12');
    expect(await text('/blocks/tip/hash')).to.equal(`200 ${hashAt(12)}`);
  });

  it('has a block at each height up to the tip', async () => {
    expect(await text('/block-height/3')).to.equal(`200 ${hashAt(3)}`);
    expect(await text('/block-height/13')).to.equal('404 Block not found');
    expect(await text('/block-height/x')).to.equal('400 Invalid number');
  });
});
