import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { IndexUnavailableError } from '../../lib/index/errors';
import { merchantInterface } from '../../lib/merchant/merchant-interface';
import { PAYMENT_TYPE } from '../../lib/payments';
import { HttpApp } from '../../lib/server/app';
import { Unfinished } from '../../lib/server/bounds/unfinished';
import { HttpError } from '../../lib/server/errors';
import { WebFiles } from '../../lib/web/web-files';
import { ask, basicAuth, openSocket, requestBytes } from '../support/client/http';
import { inShop, order, paying, paymentFor, script, type Shop } from './orders/shop';
import type { AddressInfo } from 'node:net';

interface ServedShop extends Shop {
  readonly port: number;
  /** The errors in the log. */
  readonly errors: string[];
  /** The error that is thrown instead of answering. */
  closed: Error | undefined;
  /** Resolves when the next request was answered or given up. */
  over(): Promise<void>;
}

function servedShop(test: (shop: ServedShop) => Promise<void>): () => Promise<void> {
  return inShop(async (shop) => {
    const errors: string[] = [];
    const server = createServer();
    const over = async (): Promise<void> => {
      await once(server, 'over');
    };
    const served: ServedShop = Object.assign(shop, { port: 0, errors, closed: undefined, over });
    const pages = merchantInterface({
      merchant: shop.merchant,
      host: { isApiKey: (key) => key === 'sesame' },
      timeoutMs: 10_000,
      unfinished: new Unfinished(),
      requireReady: () => {
        if (served.closed) throw served.closed;
      },
      version: '1.2.3',
      logger: { error: (message) => errors.push(message), debug: () => undefined },
      files: new WebFiles()
    });
    const app = new HttpApp({ debug: () => undefined });
    app.add(pages);
    server.on('request', (request, response) => void app.handle(request, response).finally(() => server.emit('over')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await test(Object.assign(served, { port: (server.address() as AddressInfo).port }));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}

describe('the merchant’s pages', () => {
  it(
    'logs nothing when a customer hangs up in the middle of a Payment',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const whole = requestBytes(
        { method: 'POST', path: `/pay/${id}`, headers: { 'Content-Type': PAYMENT_TYPE }, body: paymentFor(id, [paying(1)]) },
        true
      );
      const over = shop.over();
      const socket = await openSocket(shop.port);
      socket.write(whole.subarray(0, -10), () => socket.destroy());
      await over;
      expect(shop.errors).to.deep.equal([]);
      expect(shop.chain.broadcasts).to.deep.equal([]);
    })
  );

  it(
    'answers malformed paths with 4xx, and logs nothing',
    servedShop(async (shop) => {
      for (const path of [
        '/pay/%zz',
        '/pay/%00',
        '/pay/..%2f..%2fkey.pem',
        '/pay/a/b',
        '/pay//',
        `/pay/${'a'.repeat(5_000)}`,
        '/pay/__proto__'
      ]) {
        expect((await ask(shop.port, { path })).status, path).to.be.within(400, 404);
      }
      expect(shop.errors).to.deep.equal([]);
    })
  );

  it(
    'does not answer with a slash at the end, where the links of a page would lead elsewhere',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const headers = { Authorization: basicAuth('x:sesame'), Accept: 'text/html' };
      for (const path of [`/pay/${id}/`, `/pay/${id}/status/`, '/pay/'])
        expect((await ask(shop.port, { path, headers })).status).to.equal(404);
    })
  );

  it(
    'answers all methods except GET, HEAD and POST with 405 or 501',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      expect((await ask(shop.port, { method: 'HEAD', path: `/pay/${id}` })).status).to.equal(200);
      for (const method of ['PUT', 'DELETE', 'PATCH'])
        expect((await ask(shop.port, { method, path: `/pay/${id}` })).status, method).to.be.oneOf([405, 501]);
    })
  );

  it(
    'checks the API key before it reads an order',
    servedShop(async (shop) => {
      const reply = await ask(shop.port, { method: 'POST', path: '/pay', body: Buffer.alloc(300_000, '[') });
      expect(reply.status).to.equal(401);
    })
  );

  it(
    'takes no order from a page of another site, for which a browser sends the key that it remembers',
    servedShop(async (shop) => {
      const Authorization = basicAuth('x:sesame');
      const body = Buffer.from(JSON.stringify({ outputs: [{ amount: 10_000, script: script.toString('hex') }] }));
      const statusFor = async (site: string): Promise<number> =>
        (await ask(shop.port, { method: 'POST', path: '/pay', headers: { Authorization, 'Sec-Fetch-Site': site }, body })).status;
      expect([await statusFor('cross-site'), await statusFor('same-site'), await statusFor('same-origin')]).to.deep.equal([403, 403, 201]);
    })
  );

  it(
    'lists orders to the merchant alone, in JSON and as a page',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      expect((await ask(shop.port, { path: '/pay' })).status).to.equal(401);
      const Authorization = basicAuth('x:sesame');
      const json = await ask(shop.port, { path: '/pay?status=open', headers: { Authorization, Accept: '*/*' } });
      expect(JSON.parse(json.body.toString())).to.containSubset({ orders: [{ id, status: 'open' }] });
      const page = await ask(shop.port, { path: '/pay', headers: { Authorization, Accept: 'text/html' } });
      expect(page.headers).to.include({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', vary: 'Accept' });
      expect((await ask(shop.port, { path: '/pay?status=x', headers: { Authorization, Accept: 'text/html' } })).status).to.equal(400);
    })
  );

  it(
    'serves what the pages load, for good, also while the gate is closed',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const page = await ask(shop.port, { path: `/pay/${id}`, headers: { Accept: 'text/html' } });
      const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page.body.toString()) ?? [];
      shop.closed = new HttpError(503, 'Service temporarily unavailable: Loading');
      const { pathname: path } = new URL(style, `http://127.0.0.1/pay/${id}`);
      const asset = await ask(shop.port, { path });
      expect(asset.status).to.equal(200);
      expect(asset.headers).to.include({
        'content-type': 'text/css; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable'
      });
      expect((await ask(shop.port, { path: '/pay/assets/..%2f..%2fmanifest.json' })).status).to.equal(404);
      expect((await ask(shop.port, { method: 'POST', path, headers: { Accept: '*/*' } })).status).to.equal(503);
    })
  );

  it(
    'gives browsers errors as pages, and everybody else text as ever',
    servedShop(async (shop) => {
      const path = `/pay/${'0'.repeat(32)}`;
      const page = await ask(shop.port, { path, headers: { Accept: 'text/html,*/*;q=0.8' } });
      expect([page.status, page.headers['content-type']]).to.deep.equal([404, 'text/html; charset=utf-8']);
      expect(page.headers['content-security-policy']).to.include("script-src 'self'");
      const text = await ask(shop.port, { path, headers: { Accept: '*/*' } });
      expect([text.status, text.body.toString()]).to.deep.equal([404, 'No such payment request.\r\n']);
      shop.closed = new HttpError(503, 'Service temporarily unavailable: Loading <1>');
      const closed = await ask(shop.port, { path, headers: { Accept: 'text/html' } });
      expect([closed.status, closed.headers['retry-after']]).to.deep.equal([503, '5']);
      expect(closed.body.toString()).to.include('Loading &#60;1&#62;').and.to.include('http-equiv="refresh"');
    })
  );

  it(
    'tells how far an order has come at /pay/<id>/status, and nothing of others',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      const reply = await ask(shop.port, { path: `/pay/${id}/status` });
      expect(JSON.parse(reply.body.toString())).to.include({ id, status: 'open', missing: 10_000 });
      expect((await ask(shop.port, { path: '/pay/none/status' })).status).to.equal(404);
    })
  );

  it(
    'refuses orders that nest without end or are too long',
    servedShop(async (shop) => {
      const headers = { Authorization: basicAuth('x:sesame') };
      expect((await ask(shop.port, { method: 'POST', path: '/pay', headers, body: Buffer.alloc(200_000, '[') })).status).to.equal(400);
      expect((await ask(shop.port, { method: 'POST', path: '/pay', headers, body: Buffer.alloc(300_000, '[') })).status).to.equal(413);
    })
  );

  it(
    'answers 503 while the gate is closed, and broadcasts nothing',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.closed = new HttpError(503, 'Service temporarily unavailable: Loading');
      for (const method of ['GET', 'POST']) {
        const reply = await ask(shop.port, {
          method,
          path: `/pay/${id}`,
          headers: { 'Content-Type': PAYMENT_TYPE },
          body: paymentFor(id, [paying(1)])
        });
        expect([reply.status, reply.body.toString()]).to.deep.equal([503, 'Service temporarily unavailable: Loading\r\n']);
      }
      expect(shop.chain.broadcasts).to.deep.equal([]);
    })
  );

  it(
    'answers 503 at once while two Payments for an order wait, and does not read the third',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      let release = (): void => undefined;
      shop.chain.held = new Promise<void>((resolve) => (release = resolve));
      const waiting = [1, 2].map((seed) => shop.merchant.pay(id, paymentFor(id, [paying(seed)])).catch(() => undefined));
      const head = { 'Content-Type': PAYMENT_TYPE, 'Content-Length': '50000' };
      const reply = await ask(shop.port, { method: 'POST', path: `/pay/${id}`, headers: head });
      expect([reply.status, reply.headers['retry-after']]).to.deep.equal([503, '5']);
      release();
      await Promise.all(waiting);
    })
  );

  it(
    'answers 503 when the index cannot be read',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.chain.refusal = new IndexUnavailableError('the index is closed');
      const reply = await ask(shop.port, {
        method: 'POST',
        path: `/pay/${id}`,
        headers: { 'Content-Type': PAYMENT_TYPE },
        body: paymentFor(id, [paying(1)])
      });
      expect(reply.status).to.equal(503);
      expect(shop.errors).to.deep.equal([]);
    })
  );

  it(
    'answers 500 for unexpected errors, and logs them',
    servedShop(async (shop) => {
      const { id } = await shop.merchant.create(order);
      shop.chain.refusal = new Error('the node went away');
      const reply = await ask(shop.port, {
        method: 'POST',
        path: `/pay/${id}`,
        headers: { 'Content-Type': PAYMENT_TYPE },
        body: paymentFor(id, [paying(1)])
      });
      expect([reply.status, reply.body.toString()]).to.deep.equal([500, 'Internal error; the log of the node has details\r\n']);
      expect(shop.errors).to.have.length(1);
      expect(shop.errors[0]).to.include('the node went away');
    })
  );
});
