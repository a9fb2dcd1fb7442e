// The RPC service put together: what the plugin opens and closes.

import Router from '@koa/router';
import { Access } from './server/access';
import { CookieFile } from './server/cookie';
import { RpcServer } from './server/rpc-server';
import { routing, type HttpRouter } from '../server/routing';
import type { IncomingMessage } from 'node:http';
import type { Answers } from '../answers/answers';
import type { ChainIndex } from '../index/types';
import type { HttpInterface } from '../server/app';
import type { Serving } from '../server/serving';

export interface RpcServiceParts {
  readonly serving: Serving;
  readonly answers: Answers;
  readonly index: Pick<ChainIndex, 'state' | 'tip$'>;
  /** `user:password` that is accepted besides the node's API key. */
  readonly user: string | undefined;
  /** Where the cookie file is written; undefined for a node without a folder. */
  readonly cookiePath: string | undefined;
  /** The version of this package. */
  readonly version: string;
}

export class RpcService {
  readonly #access: Access;
  readonly #cookie: CookieFile | undefined;
  readonly http: HttpInterface;
  readonly #server: RpcServer;

  constructor({ serving, answers, index, user, cookiePath, version }: RpcServiceParts) {
    const { host, connections } = serving;
    const access = (this.#access = new Access(host));
    if (user !== undefined) access.allow(user);
    this.#cookie = cookiePath === undefined ? undefined : new CookieFile(cookiePath);
    this.#server = new RpcServer({
      serving,
      context: { ...answers, host, index, version, closing$: connections.closing$ },
      access
    });
    const router: HttpRouter = new Router();
    router.post(ROOT, (context) => this.#server.handle(context.req, context.res, context.passOn));
    this.http = { takes: isCall, middleware: routing(router, (target) => target) };
  }

  /** @throws when the cookie file cannot be written */
  async open(): Promise<void> {
    if (this.#cookie !== undefined) this.#access.allow(await this.#cookie.create());
  }

  /** Ends the delays of refused requests. */
  async close(): Promise<void> {
    this.#server.close();
    await this.#cookie?.remove();
  }
}

/** Also with a query. */
const ROOT = /^\/(\?|$)/;

/** `POST /`; the node handles all other requests. */
function isCall({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  return method === 'POST' && url !== undefined && ROOT.test(url);
}
