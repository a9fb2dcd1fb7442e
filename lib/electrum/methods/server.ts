// Methods about the server itself.

import { toDisplayHex } from '../../bitcoin/hash';
import { hostsJson, peersJson } from '../about';
import { listOf, mapOf, named, object, tuple, type Schema } from '../../describe/schema';
import { BLOCK_HASH, COUNT, TEXT } from '../../describe/values';
import { PROTOCOLS, type Method, type MethodContext } from '../method';

const NO_PARAMETERS = { parameters: [], required: 0 } as const;

/** What `server.features` gives. */
const FEATURES = named(
  'Features',
  object({
    hosts: {
      ...mapOf(TEXT, object({}, { tcp_port: COUNT, ssl_port: COUNT, ws_port: COUNT, wss_port: COUNT })),
      description: 'Where the server is reached: ports by host.'
    },
    pruning: { type: 'null' },
    server_version: TEXT,
    protocol_min: TEXT,
    protocol_max: TEXT,
    genesis_hash: BLOCK_HASH,
    hash_function: { const: 'sha256' }
  })
);

const PEER = tuple(
  { ...TEXT, description: 'The host again: its address is not looked up.' },
  { ...TEXT, description: 'The host.' },
  { ...listOf(TEXT), description: 'The lowest version that it speaks, and its ports: t50001 for TCP, s50002 for TLS.' }
);

export function serverMethods({ node, version, about }: MethodContext): Readonly<Record<string, Method>> {
  const software = `bcoin-rest ${version}`;
  const constant = (summary: string, result: Schema, value: unknown): Method => {
    const text = JSON.stringify(value);
    return { about: { summary, parameters: [], result }, ...NO_PARAMETERS, answer: () => text };
  };
  return {
    'server.banner': constant('A text for the user.', TEXT, about.banner ?? `Welcome to ${software}.`),
    'server.donation_address': constant('An address for donations, or nothing.', TEXT, about.donationAddress),
    // Electrum leaves a server with another genesis block.
    'server.features': constant('What the server is.', FEATURES, {
      hosts: hostsJson(about.hosts),
      pruning: null,
      server_version: software,
      protocol_min: PROTOCOLS[0],
      protocol_max: PROTOCOLS.at(-1),
      genesis_hash: toDisplayHex(node.network.genesisHash),
      hash_function: 'sha256'
    }),
    // Only the operator names other servers: announcements of them are refused.
    'server.peers.subscribe': constant('Other servers.', listOf(PEER), peersJson(about.peers)),
    'server.add_peer': {
      about: {
        summary: 'Announces another server.',
        parameters: [{ type: 'object', description: 'What that server is.' }],
        result: { const: false, description: 'Announcements are refused.' }
      },
      parameters: ['features'],
      required: 1,
      answer: () => 'false'
    },
    'server.ping': constant('Keeps the connection open.', { type: 'null' }, null)
  };
}
