// The ports on which the process listens. Two options that name the same one would be noticed hours later, when the second part answers.

import { networkNamed } from '../../lib/fleet/reader/networks';
import { OptionError } from './errors';
import { LOOPBACK } from './values';
import type { HostConfig } from '../../lib/node/host';
import type { SocketAddress } from '../../lib/server/ports/listener';

/** On all addresses of the machine. */
const ALL_HOSTS: readonly string[] = ['0.0.0.0', '::'];

/** `named`: options and what they name, beside the port of the HTTP server. @throws OptionError if two of them are one port */
export function requireOwnPorts(config: HostConfig, named: Readonly<Record<string, SocketAddress | undefined>>): void {
  const ports = Object.entries<SocketAddress | undefined>({ 'http-port': httpAddress(config), ...named });
  for (const [i, [name, endpoint]] of ports.entries()) {
    const [other] =
      ports.slice(0, i).find(([, before]) => endpoint !== undefined && before !== undefined && areOne(before, endpoint)) ?? [];
    if (other !== undefined) throw new OptionError(`--${other} and --${name} must be two ports`);
  }
}

/** As bcoin and readers have it. */
function httpAddress(config: HostConfig): SocketAddress {
  const port = Number(config.get('http-port') ?? networkNamed(String(config.get('network') ?? 'main'))?.httpPort);
  return { host: String(config.get('http-host') ?? LOOPBACK), port };
}

function areOne(a: SocketAddress, b: SocketAddress): boolean {
  const [host, other] = [a, b].map((each) => (each.host.toLowerCase() === 'localhost' ? LOOPBACK : each.host));
  return a.port === b.port && (host === other || ALL_HOSTS.includes(a.host) || ALL_HOSTS.includes(b.host));
}
