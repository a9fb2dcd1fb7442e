import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { MemoryStore } from '../../lib/store/memory-store';
import { FaultyStore } from '../support/index/faulty-store';
import { basicAuth, openSocket, type RawReply, type RawRequest, untilClosed } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode, type Replacements } from '../support/node/served-node';
import type { ScriptsState } from '../../lib/scripts/types';

const ZEROS = '0'.repeat(64);
const LONG = 'public, max-age=157784630';
const SHORT = 'public, max-age=10';

describe('Esplora’s interface over HTTP', () => {
  let served: ServedNode;
  let hashes: readonly string[];
  let coinbase: string;

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-timeout': 1 } });
    const blocks = await mine(served.node, 12);
    await served.settle();
    hashes = served.index.reader.read((snapshot) =>
      Array.from({ length: 13 }, (_, height) => toDisplayHex(snapshot.headerAt(height)?.hash as Buffer))
    );
    coinbase = toDisplayHex((blocks[0] as (typeof blocks)[0]).txs[0]?.hash() as Buffer);
  });
  after(() => served.node.close());

  it('sends errors in Esplora’s words, without a line end, not to be stored', async () => {
    const block = hashes[1] as string;
    const cases: readonly [path: string, reply: string][] = [
      ['/nope', '404 endpoint does not exist "/api/nope"'],
      ['/nope?a=b', '404 endpoint does not exist "/api/nope"'],
      ['/a"b\\c', '404 endpoint does not exist "/api/a\\"b\\\\c"'],
      ['', '404 endpoint does not exist "/api"'],
      ['/', '404 endpoint does not exist "/api/"'],
      ['/blocks/tip/height/', '404 endpoint does not exist "/api/blocks/tip/height/"'],
      ['/blocks%2Ftip%2Fheight', '404 endpoint does not exist "/api/blocks%2Ftip%2Fheight"'],
      [`/blocks/99`, '404 Block not found'],
      ['/block-height/x', '400 Invalid number'],
      ['/block-height/-1', '400 Invalid number'],
      ['/block-height/1.0', '400 Invalid number'],
      ['/block-height/13', '404 Block not found'],
      ['/block-height/18446744073709551615', '404 Block not found'],
      ['/block-height/18446744073709551616', '400 Invalid number'],
      ['/block/xx', '400 Invalid hex string'],
      [`/block/${ZEROS}`, '404 Block not found'],
      ['/block/xx/status', '400 Invalid hex string'],
      [`/block/${ZEROS}/txids`, '404 Block not found'],
      [`/block/${ZEROS}/txid/x`, '400 Invalid number'],
      [`/block/${block}/txid/x`, '400 Invalid number'],
      [`/block/${block}/txid/1`, '404 tx index out of range'],
      [`/block/${block}/txid/65536`, '404 tx index out of range'],
      [`/block/${block}/txs/1`, '400 start index must be a multiple of 25'],
      [`/block/${block}/txs/25`, '400 start index out of range'],
      ['/tx/xx', '400 Invalid hex string'],
      ['/tx/', '400 Invalid hex string'],
      [`/tx/${ZEROS}0`, '400 Invalid hex string'],
      [`/tx/${ZEROS}`, '404 Transaction not found'],
      [`/tx/${ZEROS}/hex`, '404 Transaction not found'],
      [`/tx/${ZEROS}/raw`, '404 Transaction not found'],
      ['/tx/xx/status', '400 Invalid hex string'],
      [`/tx/${ZEROS}/merkle-proof`, '404 Transaction not found or is unconfirmed'],
      [`/tx/${ZEROS}/merkleblock-proof`, '404 Transaction not found or is unconfirmed'],
      [`/tx/${ZEROS}/outspends`, '404 Transaction not found'],
      [`/tx/${coinbase}/outspend/x`, '400 Invalid number'],
      [`/tx/${coinbase}/outspend/4294967296`, '400 Invalid number'],
      ['/txs/outspends', '400 No txids specified'],
      [`/txs/outspends?txids=${Array.from({ length: 51 }, () => ZEROS).join(',')}`, '400 Too many txids requested'],
      ['/broadcast', '400 Missing tx'],
      ['/block-template', '403 mining REST endpoints are disabled']
    ];
    const replies = await Promise.all(cases.map(([path]) => served.get(path)));
    const shown = replies.map(({ status, body }, i) => `${cases[i]?.[0] ?? ''}: ${status} ${body.toString()}`);
    expect(shown.join('\n')).to.equal(cases.map(([path, reply]) => `${path}: ${reply}`).join('\n'));
    for (const { headers, contentType } of replies) {
      expect(headers['cache-control']).to.equal('no-store');
      expect(contentType).to.equal('text/plain');
    }
  });

  it('answers with Esplora’s content types and caching headers', async () => {
    const [old, recent] = [hashes[2] as string, hashes[3] as string];
    const cases: readonly [path: string, type: string, cacheControl: string][] = [
      ['/blocks/tip/height', 'text/plain', SHORT],
      ['/blocks/tip/hash', 'text/plain', SHORT],
      ['/blocks', 'application/json', SHORT],
      ['/blocks/1', 'application/json', SHORT],
      ['/blocks/x', 'application/json', SHORT],
      ['/block-height/2', 'text/plain', LONG],
      ['/block-height/3', 'text/plain', SHORT],
      [`/block/${recent}`, 'application/json', LONG],
      [`/block/${old}/status`, 'application/json', LONG],
      [`/block/${recent}/status`, 'application/json', SHORT],
      [`/block/${ZEROS}/status`, 'application/json', SHORT],
      [`/block/${recent}/txids`, 'application/json', LONG],
      [`/block/${recent}/txid/0`, 'text/plain', LONG],
      [`/block/${recent}/header`, 'text/plain', LONG],
      [`/block/${recent}/raw`, 'application/octet-stream', LONG],
      [`/block/${recent}/txs`, 'application/json', SHORT],
      [`/block/${old}/txs/0`, 'application/json', LONG],
      [`/block/${old}/txs/x`, 'application/json', LONG],
      [`/tx/${coinbase}`, 'application/json', LONG],
      [`/tx/${coinbase.toUpperCase()}/hex`, 'text/plain', LONG],
      [`/tx/${coinbase}/raw`, 'application/octet-stream', LONG],
      [`/tx/${coinbase}/status`, 'application/json', LONG],
      [`/tx/${ZEROS}/status`, 'application/json', SHORT],
      [`/tx/${coinbase}/merkle-proof`, 'application/json', LONG],
      [`/tx/${coinbase}/merkleblock-proof`, 'text/plain', LONG],
      [`/tx/${coinbase}/outspend/0`, 'application/json', SHORT],
      [`/tx/${coinbase}/outspends`, 'application/json', SHORT],
      [`/txs/outspends?txids=${coinbase},${ZEROS}`, 'application/json', SHORT]
    ];
    const shown = ({ status, contentType, headers }: RawReply): unknown[] => [status, contentType, headers['cache-control']];
    // The third time the reply may come from memory.
    for (let time = 0; time < 3; time++) {
      const replies = await Promise.all(cases.map(([path]) => served.get(path)));
      expect(replies.map((reply, i) => [cases[i]?.[0], ...shown(reply)])).to.deep.equal(
        cases.map(([path, type, cacheControl]) => [path, 200, type, cacheControl])
      );
      expect(replies.some(({ body }) => body.at(-1) === 0x0a)).to.equal(false);
    }
  });

  it('has the same headers for HEAD, and no body', async () => {
    for (const path of ['/blocks/tip/hash', `/block/${hashes[1] as string}/raw`, '/nope']) {
      const [get, head] = [await served.get(path), await served.get(path, { method: 'HEAD' })];
      expect({ ...head.headers, date: '' }).to.deep.equal({ ...get.headers, date: '' });
      expect([head.status, head.body.length]).to.deep.equal([get.status, 0]);
    }
  });

  it('knows no other methods, and OPTIONS only if pages of other origins may read replies', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'POST']) {
      const { status, body, headers } = await served.get('/blocks/tip/height', { method });
      expect(`${status} ${body.toString()}`).to.equal('404 endpoint does not exist "/api/blocks/tip/height"');
      expect(headers).to.not.have.any.keys('access-control-allow-origin', 'vary');
    }
  });

  it('refuses bodies that are too large, or do not end', async () => {
    const large = await served.get('/tx', { method: 'POST', body: Buffer.alloc(1_000_001, '0') });
    expect(`${large.status} ${large.body.toString()}`).to.equal('413 Request body too large');
    const socket = await openSocket(served.port);
    socket.write('POST /api/tx HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0');
    const reply = (await untilClosed(socket)).toString();
    expect(reply)
      .to.match(/^HTTP\/1\.1 408 /)
      .and.match(/\r\n\r\nRequest timeout$/);
  });

  it('leaves other paths to the node and to REST', async () => {
    const { status } = await served.get('/../rest/chaininfo.json', { path: '/rest/chaininfo.json' });
    expect(status).to.equal(200);
    expect((await served.get('', { path: '/apis/blocks/tip/height' })).body.toString()).to.not.include('endpoint does not exist');
  });
});

describe('clients that may use Esplora’s interface', () => {
  const nodes: ServedNode[] = [];
  const open = async (settings: Readonly<Record<string, unknown>>, replacements?: Replacements): Promise<ServedNode> => {
    const served = await ServedNode.open({ settings }, replacements);
    nodes.push(served);
    return served;
  };
  after(() => Promise.all(nodes.map(({ node }) => node.close())));

  const originsOf = async (served: ServedNode, request: Partial<RawRequest> & { path: string }): Promise<unknown[]> => {
    const { status, headers } = await served.get(request.path, { ...request, path: `/api${request.path}` });
    return [status, headers['access-control-allow-origin'], headers['vary']];
  };

  it('are pages of every origin, if configured so, which can read errors too', async () => {
    const served = await open({ 'rest-cors': '*' });
    expect(await originsOf(served, { path: '/blocks/tip/height' })).to.deep.equal([200, '*', undefined]);
    expect(await originsOf(served, { path: '/nope' })).to.deep.equal([404, '*', undefined]);
    const { status, headers, body } = await served.get('/tx', { method: 'OPTIONS', headers: { Origin: 'https://a.example' } });
    expect([status, body.length, headers['access-control-allow-methods'], headers['access-control-allow-headers']]).to.deep.equal([
      204,
      0,
      'GET, HEAD, POST, OPTIONS',
      'Authorization, Content-Type, X-Rest-Min-Tip, X-Rest-Min-Seq'
    ]);
  });

  it('are pages of some origins, and holders of the node’s key, if configured so', async () => {
    const served = await open({ 'rest-cors': 'https://a.example,https://b.example', 'rest-auth': true, 'api-key': 'sesame' });
    const authorization = basicAuth('x:sesame');
    const path = '/blocks/tip/height';
    const b = { Origin: 'https://b.example' };
    expect(await originsOf(served, { path, headers: { ...b, Authorization: authorization } })).to.deep.equal([200, b.Origin, 'Origin']);
    expect(await originsOf(served, { path, headers: { Authorization: authorization } })).to.deep.equal([200, undefined, 'Origin']);
    expect(await originsOf(served, { path, headers: b })).to.deep.equal([401, b.Origin, 'Origin']);
    expect(await originsOf(served, { path, headers: { Origin: 'https://c.example' } })).to.deep.equal([401, undefined, 'Origin']);
    expect(await originsOf(served, { path: '/nope', headers: b })).to.deep.equal([404, b.Origin, 'Origin']);
    // Browsers send preflight requests without a key.
    expect(await originsOf(served, { path: '/tx', method: 'OPTIONS', headers: b })).to.deep.equal([204, b.Origin, 'Origin']);
  });

  it('get 503 and the reason while the index by script is not ready', async () => {
    const store = new FaultyStore(new MemoryStore());
    const served = await open({ 'rest-addresses-path': '/esplora' }, { scriptStore: store, failurePauseMs: 50 });
    const ask = async (): Promise<string> => {
      const { status, body } = await served.get('', { path: '/esplora/blocks/tip/height' });
      return `${status} ${body.toString()}`;
    };
    expect(await ask()).to.equal('200 0');
    const states = [
      ['filling the index by script, block 412,000 of 900,000 (45%)', { phase: 'partitioning', height: 412_000, target: 900_000 }],
      ['filling the index by script, sorting 0%', { phase: 'sorting', done: 0, total: 0 }],
      ['filling the index by script, sorting 40%', { phase: 'sorting', done: 400, total: 1_000 }],
      ['the index by script is catching up, block 9 of 10 (90%)', { phase: 'catching-up', height: 9, target: 10 }],
      ['the index by script is rewinding, block 1,004, down to 1,001', { phase: 'catching-up', height: 1_004, target: 1_001 }],
      ['the index by script failed; the log of the node says why', { phase: 'failed', message: 'cannot write to /home/satoshi/.bcoin' }],
      ['loading the index by script', { phase: 'loading' }],
      ['the index by script waits for the index of the chain', { phase: 'waiting' }],
      ['shutting down', { phase: 'closed' }]
    ] as const;
    const say = (state: ScriptsState): unknown => Object.defineProperty(served.scripts, 'state', { value: state, configurable: true });
    for (const [text, state] of states) {
      say(state);
      expect(await ask()).to.equal(`503 Service temporarily unavailable: ${text}`);
    }
    // Live by its state, but at another block.
    say({ phase: 'live', height: 0 });
    store.fail('batch', 0);
    await mine(served.node, 1);
    expect(await ask()).to.match(/^503 Service temporarily unavailable: /);
    store.heal();
    Reflect.deleteProperty(served.scripts, 'state');
    await served.settle();
    expect(await ask()).to.equal('200 1');
  });
});
