import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MOST_BYTES_IN_FLIGHT } from '../../lib/server/limits';
import { LineClient, type Reply } from '../support/client/line-client';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { openRestNode } from '../support/node/rest-node';
import { ServedNode } from '../support/node/served-node';

/** A client, as soon as the port listens. */
async function connect(port: number): Promise<LineClient> {
  for (;;) {
    const client = await LineClient.connect(port).catch(() => undefined);
    if (client !== undefined) return client;
    await new Promise(setImmediate);
  }
}

describe('a node with --rest-electrum', () => {
  it('answers there, however much clients of its own machine cost, and closes with clients connected', async () => {
    const port = await freePort();
    const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-electrum': port, 'rest-electrum-cost': 1 } });
    const client = await connect(port);
    const { result } = await client.ask('server.version', ['wallet', '1.4']);
    expect(result).to.be.an('array').with.nested.property('1', '1.4');
    expect((await client.ask('blockchain.block.header', [0])).result).to.have.length(160);
    const features = (await client.ask('server.features')).result as { genesis_hash: string };
    expect(features.genesis_hash).to.equal(served.node.network.genesis.hash.toString('hex').match(/../g)?.reverse().join(''));
    const { result: tip } = await client.ask('blockchain.headers.subscribe');
    expect(tip).to.have.property('height', 0);
    await mine(served.node, 1);
    expect(await client.value()).to.have.nested.property('params[0].height', 1);
    await served.node.close();
    expect(await client.line()).to.equal(undefined);
  });

  it('subscribes and unsubscribes in the order of the requests, of those in a batch, too', async () => {
    const port = await freePort();
    const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-electrum': port } });
    const hash = '00'.repeat(32);
    const kinds = { scripthash: [hash], scriptpubkey: ['51'], outpoint: [hash, 0, '51'] };
    const names = ['subscribe', 'unsubscribe', 'unsubscribe', 'subscribe', 'subscribe', 'unsubscribe'];
    for (const [kind, subscription] of Object.entries(kinds)) {
      const requests = names.map((name, id) => ({
        id,
        method: `blockchain.${kind}.${name}`,
        params: name === 'subscribe' ? subscription : subscription.slice(0, 2)
      }));
      for (const sent of [requests, [requests]]) {
        const client = await connect(port);
        await client.ask('server.version', ['wallet', '1.6']);
        client.send(...sent);
        const results = new Map<unknown, unknown>();
        while (results.size < requests.length)
          for (const { id, result } of [(await client.value()) as Reply | Reply[]].flat()) results.set(id, result);
        client.socket.destroy();
        const removed = [1, 2, 5].map((id) => results.get(id));
        expect(removed, kind).to.deep.equal([true, false, true]);
      }
    }
    await served.node.close();
  });

  it('lets clients unsubscribe while too many replies wait to be read, though not subscribe', async () => {
    const port = await freePort();
    const served = await ServedNode.open({ settings: { 'rest-electrum': port } });
    const { responses } = served.serving;
    const client = await connect(port);
    const hash = '00'.repeat(32);
    await client.ask('server.version', ['wallet', '1.6']);
    const ask = async (name: string, params: readonly unknown[]): Promise<unknown> => {
      const { result, error } = await client.ask(`blockchain.${name}`, params);
      return error?.message ?? result;
    };
    await ask('scripthash.subscribe', [hash]);
    await ask('outpoint.subscribe', [hash, 0, '51']);
    responses.countOthers(MOST_BYTES_IN_FLIGHT);
    expect(await ask('scripthash.subscribe', ['11'.repeat(32)])).to.equal('too many replies wait to be read');
    expect(await ask('scripthash.unsubscribe', [hash])).to.equal(true);
    expect(await ask('outpoint.unsubscribe', [hash, 0])).to.equal(true);
    responses.countOthers(-MOST_BYTES_IN_FLIGHT);
    expect(await ask('scripthash.subscribe', [hash])).to.equal(null);
    client.socket.destroy();
    await served.close();
  });

  it('does not start when the port is taken, and says so in a sentence', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const error: unknown = await openRestNode({ settings: { 'rest-addresses': true, 'rest-electrum': port } }).catch(
      (reason: unknown) => reason
    );
    other.close();
    expect(error).to.have.property('name', 'OptionError');
    expect(String(error)).to.include(`--rest-electrum: Electrum cannot listen on 127.0.0.1:${port}`);
  });
});
