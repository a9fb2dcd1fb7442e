// Options that say who may make which calls of JSON-RPC.

import { OptionError } from './errors';
import type { HostConfig } from '../../lib/node/host';
import type { Profile } from '../../lib/views/profile';

export type RpcWhitelists = ReadonlyMap<string, ReadonlySet<string>>;

/** Errors do not show the password. */
export function readRpcUser(config: HostConfig, { rpc }: Profile): string | undefined {
  const user = config.get('rest-rpc-user');
  if (user === null) return undefined;
  if (!rpc) throw new OptionError('--rest-rpc-user has no effect without --rest-core=modern');
  if (!/^[^:]+:./s.test(String(user))) throw new OptionError('--rest-rpc-user must be a user, a colon and a password');
  return String(user);
}

/** Bitcoin Core's name of whoever has read the cookie file. */
const COOKIE_USER = '__cookie__';

/** As Bitcoin Core's `rpcwhitelist`, with spaces between users. */
export function readRpcWhitelists(config: HostConfig, { rpc }: Profile, rpcUser: string | undefined): RpcWhitelists | undefined {
  const text = config.get('rest-rpc-whitelist');
  if (text === null) return undefined;
  if (!rpc) throw new OptionError('--rest-rpc-whitelist has no effect without --rest-core=modern');
  const users = [COOKIE_USER, ...(rpcUser === undefined ? [] : [rpcUser.slice(0, rpcUser.indexOf(':'))])];
  const whitelists = new Map<string, ReadonlySet<string>>();
  for (const entry of String(text).trim().split(/\s+/)) {
    const [, user = '', calls = ''] = /^([^:]+):((?:[a-z][\w.]*,)*[a-z][\w.]*)?$/.exec(entry) ?? [];
    if (user === '') throw new OptionError(`--rest-rpc-whitelist must be a user, a colon and calls separated by commas, not '${entry}'`);
    if (!users.includes(user))
      throw new OptionError(`--rest-rpc-whitelist must be of the user of --rest-rpc-user or of ${COOKIE_USER}, not '${user}'`);
    if (whitelists.has(user)) throw new OptionError(`--rest-rpc-whitelist names '${user}' twice`);
    whitelists.set(user, new Set(calls.split(',').filter(Boolean)));
  }
  return whitelists;
}
