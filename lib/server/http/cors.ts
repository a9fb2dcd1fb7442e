// Which other origins' pages may read replies (the `--rest-cors` option; CORS in the Fetch standard).

import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../errors';

/** Exact origins, or any; undefined: none, and no CORS headers are sent. */
export type Origins = readonly string[] | '*' | undefined;

const DAY_SECONDS = 86_400;

/** Headers of the reply to a preflight request. */
export const PREFLIGHT: HeaderList = [
  ...['Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS'],
  ...['Access-Control-Allow-Headers', 'Authorization, Content-Type, X-Rest-Min-Tip, X-Rest-Min-Seq'],
  ...['Access-Control-Max-Age', String(DAY_SECONDS)]
];

/** The headers beyond those that every page may read. */
const EXPOSED: HeaderList = ['Access-Control-Expose-Headers', 'X-Rest-Tip, X-Rest-Min-Seq'];

/** Headers for every reply, including errors. */
export function originHeaders(origins: Origins, { headers: { origin } }: Pick<IncomingMessage, 'headers'>): HeaderList {
  if (origins === undefined) return [];
  if (origins === '*') return ['Access-Control-Allow-Origin', '*', ...EXPOSED];
  const allowed = origin !== undefined && origins.includes(origin) ? ['Access-Control-Allow-Origin', origin, ...EXPOSED] : [];
  return [...allowed, 'Vary', 'Origin'];
}
