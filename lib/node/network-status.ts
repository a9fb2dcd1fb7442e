// The node as its peers see it.

import type { HostNode } from './host';
import type { NetworkStatus } from './types';

export function networkStatus({ pool, network }: Pick<HostNode, 'pool' | 'network'>): NetworkStatus {
  const { options, peers, hosts, connected } = pool;
  return {
    agent: options.agent,
    protocolVersion: options.version,
    services: options.services,
    relays: !options.noRelay,
    timeOffset: network.time.offset,
    isActive: connected,
    inbound: peers.inbound,
    outbound: peers.outbound,
    proxy: options.proxy ?? undefined,
    onion: options.onion,
    localAddresses: Array.from(hosts.local.values(), ({ addr, score }) => ({ address: addr.host, port: addr.port, score }))
  };
}
