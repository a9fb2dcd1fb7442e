// Methods about the server itself.

import { toDisplayHex } from '../../bitcoin/hash';
import { PROTOCOLS, type Method, type MethodContext } from '../method';

const NO_PARAMETERS = { parameters: [], required: 0 } as const;

export function serverMethods({ node, version }: MethodContext): Readonly<Record<string, Method>> {
  const software = `bcoin-rest ${version}`;
  const constant = (value: unknown): Method => {
    const text = JSON.stringify(value);
    return { ...NO_PARAMETERS, answer: () => text };
  };
  return {
    'server.banner': constant(`Welcome to ${software}.`),
    'server.donation_address': constant(''),
    // Electrum leaves a server with another genesis block.
    'server.features': constant({
      hosts: {},
      pruning: null,
      server_version: software,
      protocol_min: PROTOCOLS[0],
      protocol_max: PROTOCOLS.at(-1),
      genesis_hash: toDisplayHex(node.network.genesisHash),
      hash_function: 'sha256'
    }),
    // The server knows no other servers, and refuses announcements of them.
    'server.peers.subscribe': constant([]),
    'server.add_peer': { parameters: ['features'], required: 1, answer: () => 'false' },
    'server.ping': constant(null)
  };
}
