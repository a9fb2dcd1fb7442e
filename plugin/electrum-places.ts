// Places of Electrum servers, as operators write them: `ssl://electrum.example:50002`, with commas between them.

import { isIPv6 } from 'node:net';
import type { ServerPlace } from '../lib/electrum/method';

type Scheme = ServerPlace['scheme'];

const MOST_PLACES = 100;
const MOST_PORT = 65_535;

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
