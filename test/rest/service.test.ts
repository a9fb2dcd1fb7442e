import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock } from '../support/bcoin/bcoin';
import { COINBASE_SATS, FEE_SATS } from '../support/chain/coinbases';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { ask, askInOneWrite, basicAuth, openSocket, type RawReply, requestBytes, untilClosed } from '../support/client/http';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { entryOf, mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HostTransaction } from '../../lib/node/host';

/** The value of the first output that `spend` makes of a coinbase. */
const HALF_SATS = (COINBASE_SATS - FEE_SATS) / 2;

/** bcoin takes a regtest node for synced, however old its tip is; here it is as strict as on the main network. */
async function withStrictTipAge(run: () => Promise<void>): Promise<void> {
  const { block } = bcoin.Network.get('regtest');
  const before = block.maxTipAge;
  block.maxTipAge = 24 * 60 * 60;
  try {
    await run();
  } finally {
    block.maxTipAge = before;
  }
}

describe('the service on a real node', () => {
  let served: RestNode;
  /** The folder of a node that is not in memory. */
  let folder: string | undefined;

  const open = async (settings: Readonly<Record<string, unknown>> = {}): Promise<void> => {
    served = await openRestNode({ settings });
  };
  const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawReply> => ask(served.port, { path, headers });
  const blocks = async (): Promise<unknown> =>
    (JSON.parse((await get('/rest/chaininfo.json')).body.toString()) as { blocks: number }).blocks;

  afterEach(async () => {
    await served.node.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
    folder = undefined;
  });

  it('refuses everything until the node is synced, then answers', function () {
    return withStrictTipAge(async () => {
      await open({ 'rest-warmup': 'synced' });
      needsNode(this, 'a reader is answered by no node until one is synced');
      for (const path of ['/rest/chaininfo.json', '/rest/chaininfo.bin', '/rest/tx/xyz', '/rest/getutxos']) {
        const { status, contentType, body } = await get(path);
        expect({ status, contentType }, path).to.deep.equal({ status: 503, contentType: 'text/plain' });
        expect(body.toString()).to.match(/^Service temporarily unavailable: (loading|indexing|syncing)[^\r\n]*\r\n$/);
      }
      expect((await get('/rest/unknown.json')).status).to.equal(404);
      expect((await get('/rest/openapi.json')).status).to.equal(200);
      await mine(served.node, 1);
      await untilReady(served);
      expect(await blocks()).to.equal(1);
      expect((await get('/rest/tx/xyz')).status).to.equal(400);
    });
  });

  it('never shows an old tip once the chain has moved', async () => {
    await open();
    await untilReady(served);
    for (let height = 1; height <= 3; height++) {
      await mine(served.node, 1);
      expect(await blocks()).to.equal(height);
    }
    await mine(served.node, 4, (await served.node.chain.getEntryByHeight(1)) ?? undefined);
    expect(await blocks()).to.equal(5);
  });

  it('finds a transaction and its coin at every moment while it is confirmed, undone and confirmed again', async () => {
    folder = await mkdtemp(join(tmpdir(), 'bcoin-rest-'));
    served = await openRestNode({ prefix: folder });
    await untilReady(served);
    const { node } = served;
    const [coinbase, ...more] = (await mineCoinbases(node, 121)) as [HostTransaction, ...HostTransaction[]];
    // bcoin drops transactions that spend a coinbase at every reorganization.
    const parent = await spend(node, coinbase, COINBASE_SATS);
    await mine(node, 1);
    const txid = toDisplayHex((await spend(node, parent, HALF_SATS)).hash());
    const paths = [`/rest/tx/${txid}.bin`, `/rest/getutxos/checkmempool/${toDisplayHex(parent.hash())}-0/${txid}-0.json`];
    const state = { moving: true };
    let answered = 0;
    const untilAsked = async (): Promise<void> => {
      const before = answered;
      await until(() => answered > before + 1);
    };
    const moved = (async () => {
      for (const other of more.slice(0, 10)) {
        const fork = node.chain.tip;
        await mine(node, 1);
        await untilAsked();
        const [rival] = (await mine(node, 1, fork)) as [HostFullBlock];
        const overtaking = await node.miner.cpu.mineBlock(await entryOf(node, rival));
        // bcoin takes nothing back into an empty pool.
        await spend(node, other, COINBASE_SATS);
        await node.chain.add(overtaking as HostFullBlock);
        await untilAsked();
      }
    })().finally(() => {
      state.moving = false;
    });
    const bitmaps = new Set<string>();
    const heights = new Set<number | undefined>();
    while (state.moving) {
      const [transaction, coins] = await Promise.all(paths.map((path) => get(path)));
      expect([transaction?.status, coins?.status]).to.deep.equal([200, 200]);
      const { bitmap, utxos } = JSON.parse(coins?.body.toString() ?? '') as { bitmap: string; utxos: { height: number }[] };
      bitmaps.add(bitmap);
      heights.add(utxos[0]?.height);
      answered++;
    }
    await moved;
    expect([...bitmaps]).to.deep.equal(['01']);
    expect(heights).to.include(0x7fff_ffff).and.have.length.above(1);
  });

  it('closes while the chain is being reset, and opens again', async function () {
    await open();
    needsNode(this, NO_FEED_WHILE_SHORTER);
    await untilReady(served);
    await mine(served.node, 400);
    const state = { resetting: true };
    const reset = served.node.chain.reset(1).then(() => {
      state.resetting = false;
    });
    const during: string[] = [];
    while (state.resetting) {
      const { status, body } = await get('/rest/chaininfo.json');
      if (status !== 200) during.push(`${status} ${body.toString()}`);
    }
    await reset;
    expect(during).to.include('503 Service temporarily unavailable: resetting chain\r\n');
    await untilReady(served);
    expect(await blocks()).to.equal(1);
  });

  it('requires the API key if configured so, with any user name', async () => {
    await open({ 'rest-auth': true, 'api-key': 'a:key' });
    await untilReady(served);
    const basic = (text: string): Record<string, string> => ({ Authorization: basicAuth(text) });
    for (const headers of [
      {},
      basic('x:wrong'),
      basic('a:key'),
      basic('x'),
      { Authorization: 'Bearer a:key' },
      { Authorization: 'Basic ?' }
    ]) {
      const { status, contentType, body, headers: replied } = await get('/rest/chaininfo.json', headers);
      expect({ status, contentType }).to.deep.equal({ status: 401, contentType: 'text/plain' });
      expect(body.toString()).to.equal('The API key of the node is needed as password\r\n');
      expect(replied).to.include({ 'www-authenticate': 'Basic realm="rest"' });
    }
    for (const user of ['', 'x', 'anybody']) expect((await get('/rest/chaininfo.json', basic(`${user}:a:key`))).status, user).to.equal(200);
  });

  it('needs no key by default, even if the node’s own interface needs one', async function () {
    await open({ 'api-key': 'secret' });
    needsNode(this, 'a reader has no interface of the node');
    await untilReady(served);
    expect((await get('/rest/chaininfo.json')).status).to.equal(200);
    expect((await get('/')).status).to.equal(401);
  });

  it('leaves the node’s own interface as it is', async function () {
    await open({ 'no-auth': true });
    needsNode(this, 'a reader has no interface of the node');
    await untilReady(served);
    await mine(served.node, 2);
    const info = await get('/');
    expect(info).to.include({ status: 200, contentType: 'application/json; charset=utf-8' });
    expect(JSON.parse(info.body.toString())).to.have.nested.property('chain.height', 2);
    const call = await ask(served.port, {
      method: 'POST',
      path: '/',
      body: Buffer.from('{"method":"getblockcount","params":[]}'),
      headers: { 'Content-Type': 'application/json' }
    });
    expect(JSON.parse(call.body.toString())).to.include({ result: 2 });
    expect(await get('/restful')).to.include({ status: 404, contentType: 'application/json; charset=utf-8' });
  });

  it('refuses bodies that are too large, announced or not, and keeps the connection', async () => {
    await open({ 'rest-max-body': 1_000 });
    await untilReady(served);
    const path = '/rest/getutxos.bin';
    const large = Buffer.alloc(200_000);
    const replies = await askInOneWrite(served.port, [
      { method: 'POST', path, body: large },
      { method: 'POST', path, body: large, headers: { 'Transfer-Encoding': 'chunked' } },
      { method: 'POST', path, body: Buffer.alloc(1_000) },
      { method: 'POST', path: '/rest/chaininfo.json', body: large }
    ]);
    expect(replies.map(({ status, contentType }) => [status, contentType])).to.deep.equal([
      [413, 'text/plain'],
      [413, 'text/plain'],
      [200, 'application/octet-stream'],
      [200, 'application/json']
    ]);
    expect(replies[0]?.body.toString()).to.equal('Request body too large (max: 1000 bytes)\r\n');
  });

  it('cuts off clients that send nothing, or half a request, without a line in the node’s log', async () => {
    await open({ 'rest-timeout': 1 });
    await untilReady(served);
    const errors: unknown[] = [];
    served.node.on('error', (error: unknown) => errors.push(error));
    const begun = [
      '',
      'GET /rest/chaininfo.json HTTP/1.1\r\nHost:',
      'POST /rest/getutxos.bin HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n0123456789'
    ];
    const replies = await Promise.all(
      begun.map(async (bytes) => {
        const socket = await openSocket(served.port);
        socket.write(bytes);
        return (await untilClosed(socket)).toString();
      })
    );
    expect(replies).to.deep.equal(['', '', '']);
    expect(errors).to.deep.equal([]);
  });

  it('closes connections that idle for longer than the timeout', async () => {
    await open({ 'rest-timeout': 3 });
    await untilReady(served);
    const socket = await openSocket(served.port);
    socket.write(requestBytes({ path: '/rest/chaininfo.json' }, false));
    expect((await untilClosed(socket)).toString()).to.match(/^HTTP\/1.1 200 OK\r\n[^]*Keep-Alive: timeout=3\r\n/);
  });

  it('sets no timeout on calls of the node’s own interface', async () => {
    await open({ 'rest-timeout': 30, 'no-auth': true });
    await untilReady(served);
    const timeouts: [string | undefined, number | undefined][] = [];
    served.rest.http.server.on('request', ({ url, socket }: IncomingMessage & { socket: Socket }) => timeouts.push([url, socket.timeout]));
    const socket = await openSocket(served.port);
    for (const path of ['/', '/rest/chaininfo.json']) {
      socket.write(requestBytes({ path }, false));
      await once(socket, 'data');
    }
    socket.write(requestBytes({ path: '/' }, true));
    await untilClosed(socket);
    expect(timeouts.map(([url, timeout]) => [url, timeout ?? 0])).to.deep.equal([
      ['/', 0],
      ['/rest/chaininfo.json', 0],
      ['/', 0]
    ]);
  });
});
