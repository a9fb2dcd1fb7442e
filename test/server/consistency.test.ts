import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { NEVER, Subject } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { IndexUnavailableError } from '../../lib/index/errors';
import { jsonReply } from '../../lib/rest/format';
import { HttpError } from '../../lib/server/errors';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { ReplyCache } from '../../lib/server/cache/replies';
import { ShownTip } from '../../lib/server/consistency/shown-tip';
import { WaitingReads } from '../../lib/server/consistency/waiting-reads';
import { MOST_WAITING_READS, READ_PATIENCE_MS } from '../../lib/server/limits';
import { bcoin, type HostFullBlock } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { serveRoutes } from '../support/client/endpoints';
import { needsNode } from '../support/fleet/fleet';
import { ask, openSocket, requestBytes, untilClosed, type RawReply, type RawRequest } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { RpcCaller } from '../support/client/rpc';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import type { HeaderRecord } from '../../lib/index/types';
import type { HostTransaction } from '../../lib/node/host';
import type { Reply } from '../../lib/server/http/reply';

const ZEROS = '0'.repeat(64);
const RING = bcoin.KeyRing.generate();

describe('answers of one block', () => {
  let served: ServedNode;
  let blocks: HostFullBlock[];

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-core': 'modern', 'rest-cors': '*', 'rest-threads': 4 } });
    await served.node.connect();
    blocks = await mine(served.node, 110, undefined, RING.getAddress());
    await served.settle();
  });
  after(() => served.close());

  const get = (path: string, headers: RawRequest['headers'] = {}): Promise<RawReply> => ask(served.port, { path, headers });
  const rpc = (): RpcCaller => new RpcCaller(served.port);
  const call = (method: string, params: readonly unknown[] = [], headers: RawRequest['headers'] = {}): Promise<RawReply> =>
    ask(served.port, { method: 'POST', path: '/', headers, body: Buffer.from(JSON.stringify({ method, params, id: 1 })) });
  const tipText = (): string => {
    const { hash, height } = served.source.tip();
    return `${height} ${toDisplayHex(hash)}`;
  };
  const coinbaseOf = (at: number): HostTransaction => blocks[at]?.txs[0] ?? expect.fail('a coinbase');
  const settledBlock = async (): Promise<void> => {
    blocks.push(...(await mine(served.node, 1, undefined, RING.getAddress())));
    await served.settle();
  };

  describe('name the block', () => {
    it('on every path of /rest and /api, when they refuse, and from memory', async () => {
      const txid = toDisplayHex(coinbaseOf(0).hash());
      const [, hash] = tipText().split(' ');
      const paths = [
        ...['/rest/chaininfo.json', '/rest/mempool/info.json', '/rest/mempool/contents.json', `/rest/block/${hash}.bin`],
        ...[`/rest/block/${hash}.json`, `/rest/tx/${txid}.bin`, `/rest/headers/2/${hash}.hex`, '/rest/blockhashbyheight/1.json'],
        ...[`/rest/getutxos/checkmempool/${txid}-0.json`, `/rest/tx/${ZEROS}.json`, '/rest/tx/abc.json', '/rest/deploymentinfo.json'],
        ...['/api/blocks/tip/height', '/api/blocks', `/api/tx/${txid}`, `/api/tx/${ZEROS}`, '/api/mempool', '/api/fee-estimates'],
        ...[`/api/block/${hash}/raw`, `/api/scripthash/${ZEROS}/txs`, `/api/tx/${txid}/outspends`, `/api/block/${hash}`]
      ];
      for (const time of ['first', 'second, which caches', 'third'])
        for (const path of paths) expect((await get(path)).headers['x-rest-tip'], `${path}, ${time} time`).to.equal(tipText());
      await settledBlock();
      for (const path of paths) expect((await get(path)).headers['x-rest-tip'], `${path} after a block`).to.equal(tipText());
    });

    it('in calls of JSON-RPC that are answered from the index, alone and in batches', async () => {
      expect((await call('getblockcount')).headers['x-rest-tip']).to.equal(tipText());
      expect((await call('getblockhash', [9_999])).headers['x-rest-tip']).to.equal(tipText());
      const batch = await rpc().post('[{"method":"getblockcount","id":1},{"method":"getbestblockhash","id":2}]');
      expect(batch.headers['x-rest-tip']).to.equal(tipText());
    });

    it('from which they were made, while blocks come and go', async () => {
      const mining = { isOver: false };
      const mined = (async () => {
        const { chain } = served.node;
        for (let i = 0; i < 12; i++) {
          await mine(served.node, 3);
          // Another branch of the same height plus one: two blocks leave, three come.
          const fork = await chain.getEntryByHeight(chain.height - 2);
          if (fork !== null) await mine(served.node, 3, fork);
        }
        mining.isOver = true;
      })();
      const named = async (): Promise<void> => {
        for (const [path, part, textOf] of STATE_PATHS) {
          const { headers, body, status } = await get(path);
          const [height, hash] = headers['x-rest-tip']?.split(' ') ?? [];
          if (status === 200) expect(textOf(body.toString()), path).to.equal(part === 'height' ? height : hash);
        }
        const { headers, body } = await call('getbestblockhash');
        const [, hash] = headers['x-rest-tip']?.split(' ') ?? [];
        if (hash !== undefined) expect((JSON.parse(body.toString()) as { result: string }).result).to.equal(hash);
      };
      while (!mining.isOver) await Promise.all([named(), named(), named()]);
      await mined;
      await served.settle();
    });
  });

  describe('of a later block', () => {
    it('are waited for, on every interface', async () => {
      const next = served.source.tip().height + 1;
      const asked = [
        get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': String(next) }),
        get('/api/blocks/tip/height', { 'X-Rest-Min-Tip': `${next} ${ZEROS}` }),
        call('getblockcount', [], { 'X-Rest-Min-Tip': String(next) })
      ];
      await until(() => served.serving.waitingReads.size === asked.length);
      await settledBlock();
      for (const reply of asked) expect((await reply).headers['x-rest-tip']).to.equal(tipText());
      expect(served.serving.waitingReads.size).to.equal(0);
    });

    it('are refused after two seconds, so that another process can be asked', async () => {
      const far = String(served.source.tip().height + 5);
      const [rest, api, json] = await Promise.all([
        get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': far }),
        get('/api/blocks/tip/height', { 'X-Rest-Min-Tip': far }),
        call('getblockcount', [], { 'X-Rest-Min-Tip': far })
      ]);
      for (const { status, headers, body } of [rest, api, json]) {
        expect([status, headers['retry-after']]).to.deep.equal([503, '1']);
        expect(body.toString()).to.match(/^Service temporarily unavailable: block \d+ has not come yet, height \d+/);
      }
      for (const { headers } of [rest, api]) expect(headers['x-rest-tip']).to.equal(tipText());
    });

    it('are given at once when the block is there, or another one in its place', async () => {
      const { headers } = await get('/rest/chaininfo.json');
      const named = headers['x-rest-tip'] ?? '';
      for (const text of [named, `${named.split(' ')[0]} ${ZEROS}`, '0'])
        expect((await get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': text })).headers['x-rest-tip'], text).to.equal(named);
    });

    it('are refused at once when it cannot come in time', async () => {
      const { height } = served.source.tip();
      const order: string[] = [];
      const waiting = get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': String(height + 100) }).finally(() => order.push('waiting'));
      await until(() => served.serving.waitingReads.size === 1);
      const refused = await get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': String(height + 101) }).finally(() => order.push('refused'));
      await waiting;
      expect(order).to.deep.equal(['refused', 'waiting']);
      expect(refused.body.toString()).to.match(
        new RegExp(`^Service temporarily unavailable: block ${height + 101} has not come yet, height ${height}`)
      );
    });

    it('are refused for texts that are no height', async () => {
      for (const text of ['', 'x', '-1', '1.5', '1 abc', `1  ${ZEROS}`, '9999999999', '1, 2']) {
        const reply = await get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': text });
        expect([reply.status, reply.body.toString()], text).to.deep.equal([
          400,
          'X-Rest-Min-Tip must be a height, alone or with the hash of a block after a space\r\n'
        ]);
      }
      const reply = await get('/api/blocks', { 'X-Rest-Min-Seq': '1 2 3' });
      expect([reply.status, reply.body.toString()]).to.deep.equal([
        400,
        'X-Rest-Min-Seq must be a number, alone or with the name of a log after a space'
      ]);
    });

    it('are no longer waited for once the client has left', async () => {
      const far = String(served.source.tip().height + 5);
      const socket = await openSocket(served.port);
      const request = requestBytes({ path: '/rest/chaininfo.json', headers: { 'X-Rest-Min-Tip': far } }, false);
      socket.write(Buffer.concat(Array.from({ length: 20 }, () => request)));
      await until(() => served.serving.waitingReads.size === 20);
      socket.destroy();
      await until(() => served.serving.waitingReads.size === 0);
    });

    it('are waited for by so many requests only', async () => {
      const far = String(served.source.tip().height + 5);
      const request = requestBytes({ path: '/rest/chaininfo.json', headers: { 'X-Rest-Min-Tip': far } }, false);
      const sockets = await Promise.all(Array.from({ length: MOST_WAITING_READS / 50 }, () => openSocket(served.port)));
      const isFull = (): boolean => served.serving.waitingReads.size === MOST_WAITING_READS;
      // On a busy machine the first ones may have waited long enough before the last ones come: then all are sent again.
      while (!isFull()) {
        for (const socket of sockets) socket.write(Buffer.concat(Array.from({ length: 50 }, () => request)));
        for (let pauses = 0; pauses < 100 && !isFull(); pauses++) await setTimeout(READ_PATIENCE_MS / 100);
      }
      const refused = await get('/rest/chaininfo.json', { 'X-Rest-Min-Tip': far });
      expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '1']);
      // Whoever does not ask for a later block is answered.
      expect((await get('/rest/chaininfo.json')).status).to.equal(200);
      for (const socket of sockets) socket.destroy();
      await until(() => served.serving.waitingReads.size === 0);
    });

    it('need the key first, if there is one', async () => {
      const locked = await ServedNode.open({ settings: { 'rest-auth': true, 'api-key': 'sesame' } });
      try {
        const { status } = await ask(locked.port, { path: '/rest/chaininfo.json', headers: { 'X-Rest-Min-Tip': '5' } });
        expect(status).to.equal(401);
      } finally {
        await locked.close();
      }
    });
  });

  describe('after a broadcast', () => {
    const paying = (from: HostTransaction): HostTransaction => signed(RING, [from], [[RING.getAddress(), 4_999_990_000]]);

    it('show it to whoever asks with what the broadcast was answered', async () => {
      const [first, second] = [paying(coinbaseOf(1)), paying(coinbaseOf(2))];
      const sent = await served.get('/tx', { method: 'POST', body: Buffer.from(first.toRaw().toString('hex')) });
      expect(sent.status, sent.body.toString()).to.equal(200);
      const called = await call('sendrawtransaction', [second.toRaw().toString('hex')]);
      for (const [reply, transaction] of [
        [sent, first],
        [called, second]
      ] as const) {
        const point = reply.headers['x-rest-min-seq'] ?? expect.fail('a point of the log');
        const path = `/rest/tx/${toDisplayHex(transaction.hash())}.bin`;
        expect((await get(path, { 'X-Rest-Min-Seq': point })).body.equals(transaction.toRaw())).to.equal(true);
      }
    });

    it('are refused for a point that is not reached, and given for a point of another log', async () => {
      const [refused, given] = await Promise.all([
        get('/rest/chaininfo.json', { 'X-Rest-Min-Seq': '999999999' }),
        get('/rest/chaininfo.json', { 'X-Rest-Min-Seq': '999999999 of-yesterday' })
      ]);
      expect([refused.status, refused.headers['retry-after'], given.status]).to.deep.equal([503, '1', 200]);
      expect(refused.body.toString()).to.contain('record 999999999 of the log has not come yet');
    });
  });

  describe('to what has changed something', () => {
    before(function () {
      needsNode(this, 'a log does not go back to a block with less work');
    });

    const minimum = (): Record<string, string> => ({ 'X-Rest-Min-Tip': tipText() });
    const takeTipAway = async (): Promise<void> => {
      const [, hash] = tipText().split(' ');
      await rpc().call('invalidateblock', hash);
      await served.settle();
    };

    it('are given even if a reorganization has taken the block away on which the request insisted', async () => {
      const transaction = signed(RING, [coinbaseOf(3)], [[RING.getAddress(), 4_999_990_000]]);
      const body = Buffer.from(transaction.toRaw().toString('hex'));
      const socket = await openSocket(served.port);
      const headers = { ...minimum(), Expect: '100-continue' };
      const bytes = requestBytes({ method: 'POST', path: '/api/tx', headers, body }, true);
      socket.write(bytes.subarray(0, -body.length));
      await once(socket, 'data'); // 100 Continue: the server waits for the body
      await takeTipAway();
      const reply = untilClosed(socket);
      socket.write(body);
      const text = (await reply).toString();
      expect(text).to.match(new RegExp(`^HTTP/1.1 200 [^]*\r\nX-Rest-Min-Seq: \\d+ [^]*${toDisplayHex(transaction.hash())}$`));
      await settledBlock();
    });

    it('are given whole to several calls, and to those of the node itself', async () => {
      const transaction = signed(RING, [coinbaseOf(4)], [[RING.getAddress(), 4_999_990_000]]);
      const [, hash] = tipText().split(' ');
      const calls = [
        { method: 'invalidateblock', params: [hash], id: 1 },
        { method: 'sendrawtransaction', params: [transaction.toRaw().toString('hex')], id: 2 }
      ];
      const reply = await new RpcCaller(served.port, minimum()).post(JSON.stringify(calls));
      const answers = [
        { result: null, error: null, id: 1 },
        { result: toDisplayHex(transaction.hash()), error: null, id: 2 }
      ];
      expect([reply.status, JSON.parse(reply.body.toString())]).to.deep.equal([200, answers]);
      expect(reply.headers).to.have.property('x-rest-min-seq');
      await settledBlock();
    });
  });

  it('tell pages of other origins of their block', async () => {
    const { headers } = await get('/api/blocks/tip/height');
    expect(headers['access-control-expose-headers']).to.equal('X-Rest-Tip, X-Rest-Min-Seq');
  });

  it('are waited for by so many requests of one client only', async () => {
    const clients = ['a', 'b', undefined];
    const moved$ = new Subject<void>();
    const tip = { height: 0 };
    const shown = new ShownTip(() => tip as HeaderRecord); // nothing else of it is read
    const request = (): Pick<IncomingMessage, 'headers' | 'socket'> => ({ headers: {}, socket: new Socket() });
    let client: string | undefined;
    const reads = new WaitingReads({ now: { log: 'log', sequence: 0 } }, moved$, () => client);
    const began: Promise<void>[] = [];
    const begin = (): Promise<void> => reads.until({ height: 1, point: undefined }, shown, request());
    for (client of clients) for (let i = 0; i < MOST_WAITING_READS / 4; i++) began.push(begin());
    for (client of ['a', 'b']) expect(await caught(begin())).to.have.property('status', 503);
    client = undefined;
    began.push(begin());
    expect(reads.size).to.equal(began.length);
    tip.height = 1;
    moved$.next();
    await Promise.all(began);
    client = 'a';
    tip.height = 0;
    const again = begin();
    expect(reads.size).to.equal(1);
    tip.height = 1;
    moved$.next();
    await again;
  });

  it('are made again if the chain has moved meanwhile: the memory of the first one is free, and its error is not told', async () => {
    let released = 0;
    const held = (): Promise<Reply> => Promise.resolve({ ...jsonReply(Buffer.from('old\n')), release: () => released++ });
    const lost = (): Promise<Reply> => Promise.reject(new HttpError(404, 'it has gone'));
    for (const first of [held, lost]) {
      const [before, after] = [5, 6].map((height) => ({ height, hash: Buffer.alloc(32) }) as HeaderRecord); // nothing else of them is read
      let tip = before;
      const endpoint = (): Promise<Reply> => {
        if (tip === after) return Promise.resolve(jsonReply(Buffer.from('new\n')));
        tip = after;
        return first();
      };
      const server = createServer();
      const shown = new ShownTip(() => tip ?? expect.fail('a tip'));
      const port = await serveRoutes(server, [{ prefix: '/rest/held', endpoint }], { shown });
      const { status, body, headers } = await ask(port, { path: '/rest/held' });
      server.close();
      expect([status, body.toString(), headers['x-rest-tip']]).to.deep.equal([200, 'new\n', `6 ${ZEROS}`]);
    }
    expect(released).to.equal(1);
  });

  it('are refused in place of one that a reorganization has made too old, and its memory is free again', async () => {
    const [before, after] = [{ height: 5 }, { height: 4, hash: Buffer.alloc(32) }] as HeaderRecord[]; // nothing else of them is read
    let released = 0;
    const endpoint = (): Promise<Reply> => Promise.resolve({ ...jsonReply(Buffer.from('{}\n')), tip: after, release: () => released++ });
    const server = createServer();
    const shown = new ShownTip(() => before ?? expect.fail('a tip'));
    const port = await serveRoutes(server, [{ prefix: '/rest/held', endpoint }], { shown });
    const reply = await ask(port, { path: '/rest/held', headers: { 'X-Rest-Min-Tip': '5' } });
    server.close();
    expect([reply.status, released]).to.deep.equal([503, 1]);
  });

  it('are refused, made or from memory, once no state is shown, as when a reader hears nothing of its fleet', async () => {
    const tip = { height: 5, hash: Buffer.alloc(32) } as HeaderRecord; // nothing else of it is read
    let readings = Infinity;
    const shown = new ShownTip(() => {
      if (readings-- <= 0) throw new IndexUnavailableError('no node has been heard of');
      return tip;
    });
    let asked = 0;
    const endpoint = (): Promise<Reply> => {
      asked++;
      return Promise.resolve({ ...jsonReply(Buffer.from('{}\n')), basis: { byteLength: 0, isSame: () => true } });
    };
    const server = createServer();
    const replies = new ReplyCache(new AnswerCache(1_048_576), { pruned: false }, { read: () => expect.fail('the reply has a basis') });
    const changes = { shown, replies };
    const port = await serveRoutes(server, [{ prefix: '/rest/pool', endpoint }], changes);
    const get = async (): Promise<[number, unknown]> => {
      const { status, headers } = await ask(port, { path: '/rest/pool' });
      return [status, headers['x-rest-tip']];
    };
    readings = 1;
    const made = await get();
    readings = Infinity;
    const shownAgain = [await get(), await get(), await get()];
    const askedBefore = asked;
    readings = 0;
    const cached = await get();
    server.close();
    expect(shownAgain).to.deep.equal(Array.from({ length: 3 }, () => [200, `5 ${ZEROS}`]));
    expect([made, cached]).to.deep.equal(Array.from({ length: 2 }, () => [503, undefined]));
    expect([askedBefore, asked]).to.deep.equal([3, 3]);
  });

  it('are not waited for while nothing is answered: the gate says why', async () => {
    const reads = new WaitingReads({ now: { log: 'log', sequence: 0 } }, NEVER, () => undefined);
    const shown = new ShownTip(() => {
      throw new IndexUnavailableError('the index is empty');
    });
    await reads.until({ height: 5, point: undefined }, shown, { headers: {}, socket: new Socket() });
    expect(reads.size).to.equal(0);
  });
});

const asItIs = (body: string): string => body;
const member =
  (name: string) =>
  (body: string): string =>
    (JSON.parse(body) as Record<string, string>)[name] ?? '';

/** Paths that say a part of the tip, and where. */
const STATE_PATHS: readonly (readonly [path: string, part: 'height' | 'hash', textOf: (body: string) => string])[] = [
  ['/rest/chaininfo.json', 'hash', member('bestblockhash')],
  [`/rest/getutxos/checkmempool/${ZEROS}-0.json`, 'hash', member('chaintipHash')],
  ['/api/blocks/tip/hash', 'hash', asItIs],
  ['/api/blocks/tip/height', 'height', asItIs]
];
