import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { ask, basicAuth, openSocket, type RawReply, untilClosed } from '../support/client/http';
import { freePort } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';

const KEY = 'sesame';
const AUTHORIZATION = { Authorization: basicAuth(`x:${KEY}`) };
/** The bytes of a body that does not come in one piece. */
const LONG = 1_000_000;
const CALL = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"getblockcount"}');

/** A node with every interface on its HTTP port. */
async function open(settings: Readonly<Record<string, unknown>>): Promise<RestNode> {
  return openRestNode({
    settings: {
      'rest-core': 'modern',
      'rest-addresses': true,
      'rest-electrum': await freePort(),
      'rest-payments': await newFolder(),
      'api-key': KEY,
      ...settings
    }
  });
}

/** The status line and headers of the reply to a request for WebSocket. */
async function upgradeReply(port: number, target: string): Promise<string> {
  const socket = await openSocket(port);
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const headers = ['Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`];
  socket.once('data', () => socket.end());
  socket.write(`GET ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  return (await untilClosed(socket)).toString('latin1').split('\r\n\r\n')[0] as string; // there is always a first part
}

describe('the interfaces on the node’s HTTP port', () => {
  let served: Awaited<ReturnType<typeof open>>;

  before(async () => {
    served = await open({});
    await untilReady(served);
    const isLive = async (): Promise<boolean> => (await get('/api/blocks/tip/height')).status === 200;
    while (!(await isLive())) await new Promise(setImmediate);
  });
  after(() => served.node.close());

  const get = (path: string): Promise<RawReply> => ask(served.port, { path });
  const post = (path: string, body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<RawReply> =>
    ask(served.port, { method: 'POST', path, body, headers: { ...AUTHORIZATION, ...headers } });

  const shown = ({ status, body }: RawReply): string => `${status} ${body.toString()}`;

  it('answer targets in absolute-form as their paths', async () => {
    for (const origin of ['http://127.0.0.1', `HTTP://node.example:${served.port}`, 'https://[::1]:8332']) {
      for (const path of [
        '/rest/chaininfo.json',
        '/rest/nothing',
        '/api/blocks/tip/height',
        '/api/nothing?a=b',
        '/electrum',
        '/pay/unknown'
      ])
        expect(shown(await get(origin + path)), path).to.equal(shown(await get(path)));
      for (const path of ['', '/', '/?wallet=a']) {
        const reply = await post(origin + path, CALL);
        expect(shown(reply), path).to.equal('200 {"jsonrpc":"2.0","result":0,"id":1}\n');
      }
      expect(await upgradeReply(served.port, `${origin}/api/v1/ws`)).to.match(/^HTTP\/1\.1 101 /);
    }
  });

  it('leave such targets to the node if it has their paths', async () => {
    const reply = await ask(served.port, { path: 'http://127.0.0.1/block/0', headers: AUTHORIZATION });
    expect(reply.status).to.equal(200);
    expect(JSON.parse(reply.body.toString())).to.have.property('height', 0);
  });

  it('refuse bodies with Content-Encoding, and read the next request on the connection', async () => {
    const targets = ['/rest/getutxos.bin', '/', '/api/tx', '/pay', `/pay/${'0'.repeat(32)}`];
    for (const path of targets)
      for (const encoding of ['gzip', 'identity, GZIP']) {
        const reply = await post(path, gzipSync(CALL), { 'Content-Encoding': encoding, 'Content-Type': 'application/bitcoin-payment' });
        expect(reply.status, path).to.equal(415);
        expect(reply.headers['accept-encoding'], path).to.equal('identity');
      }
    const { body } = await post('/rest/getutxos.bin', CALL, { 'Content-Encoding': 'gzip' });
    expect(body.toString()).to.equal('A body without Content-Encoding expected\r\n');
    expect((await post('/', CALL, { 'Content-Encoding': 'Identity' })).status).to.equal(200);
    const empty = await ask(served.port, { path: '/api/blocks/tip/height', headers: { 'Content-Encoding': 'gzip' } });
    expect(empty.status).to.equal(200);
    const socket = await openSocket(served.port);
    const closed = untilClosed(socket);
    socket.write(`POST /api/tx HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: ${LONG}\r\n\r\n`);
    socket.write(Buffer.alloc(LONG));
    socket.write('GET /api/blocks/tip/height HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect((await closed).toString().match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 415', 'HTTP/1.1 200']);
  });
});

describe('the interfaces on the HTTP port of a node that is not in sync', () => {
  it('say when to ask again', async () => {
    const served = await open({ network: 'main', 'rest-warmup': 'synced' });
    for (const path of ['/rest/chaininfo.json', '/api/blocks/tip/height', '/pay/unknown']) {
      const { status, headers } = await ask(served.port, { path });
      expect([status, headers['retry-after']], path).to.deep.equal([503, '5']);
    }
    for (const path of ['/rest/openapi.json', '/api/openapi.json', '/pay/openapi.json'])
      expect((await ask(served.port, { path })).status, path).to.equal(200);
    expect(await upgradeReply(served.port, '/api/v1/ws'))
      .to.match(/^HTTP\/1\.1 503 /)
      .and.match(/\r\nRetry-After: 5(\r\n|$)/);
    await served.node.close();
  });
});
