import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebFiles } from '../../lib/web/web-files';
import { ask, basicAuth, type RawReply } from '../support/client/http';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import type { ExplorerStatus } from '../../lib/web/explorer-status';

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('the explorer, as it is served', () => {
  let served: RestNode;
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<RawReply> =>
    ask(served.port, { path, headers, method });
  /** The name of the script in the page. */
  const scriptPath = async (): Promise<string> => {
    const { body } = await get('/explorer');
    return /src="([^"]+)"/.exec(body.toString())?.[1] ?? '';
  };

  before(async () => {
    const settings = { 'rest-explorer': true, 'rest-addresses': true, 'rest-auth': true, 'api-key': 'secret' };
    served = await openRestNode({ settings });
    await untilReady(served);
  });
  after(() => served.node.close());

  it('sends browsers from / to the explorer, and nobody else', async () => {
    const { status, headers } = await get('/', BROWSER);
    expect([status, headers['location'], headers['vary']]).to.deep.equal([302, '/explorer', 'Accept']);
    for (const accept of ['*/*', 'application/json']) {
      const own = await get('/', { Accept: accept, Authorization: basicAuth('x:secret') });
      expect(own.status).to.equal(200);
      expect(JSON.parse(own.body.toString())).to.include({ network: 'regtest' });
    }
  });

  it('has the same page at every path, with a policy that lets nothing in but files of the node', async () => {
    const pages = await Promise.all(['/explorer', '/explorer/', '/explorer/tx/00', '/explorer/block/x?page=2'].map((path) => get(path)));
    for (const page of pages) {
      expect([page.status, page.contentType]).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(page.body.equals(pages[0]?.body ?? Buffer.alloc(0))).to.equal(true);
      const policy = page.headers['content-security-policy'];
      expect(policy).to.include("default-src 'none'").and.to.include("script-src 'self'").and.to.include("frame-ancestors 'none'");
      expect(policy).not.to.match(/unsafe|data:|http/);
      // Nothing in line, nothing from elsewhere.
      expect(page.body.toString()).not.to.match(/<script(?![^>]* src="\/explorer\/)|<style|\son\w+=|\sstyle=|https?:/);
    }
    // bcoin's own interface wants its key.
    expect((await get('/explorers')).status).to.equal(401);
  });

  it('answers with 304 to whoever has the page', async () => {
    const { etag = '' } = (await get('/explorer')).headers;
    const { status, body } = await get('/explorer', { 'If-None-Match': etag });
    expect([status, body.length]).to.deep.equal([304, 0]);
  });

  it('serves files that never change, compressed as the client takes them', async () => {
    const path = await scriptPath();
    expect(path).to.match(/^\/explorer\/assets\/explorer-\w{8}\.js$/);
    const plain = await get(path);
    expect(plain.headers).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff'
    });
    const [br, gzip, refused] = await Promise.all([
      get(path, { 'Accept-Encoding': 'gzip, deflate, br' }),
      get(path, { 'Accept-Encoding': 'gzip' }),
      get(path, { 'Accept-Encoding': 'br;q=0, zstd' })
    ]);
    expect([br.headers['content-encoding'], gzip.headers['content-encoding'], refused.headers['content-encoding']]).to.deep.equal([
      'br',
      'gzip',
      undefined
    ]);
    for (const body of [brotliDecompressSync(br.body), gunzipSync(gzip.body), refused.body]) expect(body.equals(plain.body)).to.equal(true);
  });

  it('reads what a client takes in one pass, with white space of any length', () => {
    const files = new WebFiles();
    const accepted = `gzip${' '.repeat(400_000)}x, br ; q=0`;
    const { headers } = files.asset(files.linksOf('explorer', '').script.slice(1), { headers: { 'accept-encoding': accepted } });
    expect(headers).to.include('ETag').and.not.to.include('Content-Encoding');
  });

  it('serves no other files, and takes no other methods', async () => {
    for (const path of ['/explorer/assets/', '/explorer/assets/manifest.json', '/explorer/assets/../../package.json'])
      expect((await get(path)).status, path).to.equal(404);
    for (const path of ['/explorer', '/explorer/status.json', await scriptPath()]) {
      const { status, headers } = await get(path, {}, 'POST');
      expect([status, headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
      const head = await get(path, {}, 'HEAD');
      expect([head.status, head.body.length]).to.deep.equal([200, 0]);
    }
  });

  it('tells without a key how far the node is, and where to ask', async () => {
    const status = JSON.parse((await get('/explorer/status.json')).body.toString()) as ExplorerStatus;
    expect(status).to.deep.include({ chain: 'regtest', needsKey: true, ready: true, api: { path: '/api', ready: true } });
    expect(status.jobs.map(({ name, state }) => `${name} ${state}`)).to.include.members(['index done', 'rehearsal done', 'scripts done']);
    expect(status.addressPrefixes.map(({ bech32 }) => bech32)).to.include('bcrt');
  });

  it('is served while requests are refused, and says why they are', async () => {
    // Without peers the node never has the main network's chain.
    const waiting = await openRestNode({ settings: { network: 'main', 'rest-explorer': true, 'rest-warmup': 'synced' } });
    try {
      const [page, refused, told] = await Promise.all(
        ['/explorer', '/rest/chaininfo.json', '/explorer/status.json'].map((path) => ask(waiting.port, { path }))
      );
      expect([page?.status, refused?.status]).to.deep.equal([200, 503]);
      const status = JSON.parse(String(told?.body)) as ExplorerStatus;
      expect(status.ready).to.equal(false);
      expect(refused?.body.toString()).to.include(status.why ?? '?');
      expect(status.jobs[0]).to.include({ name: 'chain', state: 'running' });
    } finally {
      await waiting.node.close();
    }
  });

  it('is not there without its option', async () => {
    const without = await openRestNode();
    try {
      expect((await ask(without.port, { path: '/explorer' })).status).to.equal(404);
      expect((await ask(without.port, { path: '/', headers: BROWSER })).status).to.equal(200);
    } finally {
      await without.node.close();
    }
  });
});
