// The protocol version of a session, the highest that both sides know, and the methods that it has.

import { CODES, ElectrumError } from '../errors';
import { PROTOCOLS, type Method, type MethodTable, type Protocol } from '../method';

/** The version of a client that does not ask for one. */
export const FIRST_PROTOCOL: Protocol = PROTOCOLS[0];

const LAST_PROTOCOL: Protocol = PROTOCOLS[PROTOCOLS.length - 1] as Protocol; // there are some

/** With white space around its numbers, as ElectrumX and Fulcrum take it. */
const VERSION = /^\s*\d{1,4}\s*(\.\s*\d{1,4}\s*){0,3}$/;
const PARTS = 4;

export interface Agreed {
  /** What both sides call it. */
  readonly version: string;
  /** The version that it is the same as: one that clients name may be between two. */
  readonly protocol: Protocol;
}

/**
 * The lower one of the highest versions of both sides (the protocol's `server.version`). `asked`: a version, or the lowest and the highest;
 * undefined: the first. @throws ElectrumError if there is none in common
 */
export function negotiate(asked: unknown = FIRST_PROTOCOL): Agreed {
  const range: readonly unknown[] = Array.isArray(asked) ? asked : [asked, asked];
  if (range.length === 2 && range.every(isVersion)) {
    const [least, most] = range as [string, string];
    const version = numberOf(most) < numberOf(LAST_PROTOCOL) ? shortest(most) : LAST_PROTOCOL;
    const protocol = PROTOCOLS.findLast((known) => numberOf(known) <= numberOf(version));
    if (protocol !== undefined && numberOf(least) <= numberOf(version)) return { version, protocol };
  }
  throw new ElectrumError(CODES.badRequest, 'unsupported protocol version');
}

/** The methods of a version, by their names. */
export type MethodsOf = (version: Protocol) => ReadonlyMap<string, Method>;

/** Made once: a session only looks its version up. */
export function methodsByVersion(table: MethodTable): MethodsOf {
  const ofVersion = (version: Protocol): [string, Method][] =>
    Object.entries(table).flatMap(([name, method]) => (method !== undefined && isIn(version, method) ? [[name, method]] : []));
  const all = new Map(PROTOCOLS.map((version) => [version, new Map(ofVersion(version))]));
  return (version) => all.get(version) as ReadonlyMap<string, Method>; // each version has some
}

function isIn(version: Protocol, { since, until }: Method): boolean {
  const at = PROTOCOLS.indexOf(version);
  return (since === undefined || at >= PROTOCOLS.indexOf(since)) && (until === undefined || at <= PROTOCOLS.indexOf(until));
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && VERSION.test(value);
}

/** A number that sorts as the version does: 1.4 is 1.4.0. */
function numberOf(version: string): number {
  const parts = version.split('.').map(Number);
  return Array.from({ length: PARTS }, (_, i) => parts[i] ?? 0).reduce((sum, part) => sum * 10_000 + part, 0);
}

/** 1.4.0 is written 1.4. */
const shortest = (version: string): string =>
  version
    .split('.')
    .map(Number)
    .join('.')
    .replace(/(\.0)+$/, '');
