// The Esplora service put together: what the plugin opens and closes.

import { Mount, under } from '../server/http/mount';
import { esploraRoutes } from './routes';
import { EsploraServer } from './server/esplora-server';
import type { ScriptAnswers } from '../answers/answers';
import type { Origins } from '../server/http/cors';
import type { Serving } from '../server/serving';
import type { EsploraContext } from './endpoint';

export interface EsploraServiceOptions {
  /** The path under which requests are served, for example `/api`, without a slash at its end. */
  readonly path: string;
  /** Origins whose pages may read replies. */
  readonly cors: Origins;
  /** Whether transactions are accepted for broadcast. */
  readonly broadcast: boolean;
  /** The most coins of a script in one reply. */
  readonly maxUnspent: number;
}

export class EsploraService {
  /** What the endpoints answer from. */
  readonly context: EsploraContext;
  readonly #mount: Mount;

  constructor(serving: Serving, answers: ScriptAnswers, { path, cors, broadcast, maxUnspent }: EsploraServiceOptions) {
    const { node, connections, logger } = serving;
    this.context = { ...answers, broadcast, maxUnspent };
    const server = new EsploraServer({
      serving,
      gate: answers.scriptsGate,
      prefix: path,
      routes: esploraRoutes(this.context),
      origins: cors
    });
    this.#mount = new Mount({ server: node.httpServer, takes: under(path), handler: server.handle, connections, logger });
  }

  /** Takes over the paths under its own from the node's HTTP server as soon as it listens. */
  open(): void {
    this.#mount.open();
  }

  /** Gives the paths back to the node. */
  close(): void {
    this.#mount.close();
  }
}
