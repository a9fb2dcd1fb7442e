// The Esplora service put together: what the plugin opens and closes.

import { ReplyCache } from '../server/cache/replies';
import { Mount, under } from '../server/http/mount';
import { BlockSizes } from '../answers/blocks/sizes';
import { EsploraServer } from './server/esplora-server';
import { GatedScripts, ScriptsGate } from '../answers/scripts/gate';
import { esploraRoutes } from './routes';
import { Spends } from '../answers/transactions/spends';
import { Transactions } from '../answers/transactions/transactions';
import type { ServerLogger } from '../server/logger';
import type { RestShared } from '../rest/rest-service';
import type { ScriptReader, ScriptsState } from '../scripts/types';
import type { ChainAnswers } from '../answers/chain-answers';
import type { PoolFees } from '../answers/pool/fees';
import type { ScriptPool } from '../pool/by-script/script-pool';
import type { EsploraContext } from './endpoint';
import type { Origins } from '../server/http/cors';

export interface EsploraServiceOptions {
  /** The path under which requests are served, for example `/api`, without a slash at its end. */
  readonly path: string;
  /** Origins whose pages may read replies. */
  readonly cors: Origins;
  /** Whether transactions are accepted for broadcast. */
  readonly broadcast: boolean;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  /** The most coins of a script in one reply. */
  readonly maxUnspent: number;
}

export interface EsploraServiceParts {
  readonly shared: RestShared;
  readonly scripts: { readonly reader: ScriptReader; readonly state: ScriptsState };
  readonly pool: ScriptPool;
  readonly fees: PoolFees;
  readonly answers: ChainAnswers;
  readonly options: EsploraServiceOptions;
  readonly logger: ServerLogger;
}

export class EsploraService {
  /** What the endpoints answer from. */
  readonly context: EsploraContext;
  readonly #mount: Mount;

  constructor({ shared, scripts, pool, fees, answers, options, logger }: EsploraServiceParts) {
    const { context, connections } = shared;
    const { path, cors, auth, broadcast, maxUnspent } = options;
    const gate = new ScriptsGate(shared.gate, scripts);
    const transactions = new Transactions(context);
    const gated = new GatedScripts(scripts.reader, gate);
    this.context = {
      rest: context,
      scripts: gated,
      pool,
      fees,
      answers,
      transactions,
      spends: new Spends({ rest: context, scripts: gated, pool, transactions }),
      sizes: new BlockSizes(context),
      broadcast,
      maxUnspent
    };
    const routes = esploraRoutes(this.context);
    const replies = new ReplyCache(context.cache, context.node, context.reader);
    const server = new EsploraServer({ ...shared, prefix: path, routes, gate, replies, origins: cors, auth, logger });
    this.#mount = new Mount({ server: context.node.httpServer, takes: under(path), handler: server.handle, connections, logger });
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
