import type { AddressInfo } from 'node:net';
import type { HttpHost } from '../../node/types/http-host';

/** `scheme://address:port` of a server that listens; IPv6 in brackets. */
export function serverUrl({ server }: Pick<HttpHost, 'server'>): string {
  const { address, port, family } = server.address() as AddressInfo; // it listens on a port
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
