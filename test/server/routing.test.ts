import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import Router from '@koa/router';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { HttpApp, type Middleware } from '../../lib/server/app';
import { routing, type HttpRouter } from '../../lib/server/routing';
import { ask } from '../support/client/http';
import type { AddressInfo } from 'node:net';

describe('routes', () => {
  let server: Server;
  let port: number;

  before(async () => {
    const router: HttpRouter = new Router();
    const saying =
      (text: string): Middleware =>
      ({ res, captures = [] }) => {
        res.end(`${text} ${captures.join()}`);
        return Promise.resolve();
      };
    router.get(/^\/of\/([^/]*)$/, saying('get'));
    router.post(/^\/of\/([^/]*)$/, saying('post'));
    router.get(/^\/of\//, saying('any'));
    const routes = routing(router, (target) => target);
    const app = new HttpApp({ debug: () => undefined });
    app.add({
      takes: () => true,
      middleware: (context) =>
        routes(context, () => {
          context.res.statusCode = 404;
          context.res.end();
          return Promise.resolve();
        })
    });
    server = createServer((request, response) => void app.handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => server.close());

  const bodies = async (path: string): Promise<readonly string[]> => {
    const bodies: string[] = [];
    for (const method of ['GET', 'POST', 'PUT', 'HEAD', 'GET', 'POST', 'PUT'])
      bodies.push((await ask(port, { method, path })).body.toString());
    return bodies;
  };

  it('are found by method and path, the first one of several', async () => {
    expect(await bodies('/of/a')).to.deep.equal(['get a', 'post a', '', '', 'get a', 'post a', '']);
    expect(await bodies('/of/a/b')).to.deep.equal(['any ', '', '', '', 'any ', '', '']);
  });

  it('see paths as they came: nothing is decoded, and empty segments count', async () => {
    for (const segment of ['%61', '%', '%zz', 'A', '', '..', 'a?b=c', 'x'.repeat(300)])
      expect((await bodies(`/of/${segment}`)).slice(0, 2), segment).to.deep.equal([`get ${segment}`, `post ${segment}`]);
    expect((await bodies('/OF/a'))[0]).to.equal('');
  });
});
