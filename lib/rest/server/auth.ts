// Basic authentication (RFC 7617) with the node's API key as password and any user name:
// the `--rest-auth` option. Without the option nobody asks.

import type { IncomingMessage } from 'node:http';
import type { NodeSource } from '../../node/types';
import { unauthorized } from '../errors';

const BASIC = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** @throws RestError 401 unless the request carries the node's API key. */
export function requireApiKey({ headers }: IncomingMessage, node: Pick<NodeSource, 'isApiKey'>): void {
  const [, encoded] = BASIC.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) throw unauthorized();
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = credentials.indexOf(':');
  if (colon < 0 || !node.isApiKey(credentials.slice(colon + 1))) throw unauthorized();
}
