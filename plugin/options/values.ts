// Values that several options have in common: ports, origins, addresses of Electrum servers.

import { isIPv6 } from 'node:net';
import type { ServerPlace } from '../../lib/electrum/method';
import type { SocketAddress } from '../../lib/server/ports/listener';

export const LOOPBACK = '127.0.0.1';
export const MOST_PORT = 65_535;

/** `host:port`, `[address]:port` for IPv6, or a port alone, which is on the loopback address. */
export function parseSocketAddress(text: string): SocketAddress | undefined {
  const [, host = '', digits = ''] = /^(?:(\[[\da-fA-F:.]+\]|[\w.-]*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port < 1 || port > MOST_PORT) return undefined;
  const plain = host.replace(/^\[|\]$/g, '');
  if (host.startsWith('[') && !isIPv6(plain)) return undefined;
  return { host: plain === '' ? LOOPBACK : plain, port };
}

/** Whether the text is an origin as browsers send it. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

type Scheme = ServerPlace['scheme'];

const MOST_PLACES = 100;

/** Undefined unless all of them can be read, their schemes are among these, and no host has two ports of one scheme. */
export function parsePlaces(text: string, schemes: readonly Scheme[]): readonly ServerPlace[] | undefined {
  const places = text.split(',').map((part) => parsePlace(part, schemes));
  const known = places.filter((place) => place !== undefined);
  const names = new Set(known.map(({ scheme, host }) => `${scheme} ${host}`));
  return known.length === places.length && names.size === places.length && places.length <= MOST_PLACES ? known : undefined;
}

function parsePlace(text: string, schemes: readonly Scheme[]): ServerPlace | undefined {
  const [, name, host = '', digits] = /^(\w+):\/\/(\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*):(\d{1,5})$/i.exec(text) ?? [];
  const scheme = schemes.find((one) => one === name);
  const port = Number(digits);
  const plain = host.replace(/^\[|\]$/g, '');
  const isRight = scheme !== undefined && port >= 1 && port <= MOST_PORT && (!host.startsWith('[') || isIPv6(plain));
  return isRight ? { scheme, host: plain, port } : undefined;
}
