// Proxies in front of the service, and which client asks through one of them (`--rest-trusted-proxies`). What a proxy says is believed only if
// the connection comes from an address that the operator has named.

import { BlockList, isIP, isIPv6 } from 'node:net';
import { groupOf, isLoopback, plainAddress } from './address-group';
import type { IncomingMessage } from 'node:http';

/** As many proxies in a row as are looked at. */
const MOST_HOPS = 32;

/** An element of Forwarded (RFC 7239, 4) may name the client with `for=`, quoted or not. */
const FORWARDED_FOR = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;\s]+))\s*(?:;|$)/i;

/** An address without a port: `1.2.3.4`, `1.2.3.4:80`, `[::1]`, `[::1]:80`, `::1`. */
const NODE = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+)(?::\d+)?|([\da-f:.]+))$/i;

/** What a request tells about where it comes from. */
export type Forwarded = Pick<IncomingMessage, 'headers'> & { readonly socket: { readonly remoteAddress?: string | undefined } };

export class Proxies {
  readonly #list = new BlockList();
  readonly #isEmpty: boolean;

  /** `networks`: addresses, or networks such as `10.0.0.0/8`. @throws for a text that is neither */
  constructor(networks: readonly string[]) {
    this.#isEmpty = networks.length === 0;
    for (const network of networks) {
      const [address = '', bits, ...more] = network.split('/');
      const type = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) throw new RangeError(`${network} is no network`);
      if (bits === undefined) this.#list.addAddress(address, type);
      else this.#list.addSubnet(address, Number(bits), type);
    }
  }

  /** Whether an address is that of a proxy. */
  trusts(address: string): boolean {
    if (this.#isEmpty) return false;
    const plain = plainAddress(address);
    const version = isIP(plain);
    return version !== 0 && this.#list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  }

  /** Whether an address is of the node's machine and its own: through a proxy there, clients come from elsewhere. */
  readonly isOwn = (address: string): boolean => isLoopback(address) && !this.trusts(address);

  /** Whose share of a limit a client has; undefined: clients of the node's machine have none, only the limit of all. */
  shareOf(address: string | undefined): string | undefined {
    return address === undefined || this.isOwn(address) ? undefined : groupOf(address);
  }

  /**
   * The address of the client that makes a request: of the connection, or if that is of a proxy, the last one in the headers that is not.
   * A proxy sets one of the two headers and may pass on the other one as a client has made it up, so if they name different clients, neither
   * is believed. Undefined for a connection that is closed.
   */
  clientOf({ headers, socket: { remoteAddress } }: Forwarded): string | undefined {
    if (this.#isEmpty || remoteAddress === undefined || !this.trusts(remoteAddress)) return remoteAddress;
    const named = headers['x-forwarded-for'];
    const hops =
      named === undefined ? undefined : (Array.isArray(named) ? named.join() : named).split(',').map((hop) => addressIn(hop.trim()));
    const { forwarded } = headers;
    const standard = forwarded?.split(',').map(forwardedFor);
    const [client, other] = [hops, standard].map((list) => list && this.#lastClient(list));
    if (client !== undefined && other !== undefined && client !== other) return remoteAddress;
    return client ?? other ?? remoteAddress;
  }

  /** The last one that is no proxy, or the first one if all are. Undefined if what a proxy says cannot be read. */
  #lastClient(hops: readonly (string | undefined)[]): string | undefined {
    const last = hops.slice(-MOST_HOPS);
    const at = last.findLastIndex((hop) => hop === undefined || !this.trusts(hop));
    return last[Math.max(0, at)];
  }
}

/** Nobody is trusted. */
export const NO_PROXIES = new Proxies([]);

function forwardedFor(element: string): string | undefined {
  const [, quoted, plain = ''] = FORWARDED_FOR.exec(element) ?? [];
  return addressIn(quoted ?? plain);
}

function addressIn(text: string): string | undefined {
  const [, bracketed, version4, version6] = NODE.exec(text) ?? [];
  const address = bracketed ?? version4 ?? version6 ?? '';
  return isIP(address) === 0 ? undefined : plainAddress(address);
}
