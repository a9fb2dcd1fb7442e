import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { isUnder, Mount } from '../../lib/rest/mount';
import { ask, openSocket, untilClosed } from '../support/http';

describe('isUnder', () => {
  it('takes /rest and what lies under it, with any query', () => {
    for (const path of ['/rest', '/rest/', '/rest/tx/ab', '/rest?', '/rest?a=/b', '/rest/../x']) expect(isUnder('/rest', path), path).to.equal(true);
  });

  it('leaves every other path', () => {
    for (const path of ['/', '', '/restful', '/REST/tx', '//rest/tx', '/tx/rest', '/rest.json', '*', 'http://host/rest/tx'])
      expect(isUnder('/rest', path), path).to.equal(false);
  });
});

describe('the mount', () => {
  let server: Server;
  const saying = (text: string): RequestListener => (_, response) => response.end(text);
  const listen = async (): Promise<void> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };
  const bodyOf = async (path: string): Promise<string> => (await ask((server.address() as AddressInfo).port, { path })).body.toString();

  beforeEach(() => { server = createServer(); });
  afterEach(() => { server.close(); });

  it('takes its paths from listeners that come before the server listens', async () => {
    new Mount(server, '/rest', saying('ours'), 1_000).open();
    server.on('request', saying('theirs'));
    await listen();
    expect(await bodyOf('/rest/tx')).to.equal('ours');
    expect(await bodyOf('/tx')).to.equal('theirs');
  });

  it('takes its paths from a server that already listens', async () => {
    server.on('request', saying('theirs'));
    await listen();
    new Mount(server, '/rest', saying('ours'), 1_000).open();
    expect(await bodyOf('/rest')).to.equal('ours');
    expect(await bodyOf('/')).to.equal('theirs');
  });

  it('shares a server with another mount', async () => {
    const mounts = [new Mount(server, '/rest', saying('ours'), 1_000), new Mount(server, '/pay', saying('the shop'), 2_000)];
    for (const mount of mounts) mount.open();
    server.on('request', saying('theirs'));
    await listen();
    expect(await Promise.all(['/rest/tx', '/pay/1', '/payments', '/'].map(bodyOf))).to.deep.equal(['ours', 'the shop', 'theirs', 'theirs']);
    for (const mount of mounts.reverse()) mount.close();
    expect(await bodyOf('/pay')).to.equal('theirs');
  });

  it('puts everything back', async () => {
    const theirs = saying('theirs');
    const keepAlive = server.keepAliveTimeout;
    server.on('request', theirs);
    await listen();
    const mount = new Mount(server, '/rest', saying('ours'), 1_234);
    mount.open();
    expect(server.keepAliveTimeout).to.equal(1_234);
    mount.close();
    expect(server.listeners('request')).to.deep.equal([theirs]);
    expect(server.keepAliveTimeout).to.equal(keepAlive);
    expect(await bodyOf('/rest')).to.equal('theirs');
  });

  it('leaves a server alone that never came to listen', async () => {
    const mount = new Mount(server, '/rest', saying('ours'), 1_000);
    mount.open();
    mount.close();
    server.on('request', saying('theirs'));
    await listen();
    expect(await bodyOf('/rest')).to.equal('theirs');
  });

  describe('beside websockets', () => {
    const upgrade = (path: string, protocol: string, more = ''): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${more}\r\n`;
    const replyTo = async (request: string): Promise<string> => {
      const socket = await openSocket((server.address() as AddressInfo).port);
      socket.write(request);
      return (await untilClosed(socket)).toString();
    };
    const switching = (_: IncomingMessage, socket: Duplex): unknown => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');

    beforeEach(async () => {
      server.on('upgrade', switching);
      server.on('request', saying('theirs'));
      await listen();
    });

    it('answers in HTTP whoever asks for another protocol under its prefix', async () => {
      new Mount(server, '/rest', saying('ours'), 1_000).open();
      for (const protocol of ['h2c', 'websocket', 'TLS/1.2'])
        expect(await replyTo(upgrade('/rest/tx', protocol)), protocol).to.match(/^HTTP\/1.1 200 OK\r\n[^]*Connection: close\r\n[^]*ours/);
      expect(await replyTo(upgrade('/socket.io', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
    });

    it('leaves requests with a body to the others', async () => {
      new Mount(server, '/rest', saying('ours'), 1_000).open();
      expect(await replyTo(upgrade('/rest/tx', 'h2c', 'Content-Length: 2\r\n'))).to.match(/^HTTP\/1.1 101 /);
    });

    it('survives a client that leaves before its reply, and cuts one off that does not read', async () => {
      const body = Buffer.alloc(20_000_000);
      const gone: Promise<unknown>[] = [];
      const answer: RequestListener = ({ socket }, response) => {
        gone.push(new Promise((resolve) => socket.once('close', resolve)));
        response.end(body);
        socket.setTimeout(50);
      };
      new Mount(server, '/rest', answer, 1_000).open();
      for (const leave of [true, false]) {
        const asked = once(server, 'upgrade');
        const socket = await openSocket((server.address() as AddressInfo).port);
        socket.on('error', () => undefined);
        socket.pause();
        socket.write(upgrade('/rest/tx', 'h2c'));
        await asked;
        if (leave) socket.resetAndDestroy();
        await gone.at(-1);
        socket.destroy();
      }
      expect(gone).to.have.length(2);
    });

    it('puts their listeners back', async () => {
      const mount = new Mount(server, '/rest', saying('ours'), 1_000);
      mount.open();
      mount.close();
      expect(server.listeners('upgrade')).to.deep.equal([switching]);
      expect(await replyTo(upgrade('/rest/tx', 'websocket'))).to.match(/^HTTP\/1.1 101 /);
    });
  });
});
