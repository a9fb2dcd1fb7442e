// Which version of the protocol is spoken: the highest that both know.

import { CODES, ElectrumError } from '../errors';
import { PROTOCOLS, type Protocol } from '../method';

/** What a client speaks that does not say. */
export const FIRST_PROTOCOL: Protocol = PROTOCOLS[0];

const VERSION = /^\d{1,4}(\.\d{1,4}){0,3}$/;
const PARTS = 4;

/** `asked`: a version, or the lowest and the highest one; undefined: the first. @throws ElectrumError without one that both speak */
export function negotiate(asked: unknown = FIRST_PROTOCOL): Protocol {
  const range: readonly unknown[] = Array.isArray(asked) ? asked : [asked, asked];
  if (range.length === 2 && range.every(isVersion)) {
    const [least, most] = range.map(numberOf) as [number, number];
    const found = PROTOCOLS.findLast((version) => numberOf(version) >= least && numberOf(version) <= most);
    if (found !== undefined) return found;
  }
  throw new ElectrumError(CODES.badRequest, 'unsupported protocol version');
}

export function isAtLeast(version: Protocol, other: Protocol): boolean {
  return PROTOCOLS.indexOf(version) >= PROTOCOLS.indexOf(other);
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && VERSION.test(value);
}

/** In the order of versions: 1.4 is 1.4.0. */
function numberOf(version: string): number {
  const parts = version.split('.').map(Number);
  return Array.from({ length: PARTS }, (_, i) => parts[i] ?? 0).reduce((sum, part) => sum * 10_000 + part, 0);
}
