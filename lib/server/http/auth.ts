// Basic authentication (RFC 7617) with the node's API key as password and any user name:
// the `--rest-auth` option. Without the option REST needs no key.

import { unauthorized } from '../errors';
import type { IncomingMessage } from 'node:http';
import type { HttpHost } from '../../node/types/http-host';

const BASIC = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** `user:password` of a request; undefined when it has none. */
export function credentialsOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const [, encoded] = BASIC.exec(headers.authorization ?? '') ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Whether the password is the node's API key; the user name does not matter. */
export function hasApiKey(credentials: string, host: Pick<HttpHost, 'isApiKey'>): boolean {
  const colon = credentials.indexOf(':');
  return colon >= 0 && host.isApiKey(credentials.slice(colon + 1));
}

/**
 * Whether a browser sends the request for a page of another site: with the key that it remembers, and without asking first if it is a form
 * (Fetch Metadata, `Sec-Fetch-Site`). Other clients do not have the header.
 */
export function isOfOtherSite({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

/** @throws HttpError 401 unless the request carries the node's API key. */
export function requireApiKey(request: IncomingMessage, host: Pick<HttpHost, 'isApiKey'>): void {
  const credentials = credentialsOf(request);
  if (credentials === undefined || !hasApiKey(credentials, host)) throw unauthorized();
}
