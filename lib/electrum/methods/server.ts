// Methods about the server itself.

import { toDisplayHex } from '../../bitcoin/hash';
import { named, object, type Schema } from '../../describe/schema';
import { BLOCK_HASH, TEXT } from '../../describe/values';
import { PROTOCOLS, type Method, type MethodContext } from '../method';

const NO_PARAMETERS = { parameters: [], required: 0 } as const;

/** What `server.features` gives. */
const FEATURES = named(
  'Features',
  object({
    hosts: { type: 'object', description: 'Where the server is reached; empty.' },
    pruning: { type: 'null' },
    server_version: TEXT,
    protocol_min: TEXT,
    protocol_max: TEXT,
    genesis_hash: BLOCK_HASH,
    hash_function: { const: 'sha256' }
  })
);

export function serverMethods({ node, version }: MethodContext): Readonly<Record<string, Method>> {
  const software = `bcoin-rest ${version}`;
  const constant = (summary: string, result: Schema, value: unknown): Method => {
    const text = JSON.stringify(value);
    return { about: { summary, parameters: [], result }, ...NO_PARAMETERS, answer: () => text };
  };
  return {
    'server.banner': constant('A text for the user.', TEXT, `Welcome to ${software}.`),
    'server.donation_address': constant('An address for donations, or nothing.', TEXT, ''),
    // Electrum leaves a server with another genesis block.
    'server.features': constant('What the server is.', FEATURES, {
      hosts: {},
      pruning: null,
      server_version: software,
      protocol_min: PROTOCOLS[0],
      protocol_max: PROTOCOLS.at(-1),
      genesis_hash: toDisplayHex(node.network.genesisHash),
      hash_function: 'sha256'
    }),
    // The server knows no other servers, and refuses announcements of them.
    'server.peers.subscribe': constant('Other servers.', { type: 'array', maxItems: 0 }, []),
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
