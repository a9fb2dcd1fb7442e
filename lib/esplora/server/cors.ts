// Which pages of other origins may read replies (the `--rest-cors` option; CORS of the Fetch standard).

import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../../rest/errors';

/** Exact origins, or any; undefined: none, and nothing is said. */
export type Origins = readonly string[] | '*' | undefined;

const DAY_SECONDS = 86_400;

/** What a browser that asks before it sends a request is told. */
export const PREFLIGHT: HeaderList = [
  ...['Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS'],
  ...['Access-Control-Allow-Headers', 'Authorization, Content-Type'],
  ...['Access-Control-Max-Age', String(DAY_SECONDS)]
];

/** For every reply, errors too. */
export function originHeaders(origins: Origins, { headers: { origin } }: Pick<IncomingMessage, 'headers'>): HeaderList {
  if (origins === undefined) return [];
  if (origins === '*') return ['Access-Control-Allow-Origin', '*'];
  const allowed = origin !== undefined && origins.includes(origin) ? ['Access-Control-Allow-Origin', origin] : [];
  return [...allowed, 'Vary', 'Origin'];
}
