import { once } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { caught } from '../support/expectations/caught';
import { freePort } from '../support/bcoin/regtest-node';
import { openSocket, untilClosed } from '../support/client/http';
import { openRestNode, untilReady } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import type { Socket } from 'node:net';

/** What a client may have sent when the node stops. */
const UNFINISHED = {
  nothing: '',
  'half a header': 'GET /rest/chaininfo.json HTTP/1.1\r\nHo',
  'half a body for /rest': 'POST /rest/getutxos.hex HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n00',
  'half a body for /api': 'POST /api/tx HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n00',
  'half a call': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n00',
  'half a body for the node': 'POST /broadcast HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n00'
};

/** Of these, the requests that the node has taken: only a part of their body is missing. */
const BODIES = 4;

describe('a node that stops', () => {
  // Without an end of such connections each would keep the node for half a minute.
  it('waits for no client that has sent only part of something, and ends those of the Electrum protocol at once', async () => {
    const electrumPort = await freePort();
    const settings = { 'rest-core': 'modern', 'rest-addresses': true, 'rest-electrum': `127.0.0.1:${electrumPort}` };
    const served = await openRestNode({ settings });
    await untilReady(served);
    const clients: [string, Socket][] = [];
    let taken = 0;
    served.rest.http.server.on('request', () => {
      taken++;
    });
    for (const [name, text] of Object.entries(UNFINISHED)) {
      const socket = await openSocket(served.port);
      clients.push([name, socket]);
      if (text !== '') socket.write(text);
    }
    clients.push(['an Electrum client', await electrumClient(electrumPort)]);
    const order: string[] = [];
    const gone = clients.map(async ([name, socket]) => {
      await untilClosed(socket);
      order.push(name);
    });
    served.node.on('error', () => undefined);
    await until(() => taken === BODIES);
    await served.node.close();
    await Promise.all(gone);
    expect(order.slice(0, 3)).to.have.members(['nothing', 'half a header', 'an Electrum client']);
  });

  it('is not opened again, and says so: its index would never follow the chain', async () => {
    const { node, rest } = await openRestNode({ isFleet: false });
    await node.close();
    expect(String(await caught(rest.open()))).to.match(/^Error: bcoin-rest cannot be opened again once it is closed: /);
  });
});

/** A client that was answered. */
async function electrumClient(port: number): Promise<Socket> {
  for (;;) {
    const socket = await openSocket(port).catch(() => undefined);
    if (socket === undefined) continue;
    socket.write('{"id":1,"method":"server.ping","params":[]}\n');
    await once(socket, 'data');
    return socket;
  }
}
