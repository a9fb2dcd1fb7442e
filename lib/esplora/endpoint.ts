// What an endpoint of Esplora's interface is: a function from a request to a reply. It throws HttpError for everything that is not a
// success, and lets errors of index and node pass.

import type { Socket } from 'node:net';
import type { AddressList } from '../addresses/address-list';
import type { ScriptAnswers } from '../answers/answers';
import type { Operation } from '../describe/open-api';
import type { Client } from '../turns/client';
import type { EsploraReply } from './reply';

export type Endpoint = (request: EsploraRequest) => Promise<EsploraReply>;

export interface Route {
  /** GET includes HEAD. */
  readonly method: 'GET' | 'POST';
  /** Segments after the interface's own path; those that begin with a colon are parameters. */
  readonly path: `/${string}`;
  readonly endpoint: Endpoint;
  readonly operation: Operation;
  /** Whether requests take the heavy lane of the work queue; absent: they do not. */
  readonly isHeavy?: true;
}

/** What endpoints answer from. */
export interface EsploraContext extends ScriptAnswers {
  /** For searching addresses; undefined: they are not searched. */
  readonly list: Pick<AddressList, 'search'> | undefined;
  /** Whether transactions are accepted for broadcast. */
  readonly broadcast: boolean;
  /** Whether blocks to mine are given out. */
  readonly mining: boolean;
  /** The most coins of a script in one reply. */
  readonly maxUnspent: number;
  /** The version of this package. */
  readonly version: string;
}

/** A request as its endpoint sees it. Nothing in its path is percent-decoded. */
export class EsploraRequest implements Client {
  /** Empty for GET. */
  readonly body: Buffer;
  readonly #parameters: ReadonlyMap<string, string>;
  readonly #query: string;
  /** Not the response: a response that waits behind others on its connection is never told that the connection closed. */
  readonly #socket: Pick<Socket, 'destroyed'>;

  /** `query`: what follows the question mark. */
  constructor(parameters: ReadonlyMap<string, string>, query: string, body: Buffer, socket: Pick<Socket, 'destroyed'>) {
    this.#parameters = parameters;
    this.#query = query;
    this.body = body;
    this.#socket = socket;
  }

  /** The segment of the path for a parameter of the route; undefined when the route has no such parameter. */
  optional(name: string): string | undefined {
    return this.#parameters.get(name);
  }

  /** As `optional`, for a parameter that the route has. */
  parameter(name: string): string {
    return this.#parameters.get(name) ?? '';
  }

  /** The last value of a query parameter (form-urlencoded). */
  query(name: string): string | undefined {
    return this.#query === '' ? undefined : new URLSearchParams(this.#query).getAll(name).at(-1);
  }

  /** All values of a query parameter. */
  queries(name: string): string[] {
    return this.#query === '' ? [] : new URLSearchParams(this.#query).getAll(name);
  }

  /** True once the client has disconnected. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}
