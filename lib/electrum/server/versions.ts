// The protocol version of a session: the highest that both sides know.

import { CODES, ElectrumError } from '../errors';
import { PROTOCOLS, type Protocol } from '../method';

/** The version of a client that does not ask for one. */
export const FIRST_PROTOCOL: Protocol = PROTOCOLS[0];

const VERSION = /^\d{1,4}(\.\d{1,4}){0,3}$/;
const PARTS = 4;

/** `asked`: a version, or the lowest and the highest; undefined: the first. @throws ElectrumError if there is none in common */
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

/** A number that sorts as the version does: 1.4 is 1.4.0. */
function numberOf(version: string): number {
  const parts = version.split('.').map(Number);
  return Array.from({ length: PARTS }, (_, i) => parts[i] ?? 0).reduce((sum, part) => sum * 10_000 + part, 0);
}
