import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { stat, writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebSocket } from 'ws';
import { CertificateFiles } from '../../lib/server/ports/certificate-files';
import { makeOwnCertificate } from '../../lib/server/ports/own-certificate';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { LineClient, type Reply } from '../support/client/line-client';
import { newFolder } from '../support/process/folders';
import { ask, requestBytes } from '../support/client/http';
import { refusedWith } from '../support/client/push-client';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import type { AddressInfo } from 'node:net';

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server.ping' });

describe('clients of the Electrum protocol', () => {
  let served: ElectrumNode;
  let folder: string;
  /** A client that sends nothing to the TLS port. */
  let silent: LineClient;

  before(async () => {
    const prefix = await newFolder();
    folder = join(prefix, 'regtest/rest');
    served = await openElectrumNode({
      prefix,
      inMemory: false,
      settings: { 'rest-electrum-tls': await freePort(), 'rest-cors': 'https://wallet.example', 'rest-timeout': 1 }
    });
    silent = await LineClient.connect((served.electrum.addresses[1] as AddressInfo).port);
  });
  after(() => served.node.close());

  async function secure(port: number): Promise<TLSSocket> {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    return socket;
  }

  const openSocket = (headers: Readonly<Record<string, string>> = {}): WebSocket =>
    new WebSocket(`ws://127.0.0.1:${served.httpPort}/electrum`, { headers });

  const statusOf = (headers: Readonly<Record<string, string>>): Promise<number | undefined> =>
    refusedWith(`ws://127.0.0.1:${served.httpPort}/electrum`, headers);

  it('connect over TLS, to a certificate that the node made and keeps for itself', async () => {
    const { port } = served.electrum.addresses[1] as AddressInfo;
    const socket = await secure(port);
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    expect(await new LineClient(socket).ask('server.ping')).to.deep.include({ result: null });
    socket.destroy();
    expect(served.log.lines.join()).to.include(certificate.fingerprint256);
    expect(certificate.checkIssued(certificate)).to.equal(true);
    expect(certificate.verify(certificate.publicKey)).to.equal(true);
    expect([certificate.checkHost('localhost'), certificate.checkIP('127.0.0.1')]).to.deep.equal(['localhost', '127.0.0.1']);
    for (const name of ['electrum-certificate.pem', 'electrum-key.pem'])
      expect((await stat(join(folder, name))).mode & 0o777).to.equal(0o600);
    expect(await readFile(join(folder, 'electrum-certificate.pem'), 'utf8')).to.equal(certificate.toString());
    const again = await CertificateFiles.open({
      files: undefined,
      folder,
      host: 'x',
      logger: { info: () => undefined, error: () => undefined }
    });
    expect(again.pair.certificate).to.equal(certificate.toString());
  });

  it('are not disturbed by others that do not speak TLS', async () => {
    const { port } = served.electrum.addresses[1] as AddressInfo;
    const stranger = await LineClient.connect(port);
    stranger.socket.write('{"id":1}\n');
    stranger.socket.resume();
    await until(() => stranger.socket.destroyed);
    const socket = await secure(port);
    expect(await new LineClient(socket).ask('server.ping')).to.deep.include({ result: null });
    socket.destroy();
  });

  it('connect with WebSocket to the node’s HTTP server, a value in a frame', async () => {
    const socket = openSocket();
    await once(socket, 'open');
    const replies: Reply[] = [];
    socket.on('message', (data: Buffer, isBinary) => {
      expect(isBinary).to.equal(false);
      replies.push(JSON.parse(data.toString()) as Reply);
    });
    socket.send(PING);
    socket.send(`[${PING}]`);
    socket.send('{');
    socket.send(JSON.stringify({ id: 2, method: 'test.letters', params: [5_000_000] }));
    await until(() => replies.length === 4);
    const others = replies.filter(({ id }) => id !== 2);
    expect(others).to.have.deep.members([
      { jsonrpc: '2.0', id: 1, result: null },
      [{ jsonrpc: '2.0', id: 1, result: null }],
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'invalid JSON' } }
    ]);
    expect(String(replies.find(({ id }) => id === 2)?.result)).to.have.length(5_000_000);
    expect(served.electrum.sessions).to.equal(1);
    socket.send(Buffer.alloc(1_000_001, ' '));
    expect(await once(socket, 'close')).to.deep.include(1009);
    await until(() => served.electrum.sessions === 0);
  });

  it('are told over HTTP that the path is for WebSocket', async () => {
    const { status, headers } = await ask(served.httpPort, { path: '/electrum' });
    expect([status, headers['upgrade']]).to.deep.equal([426, 'websocket']);
  });

  it('may be web pages only of known origins', async () => {
    expect(await statusOf({ Origin: 'https://elsewhere.example' })).to.equal(403);
    const socket = openSocket({ Origin: 'https://wallet.example' });
    await once(socket, 'open');
    socket.terminate();
    await until(() => served.electrum.sessions === 0);
  });

  it('are disconnected with a refusal, even if they keep their side of the connection open', async () => {
    const socket = connect({ port: served.httpPort, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', Origin: 'https://elsewhere.example' };
    socket.write(requestBytes({ path: '/electrum', headers }, false));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).to.match(/^HTTP\/1.1 403 Forbidden\r\n[^]*Pages of this origin may not connect$/);
    await once(socket, 'end');
    // Whoever sends to a connection that is no more learns it.
    await until(() => {
      if (!socket.destroyed) socket.write('x');
      return socket.destroyed;
    });
  });

  it('cannot connect while nothing can be answered, and stay connected if they were', async () => {
    const client = await LineClient.connect(served.port);
    expect(await client.ask('server.ping')).to.have.property('result');
    served.ready$.next(false);
    expect(await statusOf({})).to.equal(503);
    expect(await client.ask('server.ping')).to.have.property('result');
    served.ready$.next(true);
    client.socket.destroy();
    await until(() => served.electrum.sessions === 0);
  });

  it('see a renewed certificate without a restart, and never half of one', async () => {
    const paths = { certificate: join(folder, 'renewed.pem'), key: join(folder, 'renewed-key.pem') };
    const write = async ({ certificate, key }: { certificate: string; key: string }): Promise<void> => {
      await writeFile(paths.key, key);
      await writeFile(paths.certificate, certificate);
    };
    const [first, second] = [await makeOwnCertificate('a.example'), await makeOwnCertificate('b.example')];
    const logged: string[] = [];
    const log = (message: string): void => void logged.push(message);
    await write(first);
    const files = await CertificateFiles.open({ files: paths, folder, host: 'x', logger: { info: log, error: log }, lookMs: 5 });
    await writeFile(paths.key, '');
    const seen: string[] = [];
    files.watch(({ certificate }) => void seen.push(certificate));
    await writeFile(paths.key, second.key);
    await until(() => logged.some((message) => message.includes('continues with the previous certificate')));
    expect(seen).to.have.length(0);
    expect(files.pair.certificate).to.equal(first.certificate);
    await writeFile(paths.certificate, second.certificate);
    await until(() => seen.length > 0);
    expect(seen).to.deep.equal([second.certificate]);
    files.close();
  });

  it('are disconnected when they negotiate TLS again and again', async () => {
    const port = (served.electrum.addresses[1] as AddressInfo).port;
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    const times = new Promise<number>((resolve) => {
      let done = 0;
      const negotiate = (): void => {
        if (done === 100) resolve(done);
        else socket.renegotiate({}, negotiate);
        done++;
      };
      socket.on('error', () => undefined);
      socket.once('close', () => {
        resolve(done);
      });
      negotiate();
    });
    expect(await times).to.be.lessThan(100);
    await until(() => served.electrum.sessions === 0);
  });

  it('are disconnected when they do not begin TLS in time', async () => {
    expect(await silent.line()).to.equal(undefined);
  });
});

describe('a node with clients of the Electrum protocol', () => {
  it('closes, and the clients notice', async () => {
    const served = await openElectrumNode();
    const client = await LineClient.connect(served.port);
    await client.ask('server.ping');
    const socket = new WebSocket(`ws://127.0.0.1:${served.httpPort}/electrum`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await served.node.close();
    await closed;
    expect(await client.line()).to.equal(undefined);
  });
});
