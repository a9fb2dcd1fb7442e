import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { demonstrate } from '../../plugin/start/demonstration';
import { greeting } from '../../plugin/start/node';
import { loadBcoin, type HostFullNode } from '../../plugin/bcoin';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';

describe('the demonstration chain', () => {
  let served: RestNode;

  before(async () => {
    served = await openRestNode({ settings: { 'rest-explorer': true, 'rest-addresses': true } });
    await demonstrate(served.node as unknown as HostFullNode, loadBcoin(), new AbortController().signal);
    await untilReady(served);
  });

  after(() => served.node.close());

  it('shows an output of every standard kind and waiting transactions', async () => {
    const types = new Set<string>();
    for (let height = 430; height <= served.node.chain.height; height++) {
      const hash = Buffer.from((await served.rest.node.activeHash(height)) ?? [])
        .reverse()
        .toString('hex');
      const block = (await (await fetch(`${served.baseUrl}/rest/block/${hash}.json`)).json()) as {
        readonly tx: readonly { readonly vout: readonly { readonly scriptPubKey: { readonly type: string } }[] }[];
      };
      for (const { vout } of block.tx) for (const { scriptPubKey } of vout) types.add(scriptPubKey.type);
    }
    expect([...types]).to.have.members([
      'pubkeyhash',
      'pubkey',
      'multisig',
      'scripthash',
      'witness_v0_keyhash',
      'witness_v0_scripthash',
      'witness_unknown',
      'nulldata'
    ]);
    const pool = (await (await fetch(`${served.baseUrl}/rest/mempool/info.json`)).json()) as { readonly size: number };
    expect(pool.size).to.equal(3);
  });

  it('is not mined twice, and its waiting transactions come back', async () => {
    const { node } = served;
    const height = node.chain.height;
    await node.mempool.reset();
    await demonstrate(node as unknown as HostFullNode, loadBcoin(), new AbortController().signal);
    expect(node.chain.height).to.equal(height);
    expect(node.mempool.map.size).to.equal(3);
  });

  it('has a greeting with requests that work', async () => {
    const electrum = { plain: { host: '127.0.0.1', port: 50001 }, tls: { host: '::1', port: 50002 } };
    const text = await greeting(
      served.rest,
      { apiKey: undefined, isDemonstration: true },
      { addresses: { path: '/api', electrum }, explorer: true }
    );
    expect(text).to.match(/electrum --regtest --oneserver --server 127\.0\.0\.1:50001:t\n.* --server \[::1\]:50002:s\n/);
    const urls = text.match(/http:\S+/g) ?? [];
    expect(urls.filter((url) => url.includes('/api/address/'))).to.have.length(2);
    expect(urls.filter((url) => url.includes('/rest/'))).to.have.length.greaterThan(4);
    for (const url of urls) expect((await fetch(url)).status, url).to.equal(200);
  });
});
