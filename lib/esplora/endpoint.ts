// What an endpoint of Esplora's interface is: a function from a request to a reply. It throws RestError for everything that is not a success,
// and lets pass what index and node could not tell.

import type { Socket } from 'node:net';
import type { EndpointContext } from '../rest/endpoint';
import type { Waiting } from '../rest/server/work-queue';
import type { PoolFees } from '../script-answers/pool-fees';
import type { ScriptPool } from '../script-pool/script-pool';
import type { ScriptReader } from '../scripts/types';
import type { BlockSizes } from './block-sizes';
import type { EsploraReply } from './reply';
import type { Transactions } from './transactions';

export type Endpoint = (request: EsploraRequest) => Promise<EsploraReply>;

export interface Route {
  /** HEAD is GET. */
  readonly method: 'GET' | 'POST';
  /** Segments behind the interface's own path; those that begin with a colon are parameters. */
  readonly path: `/${string}`;
  readonly endpoint: Endpoint;
  /** Whether it takes the heavy lane of the work queue; absent: it does not. */
  readonly isHeavy?: true;
}

/** What endpoints ask. */
export interface EsploraContext {
  /** What REST's endpoints ask: the node, its blocks, the cache for answers. */
  readonly rest: EndpointContext;
  /** Answers while the gate is open only. Looks at the state and at the pool that are made in one turn are of one moment. */
  readonly scripts: ScriptReader;
  readonly pool: ScriptPool;
  readonly fees: PoolFees;
  readonly transactions: Transactions;
  readonly sizes: BlockSizes;
  /** Whether transactions are taken. */
  readonly broadcast: boolean;
  /** Coins of a script in one reply. */
  readonly maxUnspent: number;
}

/** A request as its endpoint sees it. Nothing in its path is percent-decoded. */
export class EsploraRequest implements Waiting {
  /** Empty for GET. */
  readonly body: Buffer;
  readonly #parameters: ReadonlyMap<string, string>;
  readonly #query: string;
  /** Not the response: a response behind others on its connection never hears of the end. */
  readonly #socket: Pick<Socket, 'destroyed'>;

  /** `query`: what stands behind the question mark. */
  constructor(parameters: ReadonlyMap<string, string>, query: string, body: Buffer, socket: Pick<Socket, 'destroyed'>) {
    this.#parameters = parameters;
    this.#query = query;
    this.body = body;
    this.#socket = socket;
  }

  /** The segment of the path that stands for a parameter of the route; undefined when the route has none of that name. */
  optional(name: string): string | undefined {
    return this.#parameters.get(name);
  }

  /** The same for one that the route has. */
  parameter(name: string): string {
    return this.#parameters.get(name) ?? '';
  }

  /** The last value of a query parameter (form-urlencoded). */
  query(name: string): string | undefined {
    return this.#query === '' ? undefined : new URLSearchParams(this.#query).getAll(name).at(-1);
  }

  /** True once nobody waits for the reply any more. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}
