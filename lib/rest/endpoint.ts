// What an endpoint is: a function from a request to a reply. It throws HttpError for everything that is not a success, and lets
// errors of index and node pass.

import type { Socket } from 'node:net';
import type { Reply } from '../server/http/reply';
import type { Client } from '../turns/client';

export type Endpoint = (request: RestRequest) => Promise<Reply>;

/** A request as its endpoint sees it. */
export class RestRequest implements Client {
  /** What follows the endpoint's prefix in the target, not decoded. The profile says whether the query is cut off. */
  readonly path: string;
  /** What follows the prefix, without a query: up to the last question mark. */
  readonly pathOnly: string;
  /** Empty where the endpoint does not read bodies. */
  readonly body: Buffer;
  /** Not the response: a response that waits behind others on its connection is never told that the connection closed. */
  readonly #socket: Pick<Socket, 'destroyed'>;
  /** What follows the endpoint's prefix, with the query. */
  readonly #target: string;

  constructor(target: string, body: Buffer, socket: Pick<Socket, 'destroyed'>, cutsQuery = false) {
    // V8 searches backwards slowly, and targets of getutxos are long.
    const end = target.includes('?') ? target.lastIndexOf('?') : -1;
    this.#target = target;
    this.pathOnly = end < 0 ? target : target.slice(0, end);
    this.path = cutsQuery ? this.pathOnly : target;
    this.body = body;
    this.#socket = socket;
  }

  /**
   * The first value of a query parameter, percent-decoded as Bitcoin Core does since 31: only a percent sign with two hex digits is
   * decoded, and a plus stays a plus. The query begins at the first question mark, but `pathOnly` ends at the last. A parameter without
   * an equals sign is empty. The value is latin1, so bytes stay as they are.
   */
  query(name: string): string | undefined {
    const start = this.#target.indexOf('?');
    if (start < 0) return undefined;
    const [query = ''] = this.#target.slice(start + 1).split('#');
    for (const pair of query.split('&')) {
      const equals = pair.indexOf('=');
      const key = equals < 0 ? pair : pair.slice(0, equals);
      if (percentDecoded(key) === name) return equals < 0 ? '' : percentDecoded(pair.slice(equals + 1));
    }
    return undefined;
  }

  /** True once the client has disconnected. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
