// Calls about the node itself: what it is, and how it is connected.

import { LIMITS } from '../../policy/limits';
import { described, listOf, mapOf, named, object, type Schema } from '../../describe/schema';
import { CORE_FEE_RATE, COUNT, FLAG, HEIGHT, INTEGER, TEXT } from '../../describe/values';
import { warningsSchema, writeWarnings } from '../../views/chain-info';
import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, plainAnswer, type CallContext, type CallDefinition } from '../call';
import type { NetworkStatus } from '../../node/types/source';
import type { ProfileFields } from '../../views/profile';

/** The edition of Bitcoin Core's interface: 10000 * major + 100 * minor; 99 is a development branch. */
const INTERFACE_VERSION = 319_900;

/** Bitcoin Core's names of the service bits. */
const SERVICES: Readonly<Record<number, string | undefined>> = {
  0: 'NETWORK',
  2: 'BLOOM',
  3: 'WITNESS',
  6: 'COMPACT_FILTERS',
  10: 'NETWORK_LIMITED',
  11: 'P2P_V2'
};
const SERVICE_BITS = 32;

const NETWORKS = ['ipv4', 'ipv6', 'onion', 'i2p', 'cjdns'] as const;

export const networkCalls = {
  getnetworkinfo: {
    summary: 'The node, and how it is connected.',
    parameters: [],
    result: networkInfoSchema,
    answer: (_, context) => jsonAnswer(networkInfoJson(context))
  },
  getzmqnotifications: {
    summary: 'What is published over ZeroMQ, and where.',
    parameters: [],
    result: () => listOf(object({ type: TEXT, address: TEXT, hwm: { ...COUNT, description: 'Messages that wait for one subscriber.' } })),
    answer: (_, { notifiers }) => plainAnswer(notifiers.map(({ topic, address, hwm }) => ({ type: `pub${topic}`, address, hwm })))
  },
  uptime: {
    summary: 'Since when the node runs.',
    parameters: [],
    result: () => ({ ...COUNT, description: 'Seconds.' }),
    answer: (_, { host }) => plainAnswer(host.uptime)
  },
  getindexinfo: {
    summary: 'The indexes, and how far each is.',
    parameters: [
      { name: 'index_name', type: 'string', isOptional: true, schema: { ...TEXT, description: 'Only the index of this name.' } }
    ],
    result: () => mapOf(TEXT, named('IndexInfo', object({ synced: FLAG, best_block_height: HEIGHT }))),
    answer: (parameters, context) => {
      const wanted = parameters.optionalText(0) ?? '';
      return plainAnswer(Object.fromEntries(indexesOf(context).filter(([name]) => wanted === '' || name === wanted)));
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

function networkInfoJson({ node, version, profile, warnings }: CallContext): Buffer {
  const status = node.networkStatus();
  const { minRelayFeeRate } = node.pool.info();
  const writer = new JsonWriter();
  writer.integerField('{"version":', INTERFACE_VERSION);
  writer.ascii(',"subversion":');
  writer.string(`${status.agent}bcoin-rest:${version}/`);
  writer.integerField(',"protocolversion":', status.protocolVersion);
  writer.ascii(`,"localservices":"${status.services.toString(16).padStart(16, '0')}"`);
  writer.ascii(`,"localservicesnames":${JSON.stringify(serviceNames(status.services))}`);
  writer.ascii(`,"localrelay":${status.relays},"timeoffset":${status.timeOffset},"networkactive":${status.isActive}`);
  writer.ascii(`,"connections":${status.inbound + status.outbound}`);
  writer.ascii(`,"connections_in":${status.inbound},"connections_out":${status.outbound},"networks":`);
  writer.utf8(JSON.stringify(NETWORKS.map((name) => networkOf(name, status))));
  writer.amountField(',"relayfee":', minRelayFeeRate);
  writer.amountField(',"incrementalfee":', LIMITS.incrementalRate);
  writer.ascii(',"localaddresses":');
  writer.utf8(JSON.stringify(status.localAddresses));
  writeWarnings(writer, warnings(), profile.fields);
  writer.ascii('}');
  return writer.toBuffer();
}

/** What `networkInfoJson` writes. */
function networkInfoSchema(fields: ProfileFields): Schema {
  const network = object({
    name: { enum: [...NETWORKS] },
    limited: FLAG,
    reachable: FLAG,
    proxy: described('host:port, or empty.', TEXT),
    proxy_randomize_credentials: FLAG
  });
  const address = object({ address: TEXT, port: COUNT, score: COUNT });
  return named(
    'NetworkInfo',
    object({
      version: described('The edition: 10000 * major + 100 * minor.', COUNT),
      subversion: described('What the node tells its peers of itself.', TEXT),
      protocolversion: COUNT,
      localservices: { type: 'string', pattern: '^[0-9a-f]{16}$', description: 'The service bits in hex.' },
      localservicesnames: listOf(TEXT),
      localrelay: FLAG,
      timeoffset: described('Seconds.', INTEGER),
      networkactive: FLAG,
      connections: COUNT,
      connections_in: COUNT,
      connections_out: COUNT,
      networks: listOf(named('Network', network)),
      relayfee: CORE_FEE_RATE,
      incrementalfee: CORE_FEE_RATE,
      localaddresses: listOf(named('LocalAddress', address)),
      warnings: warningsSchema(fields)
    })
  );
}

/** Bitcoin Core's names of service bits. */
export function serviceNames(services: number): string[] {
  const bits = Array.from({ length: SERVICE_BITS }, (_, bit) => bit).filter((bit) => (services >>> bit) % 2 === 1);
  return bits.map((bit) => SERVICES[bit] ?? `UNKNOWN[2^${bit}]`);
}

function networkOf(name: (typeof NETWORKS)[number], { proxy, onion }: NetworkStatus): object {
  const isReachable = name === 'ipv4' || name === 'ipv6' || (name === 'onion' && onion);
  return { name, limited: !isReachable, reachable: isReachable, proxy: (isReachable && proxy) || '', proxy_randomize_credentials: false };
}

/** The indexes under Bitcoin Core's names, and how far each is. */
function indexesOf({ reader, filters }: CallContext): [string, object][] {
  const { tip, backfilling } = reader.read((snapshot) => snapshot);
  const indexes: [string, object][] = [['txindex', { synced: backfilling === undefined, best_block_height: tip.height }]];
  // Missing filters are made from the newest block down: once the genesis block has its filter, all blocks have one.
  const hasAll = filters && reader.read((snapshot) => snapshot.filterAt(0)) !== undefined;
  return filters ? [...indexes, ['basic block filter index', { synced: hasAll, best_block_height: tip.height }]] : indexes;
}
