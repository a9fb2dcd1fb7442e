// A real cache between the node and its clients, through a reorganization.

import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { ask, type RawReply } from '../../support/client/http';
import { needsProgram } from '../../support/process/installed';
import { freePort, mine } from '../../support/bcoin/regtest-node';
import { ServedNode } from '../../support/node/served-node';
import { startNginx, type StartedProxy } from './started-proxy';

/** As replies state it, and a second since ages are whole seconds. */
const MOST_AGE_MS = 11_000;

describe('a cache of nginx', () => {
  let served: ServedNode | undefined;
  let proxy: StartedProxy | undefined;
  let port: number;

  before(async function () {
    needsProgram(this, 'nginx');
    const node = (served = await ServedNode.open({ settings: { 'rest-core': 'modern', apiKey: 'key' } }));
    await mine(node.node, 15);
    await node.settle();
    port = await freePort();
    proxy = await startNginx(
      `proxy_cache_path FOLDER/cache keys_zone=rest:1m;
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://127.0.0.1:${node.port};
          proxy_http_version 1.1;
          proxy_cache rest;
          proxy_cache_revalidate on;
          add_header X-Cache $upstream_cache_status;
        }
      }`,
      port
    );
  });
  after(async () => {
    await proxy?.stop();
    await served?.close();
  });

  const get = (path: string): Promise<RawReply> => ask(port, { path });

  it('serves nothing stale beyond the stated age after a reorganization', async () => {
    if (served === undefined) throw new Error('expected a node');
    const { node, source, index } = served;
    const lost = toDisplayHex(source.tip().hash);
    const [tipPath, blockPath, deepPath] = [
      '/api/blocks/tip/hash',
      `/api/block/${lost}/status`,
      `/api/block/${index.reader.read((snapshot) => toDisplayHex(snapshot.headerAt(2)?.hash ?? Buffer.alloc(32)))}/header`
    ];
    for (const path of [tipPath, blockPath, deepPath]) for (let i = 0; i < 2; i++) await get(path);
    expect((await get(tipPath)).headers['x-cache']).to.equal('HIT');
    expect((await get(tipPath)).body.toString()).to.equal(lost);
    expect(JSON.parse((await get(blockPath)).body.toString())).to.include({ in_best_chain: true });
    const fork = await node.chain.getEntry(node.chain.tip.height - 1);
    await mine(node, 2, fork ?? undefined);
    await served.settle();
    const moved = performance.now();
    const tip = toDisplayHex(source.tip().hash);
    let isStale = true;
    while (isStale) {
      const asked = performance.now() - moved;
      const [shown, status] = [
        (await get(tipPath)).body.toString(),
        JSON.parse((await get(blockPath)).body.toString()) as { in_best_chain: boolean }
      ];
      isStale = shown !== tip || status.in_best_chain;
      if (isStale) expect(asked, shown).to.be.lessThan(MOST_AGE_MS);
      await pause(250);
    }
    expect((await get(deepPath)).headers['x-cache']).to.equal('HIT');
  });

  it('asks the node again with the tag, and is spared the body', async () => {
    await get('/api/blocks/tip/height');
    await pause(MOST_AGE_MS);
    expect((await get('/api/blocks/tip/height')).headers['x-cache']).to.equal('REVALIDATED');
  });

  it("keeps nothing of Bitcoin Core's interface that may change", async () => {
    for (let i = 0; i < 3; i++) expect((await get('/rest/chaininfo.json')).headers['x-cache']).to.equal('MISS');
  });
});
