import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OptionError } from '../../plugin/options/errors';
import { DescribedRpc, type RpcDocument } from '../support/client/described-rpc';
import { newFolder } from '../support/process/folders';
import { LineClient } from '../support/client/line-client';
import { freePort } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';

const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

describe('what an Electrum server says of itself', () => {
  it('is what the operator has it say: banner, donations, its own places and other servers', async () => {
    const [port, banner] = [await freePort(), join(await newFolder(), 'banner')];
    await writeFile(banner, 'Grüße\nfrom the operator');
    const served = await ServedNode.open({
      settings: {
        'rest-electrum': port,
        'rest-electrum-banner': banner,
        'rest-electrum-donation': ADDRESS,
        'rest-electrum-hosts': 'tcp://electrum.example:50001,ssl://electrum.example:50002,wss://[2001:db8::1]:443',
        'rest-electrum-peers': 'ssl://a.example:50002,tcp://b.example:50001,tcp://a.example:50001'
      }
    });
    const client = await LineClient.connect(port);
    const described = new DescribedRpc((await client.ask('rpc.discover')).result as RpcDocument);
    const said = async (method: string): Promise<unknown> => {
      const { result } = await client.ask(method);
      expect(described.faultsIn(method, result), method).to.deep.equal([]);
      return result;
    };
    expect(await said('server.banner')).to.equal('Grüße\nfrom the operator');
    expect(await said('server.donation_address')).to.equal(ADDRESS);
    expect(await said('server.features')).to.deep.include({
      hosts: { 'electrum.example': { tcp_port: 50_001, ssl_port: 50_002 }, '2001:db8::1': { wss_port: 443 } }
    });
    expect(await said('server.peers.subscribe')).to.deep.equal([
      ['a.example', 'a.example', ['v1.4', 's50002', 't50001']],
      ['b.example', 'b.example', ['v1.4', 't50001']]
    ]);
    client.socket.destroy();
    await served.close();
  });

  it('stops the node if donations would go to an address of another network', async () => {
    for (const [address, why] of [
      ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'of another network'],
      [ADDRESS.replace('w508', 'w509'), 'unreadable']
    ] as const) {
      const error: unknown = await ServedNode.open({ settings: { 'rest-electrum-donation': address } }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(OptionError);
      expect((error as OptionError).message).to.equal(
        `--rest-electrum-donation must be an address of this network: '${address}' is ${why}`
      );
    }
  });
});
