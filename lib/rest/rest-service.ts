// The REST service put together: what the plugin opens and closes.

import { Mount, under } from '../server/http/mount';
import { restApp } from './app';
import { restRoutes } from './routes';
import type { Answers } from '../answers/answers';
import type { Serving } from '../server/serving';

const PREFIX = '/rest';

export class RestService {
  readonly #mount: Mount;

  constructor(serving: Serving, answers: Answers) {
    const { node, connections, logger } = serving;
    const app = restApp(serving, restRoutes(answers), answers.profile);
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
