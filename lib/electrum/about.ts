// Where this server and others can be reached, as clients are told.

import { PROTOCOLS, type ServerPlace } from './method';

const LETTERS = { tcp: 't', ssl: 's' } as const;

/** `hosts` of `server.features`: for each host its ports. */
export function hostsJson(places: readonly ServerPlace[]): Readonly<Record<string, Readonly<Record<string, number>>>> {
  return Object.fromEntries(
    byHost(places).map(([host, list]) => [host, Object.fromEntries(list.map(({ scheme, port }) => [`${scheme}_port`, port]))])
  );
}

/** What `server.peers.subscribe` gives: address, name, and features. Names are not looked up: they stand for the address, too. */
export function peersJson(places: readonly ServerPlace[]): readonly (readonly [string, string, readonly string[]])[] {
  return byHost(places).map(([host, list]) => [
    host,
    host,
    // Which version they speak is not known: all of them speak the first.
    [`v${PROTOCOLS[0]}`, ...list.flatMap(({ scheme, port }) => (scheme === 'tcp' || scheme === 'ssl' ? `${LETTERS[scheme]}${port}` : []))]
  ]);
}

function byHost(places: readonly ServerPlace[]): [string, ServerPlace[]][] {
  const hosts = new Map<string, ServerPlace[]>();
  for (const place of places) hosts.set(place.host, [...(hosts.get(place.host) ?? []), place]);
  return [...hosts];
}
