import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { ask, basicAuth } from '../support/client/http';
import { openRestNode, untilReady } from '../support/node/rest-node';
import type { RequestListener } from 'node:http';

describe('the interfaces on the node’s HTTP server', () => {
  it('are behind one listener, which sees each request once, however many of them are on', async () => {
    const folder = await newFolder();
    const served = await openRestNode({
      settings: { 'rest-core': 'modern', 'rest-addresses': true, 'rest-payments': folder, 'api-key': 'sesame' }
    });
    const { port, node, rest } = served;
    try {
      await untilReady(served);
      const { server } = rest.http;
      const [ours, ...others] = server.listeners('request') as RequestListener[];
      expect(others).to.deep.equal([]);
      let seen = 0;
      server.removeAllListeners('request');
      server.on('request', (request, response) => {
        seen++;
        ours?.call(server, request, response);
      });
      const requests = [
        { path: '/rest/chaininfo.json' },
        { path: '/api/blocks/tip/height' },
        { path: '/pay/00' },
        { path: '/electrum' },
        { path: '/', method: 'POST', body: Buffer.from('{"method":"getblockcount"}') },
        { path: '/block/0' }
      ];
      const statuses: number[] = [];
      for (const request of requests) {
        const headers = { Authorization: basicAuth('x:sesame') };
        statuses.push((await ask(port, { headers, ...request })).status);
      }
      expect(statuses).to.deep.equal([200, 200, 404, 426, 200, 200]);
      expect(seen).to.equal(requests.length);
    } finally {
      await node.close();
    }
  });
});
