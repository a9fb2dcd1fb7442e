// Who may call: anyone with the node's API key as password, under any user name; the user of `--rest-rpc-user`; anyone who can read the
// cookie file. The node's own calls always need the key. If the node requires no key, no credentials are needed here either.

import { createHash, timingSafeEqual } from 'node:crypto';
import { credentialsOf, hasApiKey } from '../../server/http/auth';
import type { IncomingMessage } from 'node:http';
import type { HttpHost } from '../../node/types';

/** `node`: may also use the node's own calls. `own`: only the calls answered here. `missing`: the request has no credentials. */
export type Grant = 'node' | 'own' | 'missing' | 'wrong';

export class Access {
  readonly #host: Pick<HttpHost, 'isApiKey' | 'needsApiKey'>;
  readonly #digests: Buffer[] = [];

  constructor(host: Pick<HttpHost, 'isApiKey' | 'needsApiKey'>) {
    this.#host = host;
  }

  /** `credentials`: `user:password`. */
  allow(credentials: string): void {
    this.#digests.push(digestOf(credentials));
  }

  /** Takes the same time for all credentials of the same length. */
  grant(request: Pick<IncomingMessage, 'headers'>): Grant {
    if (!this.#host.needsApiKey) return 'node';
    if (request.headers.authorization === undefined) return 'missing';
    const credentials = credentialsOf(request);
    if (credentials === undefined) return 'wrong';
    if (hasApiKey(credentials, this.#host)) return 'node';
    const digest = digestOf(credentials);
    // Compares with all of them, so that the time does not show which one matched.
    const matches = this.#digests.map((known) => timingSafeEqual(known, digest));
    return matches.includes(true) ? 'own' : 'wrong';
  }
}

/** `timingSafeEqual` needs equal lengths: digests have them. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
