import { expect } from 'chai';
import { describe, it } from 'mocha';
import { acceptAddressForms } from '../../lib/node/address-forms';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { HostNode } from '../../lib/node/host';

const SCRIPTS = {
  bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080: '0014751e76e8199196d454941c45d1b3a323f1433bd6',
  tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx: '0014751e76e8199196d454941c45d1b3a323f1433bd6',
  bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6: '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn: '76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac',
  '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc': 'a9144e9f39ca4688ff102128ea4ccda34105324305b087'
};
const OF_MAIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';

describe('the node’s own RPC', () => {
  it('takes all forms of addresses of its test network, as values and as names, and no others', async () => {
    const node = await openRegtestNode();
    const { rpc, network } = node as unknown as HostNode;
    acceptAddressForms(rpc, network);
    for (const [address, script] of Object.entries(SCRIPTS)) {
      expect(await rpc.execute({ method: 'validateaddress', params: [address] }), address).to.include({
        isvalid: true,
        scriptPubKey: script
      });
      const inputs = [{ txid: '00'.repeat(31) + '01', vout: 0 }];
      const raw = await rpc.execute({ method: 'createrawtransaction', params: [inputs, { [address]: 0.5 }] });
      expect(raw, address).to.include(script);
      expect(await rpc.execute({ method: 'generatetoaddress', params: [1, address] })).to.have.length(1);
    }
    expect(await rpc.execute({ method: 'validateaddress', params: [OF_MAIN] })).to.include({ isvalid: false });
    expect(await rpc.execute({ method: 'getblockcount', params: [] })).to.equal(Object.keys(SCRIPTS).length);
    await node.close();
  });
});
