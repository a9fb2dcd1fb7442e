// Who may call: whoever has the node's API key as password, with any user; the user of `--rest-rpc-user`; whoever can read the cookie
// file. The calls of the node itself need the key in any case. A node that asks nobody for its key asks nobody here either.

import { createHash, timingSafeEqual } from 'node:crypto';
import { credentialsOf, hasApiKey } from '../../rest/server/auth';
import type { IncomingMessage } from 'node:http';
import type { NodeSource } from '../../node/types';

/** `node`: for the calls of the node as well. `missing`: no credentials came, or none that can be read. */
export type Grant = 'node' | 'own' | 'missing' | 'wrong';

export class Access {
  readonly #node: Pick<NodeSource, 'isApiKey' | 'needsApiKey'>;
  readonly #digests: Buffer[] = [];

  constructor(node: Pick<NodeSource, 'isApiKey' | 'needsApiKey'>) {
    this.#node = node;
  }

  /** `credentials`: `user:password`. */
  allow(credentials: string): void {
    this.#digests.push(digestOf(credentials));
  }

  /** Takes the same time for all credentials of a length. */
  grant(request: Pick<IncomingMessage, 'headers'>): Grant {
    if (!this.#node.needsApiKey) return 'node';
    if (request.headers.authorization === undefined) return 'missing';
    const credentials = credentialsOf(request);
    if (credentials === undefined) return 'wrong';
    if (hasApiKey(credentials, this.#node)) return 'node';
    const digest = digestOf(credentials);
    // All of them: which one it was shows in nothing.
    const matches = this.#digests.map((known) => timingSafeEqual(known, digest));
    return matches.includes(true) ? 'own' : 'wrong';
  }
}

/** Digests of all texts have one length. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
