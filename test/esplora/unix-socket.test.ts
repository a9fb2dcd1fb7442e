import { lstat, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import WebSocket from 'ws';
import { OptionError } from '../../plugin/options/errors';
import { newFolder } from '../support/process/folders';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';

describe('Esplora’s interface over a Unix socket', () => {
  let served: ServedNode | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const open = async (path: string, settings: Readonly<Record<string, unknown>> = {}): Promise<ServedNode> =>
    (served = await ServedNode.open({ settings: { 'rest-addresses-socket': path, ...settings } }));

  /** Status and body of a request. */
  const ask = async (socketPath: string, path: string, method = 'GET'): Promise<string> => {
    const asking = request({ socketPath, path, method });
    asking.end();
    const [response] = (await once(asking, 'response')) as [NodeJS.ReadableStream & { readonly statusCode: number }];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(Buffer.from(part));
    return `${response.statusCode} ${Buffer.concat(parts).toString()}`;
  };

  const refusal = async (path: string): Promise<string> => {
    const error: unknown = await open(path).then(
      () => expect.fail('a refusal'),
      (reason: unknown) => reason
    );
    expect(error).to.be.instanceOf(OptionError);
    return (error as OptionError).message;
  };

  it('is what it is at the port, with its path or without it, and nothing else is reached', async () => {
    const path = join(await newFolder(), 'socket');
    const { node, get, settle } = await open(path).then((one) => ({
      node: one.node,
      get: one.get.bind(one),
      settle: one.settle.bind(one)
    }));
    await mine(node, 3);
    await settle();
    expect(await ask(path, '/blocks/tip/height')).to.equal('200 3');
    expect(await ask(path, '/api/blocks/tip/height')).to.equal('200 3');
    for (const target of ['/blocks/0', '/v1/blocks', '/openapi.json', '/address/x', '/blocks/99?x=y']) {
      const { status, body } = await get(target);
      expect(await ask(path, target), target).to.equal(`${status} ${body.toString()}`);
    }
    expect(await ask(path, '/rest/chaininfo.json')).to.equal('404 endpoint does not exist "/api/rest/chaininfo.json"');
    // bcoin's own interface is there at the port.
    for (const target of ['/', '/block/0', '/mempool/x', '/apix', '*'])
      expect(await ask(path, target), target).to.match(/^(404 endpoint|400 Invalid)/);
    expect(await ask(path, '/', 'POST')).to.match(/^404 endpoint does not exist/);
  });

  it('has mempool’s WebSocket', async () => {
    const path = join(await newFolder(), 'socket');
    await open(path);
    const client = new WebSocket(`ws+unix://${path}:/v1/ws`);
    await once(client, 'open');
    client.send('{"action":"ping"}');
    const [message] = (await once(client, 'message')) as [Buffer];
    expect(message.toString()).to.equal('{"pong":true}');
    client.terminate();
  });

  it('is open to owner and group, or as the operator says, and leaves no file behind', async () => {
    const path = join(await newFolder(), 'socket');
    for (const [mode, settings] of [
      [0o660, {}],
      [0o602, { 'rest-addresses-socket-mode': '602' }]
    ] as const) {
      await open(path, settings);
      expect((await lstat(path)).mode & 0o777).to.equal(mode);
      // An open connection does not keep the node.
      const idle = connect(path);
      await once(idle, 'connect');
      await served?.close();
      served = undefined;
      if (!idle.destroyed) await once(idle, 'close');
      expect(await lstat(path).catch((error: unknown) => (error as NodeJS.ErrnoException).code)).to.equal('ENOENT');
    }
  });

  it('takes the place of a socket on which nobody listens, and of nothing else', async () => {
    const folder = await newFolder();
    const path = join(folder, 'socket');
    // A process that is killed leaves its socket behind: so does a server whose file has got another name.
    const old = createServer().listen(join(folder, 'old'));
    await once(old, 'listening');
    await rename(join(folder, 'old'), path);
    expect(await refusal(path)).to.equal(`--rest-addresses-socket: ${path} is in use: another process listens on it`);
    old.close();
    await once(old, 'close');
    expect((await lstat(path)).isSocket()).to.equal(true);
    await open(path);
    expect(await ask(path, '/blocks/tip/height')).to.equal('200 0');
    const other = join(folder, 'file');
    await writeFile(other, 'text');
    await served?.close();
    served = undefined;
    expect(await refusal(other)).to.equal(`--rest-addresses-socket: ${other} is there already, and is no socket`);
    expect(await refusal(join(folder, 'none', 'socket'))).to.match(/^--rest-addresses-socket: .* cannot be made: ENOENT/);
  });

  it('cuts off who sends nothing, or half of a request', async () => {
    const path = join(await newFolder(), 'socket');
    await open(path, { 'rest-timeout': 1 });
    const clients: Socket[] = [connect(path), connect(path)];
    clients[1]?.write('GET /blocks/tip/he');
    await Promise.all(clients.map((client) => once(client.resume(), 'close')));
  });
});
