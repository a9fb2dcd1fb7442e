// Which addresses count as one client, and how much one client may have.

import { isIPv6, SocketAddress } from 'node:net';

/** The share that one client may take of what all have together. */
export const CLIENT_SHARE = 0.25;

/** The address as the system writes it, without a zone. An IPv4 address is one also as `::ffff:…` (RFC 4291, 2.5.5.2). */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const { address: written } = new SocketAddress({ address: address.replace(/%.*/, ''), family: 'ipv6' });
  return written.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Whether an address is of the node's machine. */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || plain.startsWith('127.');
}

/** What an internet provider gives to one customer: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function groupOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - behind.length;
  return [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...behind].slice(0, 4).join(':');
}
