// The node's peers. bcoin knows less of them than Bitcoin Core does: what it does not know has the value that says so.

import { CallError } from '../../answers/errors';
import { described, listOf, mapOf, named, object } from '../../describe/schema';
import { BYTES, COINS, COUNT, FLAG, HEIGHT, INTEGER, NUMBER, TEXT, TIME } from '../../describe/values';
import { plainAnswer, type CallDefinition } from '../call';
import { serviceNames } from './network';

const PEER = named(
  'Peer',
  object(
    {
      id: COUNT,
      addr: described('host:port.', TEXT),
      network: { enum: ['ipv4', 'ipv6', 'onion', 'not_publicly_routable'] },
      services: { type: 'string', pattern: '^[0-9a-f]{16}$', description: 'The service bits in hex.' },
      servicesnames: listOf(TEXT),
      relaytxes: described('Whether it wants transactions.', FLAG),
      last_inv_sequence: COUNT,
      inv_to_send: COUNT,
      lastsend: TIME,
      lastrecv: TIME,
      last_transaction: described('0: not known.', TIME),
      last_block: described('0: not known.', TIME),
      bytessent: BYTES,
      bytesrecv: BYTES,
      conntime: described('When it connected, Unix time in seconds.', TIME),
      timeoffset: described('Seconds.', INTEGER),
      version: COUNT,
      subver: described('What the peer tells of itself.', TEXT),
      inbound: FLAG,
      bip152_hb_to: FLAG,
      bip152_hb_from: FLAG,
      presynced_headers: described('-1: none.', INTEGER),
      synced_headers: described('-1: not known.', INTEGER),
      synced_blocks: described('-1: not known.', INTEGER),
      inflight: listOf(HEIGHT),
      addr_relay_enabled: FLAG,
      addr_processed: COUNT,
      addr_rate_limited: COUNT,
      permissions: listOf(TEXT),
      minfeefilter: COINS,
      bytessent_per_msg: mapOf(TEXT, BYTES),
      bytesrecv_per_msg: mapOf(TEXT, BYTES),
      connection_type: { enum: ['inbound', 'outbound-full-relay'] },
      transport_protocol_type: { const: 'v1' },
      session_id: TEXT
    },
    { addrlocal: TEXT, pingtime: described('Seconds.', NUMBER), minping: described('Seconds.', NUMBER) }
  )
);

export const peerCalls = {
  getconnectioncount: {
    summary: 'How many peers the node has.',
    parameters: [],
    result: () => COUNT,
    answer: (_, { node }) => {
      const { inbound, outbound } = node.networkStatus();
      return plainAnswer(inbound + outbound);
    }
  },
  getpeerinfo: {
    summary: "The node's peers.",
    parameters: [],
    result: () => listOf(PEER),
    answer: async (_, { node }) => {
      const { result, error } = await node.ownCall('getpeerinfo', []);
      if (error !== null) throw new CallError(error.code, error.message);
      const now = Math.floor(Date.now() / 1_000);
      return plainAnswer((result as readonly NodePeer[]).map((peer) => peerOf(peer, now))); // bcoin's answer has this shape
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** As bcoin's own call has it. */
interface NodePeer {
  readonly id: number;
  readonly addr: string;
  readonly addrlocal?: string;
  /** Hex. */
  readonly services: string;
  readonly relaytxes: boolean;
  readonly lastsend: number;
  readonly lastrecv: number;
  readonly bytessent: number;
  readonly bytesrecv: number;
  /** Seconds since it connected. */
  readonly conntime: number;
  readonly timeoffset: number;
  /** -1: not known; so is `minping`. */
  readonly pingtime: number;
  readonly minping: number;
  readonly version: number;
  readonly subver: string;
  readonly inbound: boolean;
  readonly bestheight: number;
}

function peerOf(peer: NodePeer, now: number): object {
  return {
    id: peer.id,
    addr: peer.addr,
    ...(peer.addrlocal !== undefined && { addrlocal: peer.addrlocal }),
    network: networkOf(peer.addr),
    services: peer.services.padStart(16, '0'),
    servicesnames: serviceNames(parseInt(peer.services, 16)),
    relaytxes: peer.relaytxes,
    last_inv_sequence: 0,
    inv_to_send: 0,
    lastsend: peer.lastsend,
    lastrecv: peer.lastrecv,
    last_transaction: 0,
    last_block: 0,
    bytessent: peer.bytessent,
    bytesrecv: peer.bytesrecv,
    conntime: now - peer.conntime,
    timeoffset: peer.timeoffset,
    ...(peer.pingtime >= 0 && { pingtime: peer.pingtime }),
    ...(peer.minping >= 0 && { minping: peer.minping }),
    version: peer.version,
    subver: peer.subver,
    inbound: peer.inbound,
    bip152_hb_to: false,
    bip152_hb_from: false,
    presynced_headers: -1,
    synced_headers: peer.bestheight,
    synced_blocks: -1,
    inflight: [],
    addr_relay_enabled: true,
    addr_processed: 0,
    addr_rate_limited: 0,
    permissions: [],
    minfeefilter: 0,
    bytessent_per_msg: {},
    bytesrecv_per_msg: {},
    connection_type: peer.inbound ? 'inbound' : 'outbound-full-relay',
    transport_protocol_type: 'v1',
    session_id: ''
  };
}

function networkOf(address: string): string {
  const host = address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  if (host.endsWith('.onion')) return 'onion';
  if (host === '::1' || /^(?:127|10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\./.test(host) || /^f[cde]/i.test(host))
    return 'not_publicly_routable';
  return host.includes(':') ? 'ipv6' : 'ipv4';
}
