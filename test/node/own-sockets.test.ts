import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebSocket } from 'ws';
import { bcoinFolder } from '../support/bcoin/process';
import { countConnections } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import type { EventEmitter } from 'node:events';

/** What bcoin's own clients use. */
interface ClientSocket {
  connect(port: number, host: string): void;
  destroy(): void;
  call(name: string, ...parameters: readonly unknown[]): Promise<unknown>;
  bind(event: string, listener: (entry: Buffer) => void): void;
  once(event: 'connect', listener: () => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
}

const bsock = createRequire(join(bcoinFolder, 'package.json'))('bsock') as { socket(): ClientSocket };

const KEY = 'x'.repeat(255);

describe('bcoin’s own WebSocket beside the plugin', () => {
  let rest: RestNode;
  const errors: string[] = [];
  before(async () => {
    rest = await openRestNode({ settings: { 'api-key': KEY } });
    (rest.node as unknown as EventEmitter).on('error', ({ message }: Error) => errors.push(message));
  });
  after(() => rest.node.close());

  it('serves clients that show the key first, and then send and hear what they like', async () => {
    const client = bsock.socket();
    client.on('error', () => undefined);
    client.connect(rest.port, '127.0.0.1');
    await new Promise<void>((resolve) => {
      client.once('connect', resolve);
    });
    await client.call('auth', KEY);
    await client.call('watch chain');
    const heard = new Promise((resolve) => {
      client.bind('chain connect', resolve);
    });
    await mine(rest.node, 1);
    const tip = await client.call('get tip', 'x'.repeat(1_000_000));
    expect(await heard).to.deep.equal(tip);
    client.destroy();
  });

  it('disconnects clients that send more than a key, but have shown none', async () => {
    const wrong = JSON.stringify(['auth', 'y'.repeat(255)]);
    for (const path of ['/socket.io/?transport=websocket', '/', '/any']) {
      const socket = new WebSocket(`ws://127.0.0.1:${rest.port}${path}`);
      const messages: string[] = [];
      socket.on('message', (data: Buffer) => messages.push(data.toString('latin1')));
      await new Promise((resolve) => socket.once('open', resolve));
      const closed = new Promise<number>((resolve) => socket.once('close', resolve));
      for (const id of [0, 1]) {
        socket.send(`42${id}${wrong}`);
        while (!messages.some((text) => text.includes('Invalid API key') && text.slice(1).startsWith(`3${id}`)))
          await new Promise((resolve) => socket.once('message', resolve));
      }
      for (let piece = 0; piece < 100; piece++) socket.send('', { fin: false });
      expect(await closed, path).to.equal(1_006);
    }
  });

  it('makes errors of the node neither of what such clients send nor of how they leave', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${rest.port}/`);
    await new Promise((resolve) => socket.once('open', resolve));
    const answered = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        if (data.toString('latin1').includes('Invalid API key')) resolve();
      });
    });
    for (const text of ['', '9', '42["x"', '420["get tip"]', '421["auth","wrong"]']) socket.send(text);
    await answered;
    socket.terminate();
    await until(async () => (await countConnections(rest.rest.http.server)) === 0);
    expect(errors).to.deep.equal([]);
  });

  it('makes errors of the node of what clients with the key send and it does not understand', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${rest.port}/`);
    const messages: string[] = [];
    socket.on('message', (data: Buffer) => messages.push(data.toString('latin1')));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(`420${JSON.stringify(['auth', KEY])}`);
    await until(() => messages.some((text) => text.startsWith('430')));
    socket.send('42["x"');
    await until(() => errors.length > 0);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include('JSON');
    socket.terminate();
  });
});
