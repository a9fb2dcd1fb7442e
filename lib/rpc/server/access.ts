// Who may make which calls. The node's API key as password, under any user name, allows all calls. The user of `--rest-rpc-user` and the
// user of the cookie file may make the calls that are answered here, or those that `--rest-rpc-whitelist` names. If the node requires no
// key, no credentials are needed here either. Pages of other sites may make no calls: a browser sends the credentials that it remembers for
// them, too.

import { credentialsOf, hasApiKey, isOfOtherSite } from '../../server/http/auth';
import { isSecret } from '../../system/secrets';
import { CALLS } from '../call-table';
import { isOwnCall } from '../own-calls';
import type { IncomingMessage } from 'node:http';
import type { HttpHost } from '../../node/types/http-host';
import type { NodeSource } from '../../node/types/source';

/** Which calls a client may make. */
export interface Rights {
  /** A call that nobody knows is allowed: it is answered with an error. */
  allows(method: string): boolean;
  /** Whether they are those of a whitelist, with which Bitcoin Core is stricter about batches. */
  readonly areListed: boolean;
}

/** Why a client may make no call at all. `missing`: the request has no credentials; `wrong`: nobody has them. */
export type Denial = 'forbidden' | 'missing' | 'wrong';

/** The calls that each user may make, as Bitcoin Core's `rpcwhitelist` has them. */
export type Whitelists = ReadonlyMap<string, ReadonlySet<string>>;

export interface AccessParts {
  readonly host: Pick<HttpHost, 'isApiKey' | 'needsApiKey'>;
  readonly node: Pick<NodeSource, 'ownCalls'>;
  readonly whitelists?: Whitelists | undefined;
}

interface User {
  /** `user:password`. */
  readonly credentials: string;
  readonly rights: Rights | 'forbidden';
}

const ALL: Rights = { allows: () => true, areListed: false };

export class Access {
  readonly #parts: AccessParts;
  readonly #users: User[] = [];

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  /** `credentials`: `user:password`. */
  allow(credentials: string): void {
    const user = credentials.slice(0, credentials.indexOf(':'));
    this.#users.push({ credentials, rights: this.#rightsOf(user) });
  }

  #rightsOf(user: string): User['rights'] {
    const { node, whitelists } = this.#parts;
    if (whitelists === undefined) return { allows: (method) => CALLS.has(method) || !isOwnCall(method, node), areListed: false };
    const allowed = whitelists.get(user);
    // As with `rpcwhitelistdefault`: once there is a list, who is not on it may call nothing.
    return allowed === undefined ? 'forbidden' : { allows: (method) => allowed.has(method), areListed: true };
  }

  /** Takes the same time for all credentials of the same length. */
  grant(request: Pick<IncomingMessage, 'headers'>): Rights | Denial {
    const { host } = this.#parts;
    if (isOfOtherSite(request)) return 'forbidden';
    if (!host.needsApiKey) return ALL;
    if (request.headers.authorization === undefined) return 'missing';
    const credentials = credentialsOf(request);
    if (credentials === undefined) return 'wrong';
    if (hasApiKey(credentials, host)) return ALL;
    // Compares with all of them, so that the time does not show which one matched.
    const [user] = this.#users.filter((known) => isSecret(credentials, known.credentials));
    return user?.rights ?? 'wrong';
  }
}
