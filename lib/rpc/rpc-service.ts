// The RPC service put together: what the plugin opens and closes.

import Router from '@koa/router';
import { rpcDocument } from './document';
import { helpText } from './help';
import { Access, type Whitelists } from './server/access';
import { CookieFile } from './server/cookie';
import { RpcServer } from './server/rpc-server';
import { routing, type HttpRouter } from '../server/routing';
import type { IncomingMessage } from 'node:http';
import type { Answers, ScriptAnswers } from '../answers/answers';
import type { ChainIndex } from '../index/types';
import type { HttpInterface } from '../server/app';
import type { InterfaceTimes } from '../server/figures/request-times';
import type { Serving } from '../server/serving';
import type { CallContext } from './call';

export interface RpcServiceParts {
  readonly serving: Serving;
  readonly answers: Answers;
  /** Undefined without an index by script. */
  readonly scripts: () => Pick<ScriptAnswers, 'scripts' | 'totals'> | undefined;
  readonly index: Pick<ChainIndex, 'state' | 'tip$'>;
  /** What is published over ZeroMQ. */
  readonly notifiers: CallContext['notifiers'];
  /** `user:password` that is accepted besides the node's API key. */
  readonly user: string | undefined;
  /** Undefined: the user and the cookie may make the calls that are answered here. */
  readonly whitelists: Whitelists | undefined;
  /** Where the cookie file is written; undefined for a node without a folder. */
  readonly cookiePath: string | undefined;
  /** The version of this package. */
  readonly version: string;
  /** Counts calls; undefined: nobody does. */
  readonly times?: InterfaceTimes | undefined;
}

export class RpcService {
  readonly #cookie: CookieFile | undefined;
  readonly http: HttpInterface;
  readonly #server: RpcServer;

  constructor({ serving, answers, scripts, index, notifiers, user, whitelists, cookiePath, version, times }: RpcServiceParts) {
    const { host, connections, logger } = serving;
    const access = new Access({ host, node: answers.node, whitelists });
    if (user !== undefined) access.allow(user);
    this.#cookie = cookiePath === undefined ? undefined : new CookieFile(cookiePath, logger);
    if (this.#cookie !== undefined) access.allow(this.#cookie.credentials);
    let document: Buffer | undefined;
    this.#server = new RpcServer({
      serving,
      context: {
        ...answers,
        host,
        index,
        notifiers,
        scripts,
        version,
        closing$: connections.closing$,
        document: () => (document ??= rpcDocument(answers.profile.fields, version)),
        help: (method) => helpText(method, answers.node),
        active: () => this.#server.active
      },
      access,
      times
    });
    const router: HttpRouter = new Router();
    router.post(ROOT, (context) => this.#server.handle(context.req, context.res));
    this.http = { takes: isCall, middleware: routing(router, (target) => target) };
  }

  async open(): Promise<void> {
    await this.#cookie?.open();
  }

  /** Ends the delays of refused requests. */
  async close(): Promise<void> {
    this.#server.close();
    await this.#cookie?.close();
  }
}

/** Also with a query. */
const ROOT = /^\/(\?|$)/;

/** `POST /`; the node handles all other requests. */
function isCall({ method, url }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  return method === 'POST' && url !== undefined && ROOT.test(url);
}
