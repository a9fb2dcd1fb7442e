// The REST service put together: what the plugin opens and closes.

import { NO_BODY } from '../server/http/body';
import { Mount, under } from '../server/http/mount';
import { noSuchPath } from '../server/errors';
import { restApp } from './app';
import { RestRequest } from './endpoint';
import { findRoute, restRoutes } from './routes';
import type { Socket } from 'node:net';
import type { Answers } from '../answers/answers';
import type { Reply } from '../server/http/reply';
import type { Serving } from '../server/serving';

const PREFIX = '/rest';

export class RestService {
  /** The reply to a GET, made without checking gate or key and without queueing. @throws HttpError, and errors of index and node */
  readonly ask: (target: string, client: { readonly socket: Pick<Socket, 'destroyed'> }) => Promise<Reply>;
  readonly #mount: Mount;

  constructor(serving: Serving, answers: Answers) {
    const { node, replies, connections, logger } = serving;
    const { profile } = answers;
    const routes = restRoutes(answers);
    const app = restApp(serving, routes, profile);
    this.ask = async (target, { socket }) => {
      const cached = replies.find(target);
      if (cached !== undefined) return cached;
      const route = findRoute(routes, target);
      if (route === undefined) throw noSuchPath();
      const request = new RestRequest(target.slice(route.prefix.length), NO_BODY, socket, profile.parsing.cutsQuery);
      return replies.make(target, () => route.endpoint(request));
    };
    this.#mount = new Mount({ server: node.httpServer, takes: under(PREFIX), handler: app.callback(), connections, logger });
  }

  /** Takes over the paths under /rest from the node's HTTP server as soon as it listens. */
  open(): void {
    this.#mount.open();
  }

  /** Gives the paths back to the node. */
  close(): void {
    this.#mount.close();
  }
}
