import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { firstValueFrom, NEVER, Subject } from 'rxjs';
import { BlockForms, type BlockText } from '../../lib/answers/blocks/block-forms';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { Access } from '../../lib/rpc/server/access';
import { RpcServer } from '../../lib/rpc/server/rpc-server';
import { ShownTip } from '../../lib/server/consistency/shown-tip';
import { Responses } from '../../lib/server/http/responses';
import { WorkQueue } from '../../lib/server/work/work-queue';
import { MemoryStore } from '../../lib/store/memory-store';
import { ClientGoneError, NO_CLIENT } from '../../lib/turns/client';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { endpointContext, servingOf } from '../support/client/endpoints';
import { isFleetWanted, needsNode } from '../support/fleet/fleet';
import { newFolder } from '../support/process/folders';
import { holdReads } from '../support/index/held-reads';
import {
  ask,
  askInOneWrite,
  countConnections,
  openSocket,
  requestBytes,
  untilClosed,
  type RawReply,
  type RawRequest
} from '../support/client/http';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { basic, RpcCaller } from '../support/client/rpc';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import { calledNodes, KEY } from './called-nodes';
import type { AddressInfo, Socket } from 'node:net';
import type { Context } from 'mocha';
import type { HeaderRecord } from '../../lib/index/types';
import type { HttpServing } from '../../lib/server/serving';

describe('calls over HTTP', () => {
  const open = calledNodes();

  it('are answered in the form of their version, with an HTTP error status in the older one', async () => {
    const { port } = await open();
    const caller = new RpcCaller(port);
    const replies: readonly [body: string, reply: string][] = [
      ['{"method":"getblockcount","id":7}', '200 {"result":0,"error":null,"id":7}\n'],
      ['{"method":"getblockcount"}', '200 {"result":0,"error":null}\n'],
      ['{"jsonrpc":"1.0","method":"getblockcount","id":"a","params":{}}', '200 {"result":0,"error":null,"id":"a"}\n'],
      ['{"jsonrpc":"2.0","method":"getblockcount","id":null}', '200 {"jsonrpc":"2.0","result":0,"id":null}\n'],
      ['{"jsonrpc":"2.0","method":"getblockcount"}', '204 '],
      [
        '{"method":"getblockhash","params":[5],"id":1}',
        '500 {"result":null,"error":{"code":-8,"message":"Block height out of range"},"id":1}\n'
      ],
      [
        '{"jsonrpc":"2.0","method":"getblockhash","params":[5],"id":1}',
        '200 {"jsonrpc":"2.0","error":{"code":-8,"message":"Block height out of range"},"id":1}\n'
      ],
      ['{"jsonrpc":"2.0","method":"getblockhash","params":[5]}', '204 '],
      [
        '{"jsonrpc":"2.0","method":"createrawtransaction","params":[[],{"a":1,"a":2}],"id":1}',
        '200 {"jsonrpc":"2.0","error":{"code":-8,"message":"Invalid parameter, a name comes twice in an object"},"id":1}\n'
      ],
      ['{"jsonrpc":"2.0","method":"createrawtransaction","params":[[],{"a":1,"a":2}]}', '204 '],
      ['', '500 {"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}\n'],
      ['[', '500 {"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}\n'],
      [
        `{"method":"getblockcount","id":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
        '500 {"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}\n'
      ],
      ['7', '500 {"result":null,"error":{"code":-32700,"message":"Top-level object parse error"},"id":null}\n'],
      ['{"id":3}', '400 {"result":null,"error":{"code":-32600,"message":"Missing method"},"id":3}\n'],
      ['{"jsonrpc":"2.0","id":3}', '400 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing method"},"id":3}\n'],
      ['{"jsonrpc":"2.0"}', '400 {"jsonrpc":"2.0","error":{"code":-32600,"message":"Missing method"}}\n']
    ];
    for (const [body, reply] of replies) expect(await caller.statusAndText(body), body).to.equal(reply);
    const { headers } = await caller.post('{"method":"getblockcount"}');
    expect(headers).to.include({ 'content-type': 'application/json', 'content-length': '26' }).and.not.have.property('cache-control');
  });

  it('are answered in batches, in order, with the node’s own calls among ours', async () => {
    const { port } = await open();
    const caller = new RpcCaller(port);
    const replies: readonly [body: string, reply: string][] = [
      [
        '[{"method":"getblockcount","id":1},5,{"jsonrpc":"2.0","method":"getblockhash","params":["x"],"id":"b"}]',
        '200 [{"result":0,"error":null,"id":1},{"result":null,"error":{"code":-32600,"message":"Invalid Request object"},"id":null},' +
          '{"jsonrpc":"2.0","error":{"code":-3,"message":"Wrong type passed:\\n{\\n    \\"Position 1 (height)\\": ' +
          '\\"JSON value of type string is not of expected type number\\"\\n}"},"id":"b"}]\n'
      ],
      ['[{"jsonrpc":"2.0","method":"getblockcount"},{"method":"getblockcount","id":1}]', '200 [{"result":0,"error":null,"id":1}]\n'],
      ['[{"jsonrpc":"2.0","method":"getblockcount"},{"jsonrpc":"2.0","method":"uptime"}]', '204 '],
      [
        '[{"jsonrpc":"2.0","params":[]},{"jsonrpc":"2.0","method":7},{"method":"uptime","params":1,"id":1}]',
        '200 [{"result":null,"error":{"code":-32600,"message":"Params must be an array or object"},"id":1}]\n'
      ],
      [
        '[{"method":"listbanned","id":{"a":1}},{"method":"getblockcount","id":2},{"jsonrpc":"2.0","method":"nothing","id":3},{"jsonrpc":"2.0","method":"listbanned"}]',
        '200 [{"result":[],"error":null,"id":{"a":1}},{"result":0,"error":null,"id":2},' +
          '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":3}]\n'
      ],
      ['[]', '200 []\n'],
      ['[1]', '200 [{"result":null,"error":{"code":-32600,"message":"Invalid Request object"},"id":null}]\n']
    ];
    for (const [body, reply] of replies) expect(await caller.statusAndText(body), body).to.equal(reply);
  });

  it('give up the event loop between the calls of a long batch', async () => {
    const { port, rest } = await open();
    const batch = Array.from({ length: 5_000 }, (_, id) => `{"method":"getblockhash","params":[0],"id":${id}}`);
    const came = once(rest.http.server, 'request').then(([request]) => once(request as IncomingMessage, 'end'));
    const order: string[] = [];
    const both = [new RpcCaller(port).post(`[${batch.join(',')}]`).finally(() => order.push('batch'))];
    await came;
    both.push(ask(port, { path: '/rest/chaininfo.json' }).finally(() => order.push('state')));
    const [{ body }] = (await Promise.all(both)) as [RawReply, RawReply];
    expect(order).to.deep.equal(['state', 'batch']);
    const [{ result }] = JSON.parse(body.toString()) as [{ result: string }];
    expect(body.toString()).to.equal(`[${batch.map((_, id) => `{"result":"${result}","error":null,"id":${id}}`).join(',')}]\n`);
  });

  it('are refused in batches of more than 100,000 calls of any kind', async () => {
    const { port } = await open();
    const error = '{"code":-32600,"message":"Batch of more than 100000 calls"}';
    expect(await new RpcCaller(port).statusAndText(`[${'1,'.repeat(100_000)}1]`)).to.equal(
      `400 {"result":null,"error":${error},"id":null}\n`
    );
  });

  it('of the node itself are answered in the same form, with parameters by name as well', async function () {
    needsOwnServer(this);
    const { port, node } = await open();
    const caller = new RpcCaller(port);
    const { error } = await node.rpc.call({ method: 'submitblock', params: ['00'], id: null }, {});
    expect(error).to.include({ code: -22 });
    const block = JSON.stringify({ code: error?.code, message: error?.message });
    const replies: readonly [body: string, reply: string][] = [
      ['{"method":"listbanned","id":1}', '200 {"result":[],"error":null,"id":1}\n'],
      ['{"jsonrpc":"2.0","method":"listbanned","id":"a"}', '200 {"jsonrpc":"2.0","result":[],"id":"a"}\n'],
      ['{"jsonrpc":"2.0","method":"listbanned"}', '204 '],
      ['{"method":"submitblock","params":["00"],"id":1}', `500 {"result":null,"error":${block},"id":1}\n`],
      ['{"method":"submitblock","params":{"hexdata":"00"},"id":1}', `500 {"result":null,"error":${block},"id":1}\n`],
      ['{"jsonrpc":"2.0","method":"submitblock","params":{"hexdata":"00"},"id":1}', `200 {"jsonrpc":"2.0","error":${block},"id":1}\n`],
      [
        '{"method":"submitblock","params":{"data":"00"},"id":1}',
        '500 {"result":null,"error":{"code":-8,"message":"Unknown named parameter data"},"id":1}\n'
      ],
      ['{"method":"nothing","id":1}', '404 {"result":null,"error":{"code":-32601,"message":"Method not found"},"id":1}\n'],
      [
        '{"jsonrpc":"2.0","method":"nothing","id":1}',
        '200 {"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}\n'
      ],
      ['{"jsonrpc":"2.0","method":"nothing"}', '204 ']
    ];
    for (const [body, reply] of replies) expect(await caller.statusAndText(body), body).to.equal(reply);
    const help = await caller.call<string>('help');
    expect(help)
      .to.match(/^getblock "blockhash" \( verbosity \)$/m)
      .and.match(/^submitblock$/m);
  });

  it('at other paths, and all other requests, get the node’s replies to the byte', async function () {
    needsOwnServer(this);
    const [plain, { node: served, port }] = [await openRegtestNode({ settings: KEY }), await open(KEY)];
    const ports = [Number(new URL(`http://${addressOf(plain)}`).port), port];
    const key = basic('x:sesame');
    const post = (body: string, headers: Record<string, string> = key, path = '/'): RawRequest => ({
      method: 'POST',
      path,
      headers,
      body: Buffer.from(body)
    });
    const requests = [
      post('{"method":"getdifficulty"}', key, '/nowhere'),
      post('{"tx":"00"}', key, '/broadcast'),
      { ...post('{"method":"getdifficulty"}'), method: 'PUT' },
      { path: '/nowhere', headers: key },
      { path: '/', headers: {} },
      { path: '/tx/00', headers: key },
      { method: 'OPTIONS', path: '/', headers: key }
    ];
    for (const request of requests) {
      const [theirs = '', ours] = await Promise.all(ports.map((of) => exchange(of, request)));
      expect(theirs, JSON.stringify(request)).to.match(/^HTTP\/1.1 \d{3} /);
      expect(ours).to.equal(theirs);
    }
    expect(served.opened).to.equal(true);
    await plain.close();
  });

  it('are answered one after the other on one connection, by us or by the node', async () => {
    const { port } = await open();
    const bodies = ['getblockcount', 'listbanned', 'getbestblockhash', 'nothing', 'uptime'].map(
      (method) => `{"method":"${method}","id":"${method}"}`
    );
    const replies = await askInOneWrite(
      port,
      bodies.map((body) => ({ method: 'POST', path: '/', body: Buffer.from(body) }))
    );
    expect(replies.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id)).to.deep.equal([
      'getblockcount',
      'listbanned',
      'getbestblockhash',
      'nothing',
      'uptime'
    ]);
  });

  it('are the node’s own in the older profile', async function () {
    needsOwnServer(this);
    const prefix = await newFolder();
    const { port } = await open({ 'rest-core': '0.17' }, prefix);
    expect(await new RpcCaller(port).failure('getzmqnotifications')).to.deep.equal({
      code: -32601,
      message: 'Method not found: getzmqnotifications.'
    });
    expect(() => statSync(join(prefix, 'regtest', '.cookie'))).to.throw('ENOENT');
  });

  it('fail with the reason while node and index are not in sync', async function () {
    needsNode(this, 'a node that is not in sync does not feed a fleet');
    const { block } = bcoin.Network.get('regtest');
    const { maxTipAge } = block;
    // The genesis block is older.
    block.maxTipAge = 24 * 60 * 60;
    const { port, rest } = await open({ 'rest-warmup': 'synced' }).finally(() => Object.assign(block, { maxTipAge }));
    await until(() => !['loading', 'indexing'].includes(rest.status?.split(/[ ,]/)[0] ?? ''));
    const caller = new RpcCaller(port);
    expect(rest.status).to.match(/^syncing with the network, height 0 /);
    expect(await caller.failure('getblockcount', ['too', 'many'])).to.deep.equal({ code: -28, message: rest.status });
    expect((await caller.post('{"method":"uptime","id":1}')).status).to.equal(500);
    expect((await caller.post('{"method":"listbanned","id":1}')).status).to.equal(200);
  });

  it('are refused in a full queue', async () => {
    const { port } = await open({ 'rest-threads': 1, 'rest-work-queue': 1 });
    const raw = {
      method: 'POST',
      path: '/',
      body: Buffer.from(JSON.stringify(Array.from({ length: 200 }, () => ({ method: 'getchaintips' }))))
    };
    const replies = await Promise.all(Array.from({ length: 12 }, () => askInOneWrite(port, [raw])));
    const refused = replies.map(([reply]) => `${reply?.status} ${reply?.status === 503 ? reply.body.toString() : ''}`);
    expect(new Set(refused)).to.deep.equal(new Set(['200 ', '503 Work queue depth exceeded']));
  });

  it('of clients that have left do no harm', async () => {
    const { port } = await open(KEY);
    const caller = new RpcCaller(port, basic('x:sesame'));
    const waiting = await openSocket(port);
    waiting.write(
      requestBytes({ method: 'POST', path: '/', headers: basic('x:sesame'), body: Buffer.from('{"method":"waitfornewblock"}') }, false)
    );
    await until(async () => (await caller.active('waitfornewblock')) === 1);
    waiting.destroy();
    await until(async () => (await caller.active('waitfornewblock')) === 0);
    for (const headers of [basic('x:sesame'), basic('x:wrong'), {}]) {
      for (const method of ['getblockcount', 'listbanned', 'waitfornewblock']) {
        const socket = await openSocket(port);
        const bytes = requestBytes({ method: 'POST', path: '/', headers, body: Buffer.from(`{"method":"${method}"}`) }, false);
        socket.write(bytes);
        socket.write(bytes.subarray(0, -3));
        socket.end();
        socket.destroy();
      }
    }
    await until(async () => (await caller.active('waitfornewblock')) === 0);
    expect(await caller.call('getblockcount')).to.equal(0);
  });

  it('look up no more scripts once their client has left', async () => {
    const goOn$ = new Subject<void>();
    let isHeld = false;
    let reads = 0;
    const scriptStore = holdReads(new MemoryStore(), () => {
      reads++;
      return isHeld ? firstValueFrom(goOn$) : undefined;
    });
    const served = await ServedNode.open({ settings: { 'rest-core': 'modern' } }, { scriptStore });
    const caller = new RpcCaller(served.port);
    isHeld = true;
    reads = 0;
    const scripts = Array.from({ length: 1_000 }, (_, i) => `raw(${(i + 0x1000).toString(16)})`);
    const body = Buffer.from(JSON.stringify({ method: 'scantxoutset', params: ['start', scripts] }));
    const client = await openSocket(served.port);
    client.write(requestBytes({ method: 'POST', path: '/', body }, false));
    await until(() => reads === 1);
    client.destroy();
    await until(async () => (await countConnections(served.serving.host.server)) === 0);
    isHeld = false;
    goOn$.next();
    await until(async () => (await caller.active('scantxoutset')) === 0);
    expect(reads).to.be.below(5);
    await served.close();
  });

  describe('answered by hand', () => {
    let server: Server;
    let clients: Socket[];
    /** For a block. */
    let call: string;

    /** Serves calls whose texts of blocks are these. */
    const serve = async (blockText: () => Promise<BlockText>, changes: Partial<HttpServing> = {}): Promise<TestFullNode> => {
      const served = await open();
      const { http: host, node, reader, tip$ } = served.rest;
      class GivenForms extends BlockForms {
        override text = blockText;
      }
      const answers = endpointContext(node, reader);
      const context = {
        ...answers,
        blockForms: new GivenForms(answers),
        host,
        index: { state: { phase: 'live', height: 0 } as const, tip$ },
        version: '',
        notifiers: [],
        closing$: NEVER,
        document: () => Buffer.alloc(0),
        scripts: () => undefined,
        help: () => '',
        active: () => []
      };
      const calls = new RpcServer({ serving: servingOf(host.server, changes), context, access: new Access({ host, node }) });
      server = createServer((request, response) => void calls.handle(request, response)).listen(0, '127.0.0.1');
      clients = [];
      server.on('connection', (socket) => clients.push(socket));
      await once(server, 'listening');
      call = `{"method":"getblock","params":["${toDisplayHex(node.network.genesisHash)}"]}`;
      return served.node;
    };
    /** Takes the slot of the queue and the place before it, until `end`. */
    const fill = (queue: WorkQueue): { readonly end: () => void; readonly over: Promise<unknown> } => {
      const ended$ = new Subject<void>();
      const held = firstValueFrom(ended$);
      const runs = [queue.run(NO_CLIENT, () => held, 'small'), queue.run(NO_CLIENT, () => undefined, 'small')];
      return { end: () => ended$.next(), over: Promise.all(runs) };
    };
    const requestWith = (body: string, headers = {}): RawRequest => ({ method: 'POST', path: '/', headers, body: Buffer.from(body) });

    afterEach(() => server.close());

    it('release the memory of answers when the client leaves in the middle of a batch', async () => {
      let [asked, released] = [0, 0];
      await serve(() => {
        if (asked++ === 0) return Promise.resolve({ text: Buffer.from('{}\n'), release: () => released++, isLacking: false });
        clients[0]?.destroy();
        return Promise.reject(new ClientGoneError('left'));
      });
      const socket = await openSocket((server.address() as AddressInfo).port);
      socket.write(requestBytes(requestWith(`[${call},${call},${call}]`), false));
      await untilClosed(socket);
      expect([asked, released]).to.deep.equal([2, 1]);
    });

    it('are no longer made once the client has left in the middle of a batch', async () => {
      let [asked, released] = [0, 0];
      await serve(() => {
        asked++;
        clients[0]?.destroy();
        // As long as a slice.
        for (const end = performance.now() + 1; performance.now() < end;);
        return Promise.resolve({ text: Buffer.from('{}\n'), release: () => released++, isLacking: false });
      });
      const socket = await openSocket((server.address() as AddressInfo).port);
      socket.write(requestBytes(requestWith(`[${Array<string>(500).fill(call).join()}]`), false));
      await untilClosed(socket);
      await until(() => released === asked);
      expect(asked).to.be.below(10);
    });

    it('of a batch are all answered once the first is, though the queue has become full', async () => {
      const queue = new WorkQueue(1, 1);
      let texts = 0;
      const text = (): Promise<BlockText> =>
        Promise.resolve({ text: Buffer.from(`${++texts}\n`), release: () => undefined, isLacking: false });
      const node = await serve(text, { queue });
      const { port } = server.address() as AddressInfo;
      const reply = ask(port, requestWith(`[${call},{"method":"waitforblockheight","params":[1]},${call}]`));
      await until(() => texts === 1 && queue.load('heavy').running === 0);
      const { end, over } = fill(queue);
      await mine(node, 1);
      await until(() => queue.load('heavy').waiting + queue.refused === 1);
      end();
      await over;
      const results = JSON.parse((await reply).body.toString()) as readonly { readonly result: unknown }[];
      expect([results[0]?.result, results[2]?.result]).to.deep.equal([1, 2]);
    });

    it('of a batch are all refused by a full queue, also when the first of them may wait', async () => {
      const queue = new WorkQueue(1, 1);
      await serve(() => Promise.reject(new Error('expected no call to be made')), { queue });
      const { end, over } = fill(queue);
      const { port } = server.address() as AddressInfo;
      // For a block that never comes.
      const reply = await ask(port, requestWith(`[{"method":"waitforblockheight","params":[1]},${call}]`));
      expect([reply.status, reply.body.toString()]).to.deep.equal([503, 'Work queue depth exceeded']);
      end();
      await over;
    });

    it('are refused while too much waits to be read, but not once one of them has changed something', async () => {
      const responses = new Responses({ listening: true }, { mostBytes: 1, readRate: { bytesPerSecond: 1, windowMs: 30_000 } });
      const long = { text: Buffer.from(`"${'a'.repeat(100_000)}"\n`), release: () => undefined, isLacking: false };
      const node = await serve(() => Promise.resolve(long), { responses });
      const { port } = server.address() as AddressInfo;
      const mining = `{"method":"generatetoaddress","params":[1,"${bcoin.KeyRing.generate().getAddress('string', 'regtest')}"]}`;
      const statusOf = async (batch: string): Promise<number> => (await ask(port, requestWith(batch))).status;
      expect([await statusOf(`[${call},${call}]`), node.chain.height]).to.deep.equal([503, 0]);
      expect([await statusOf(`[${mining},${call}]`), node.chain.height]).to.deep.equal([200, 1]);
      responses.countOthers(1);
      expect([await statusOf(`[${mining},${mining}]`), node.chain.height]).to.deep.equal([503, 1]);
    });

    it('of the node are answered at length while too much waits to be read, since they may have changed something', async () => {
      const responses = new Responses({ listening: true }, { mostBytes: 1, readRate: { bytesPerSecond: 1, windowMs: 30_000 } });
      await serve(() => Promise.reject(new Error('expected no text to be asked for')), { responses });
      const { port } = server.address() as AddressInfo;
      const [input, output] = [`${'00'.repeat(36)}00ffffffff`, `${'00'.repeat(8)}fd409c${'51'.repeat(40_000)}`];
      const transaction = `0100000001${input}01${output}00000000`;
      const reply = await ask(port, requestWith(`{"method":"signrawtransaction","params":["${transaction}",[],[]]}`));
      expect(reply.status).to.equal(200);
      expect(reply.body.toString()).to.include(`"hex":"${transaction}"`);
    });

    it('are refused, and their memory is free again, when a reorganization has made them older than the request asks for', async () => {
      let released = 0;
      const heights = [5, 5, 4];
      const tip = { height: 5, hash: Buffer.alloc(32) };
      const shown = new ShownTip(() => ({ ...tip, height: heights.shift() ?? 4 }) as HeaderRecord); // nothing else of it is read
      await serve(() => Promise.resolve({ text: Buffer.from('{}\n'), release: () => released++, isLacking: false }), { shown });
      const { port } = server.address() as AddressInfo;
      const reply = await ask(port, requestWith(`[${call},${call}]`, { 'X-Rest-Min-Tip': '5' }));
      expect([reply.status, reply.headers['retry-after'], released]).to.deep.equal([503, '1', 2]);
      expect(reply.body.toString()).to.equal('Service temporarily unavailable: block 5 has not come yet, height 4');
    });
  });

  /** The reply to the byte, except for the clock. */
  async function exchange(of: number, request: RawRequest): Promise<string> {
    const socket = await openSocket(of);
    socket.write(requestBytes(request, true));
    return (await untilClosed(socket)).toString('latin1').replace(/^Date: .*$/m, 'Date');
  }
});

/** Skips a test of requests that our interfaces leave to the node's own server. */
function needsOwnServer(context: Context): void {
  if (!isFleetWanted) return;
  console.log("      skipped: there is no server of a node behind a reader's port");
  context.skip();
}

function addressOf({ http }: TestFullNode): string {
  const address = http.http.address();
  if (address === null || typeof address === 'string') throw new Error('the node does not listen');
  return `127.0.0.1:${address.port}`;
}
