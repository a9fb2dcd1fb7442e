// The header of the PROXY protocol, versions 1 and 2, with which a proxy begins a connection and names the client. Why this is our own:
// docs/decisions/packages.md. The protocol: https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt

import { isIPv4, isIPv6, SocketAddress, type Socket } from 'node:net';

const SIGNATURE_2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const SIGNATURE_1 = Buffer.from('PROXY ');

/** With the line's end; the protocol's own bound. */
const MOST_BYTES_1 = 107;

/** Signature, version and command, family, length. */
const HEAD_BYTES_2 = 16;

/** What may follow the head of version 2: addresses, and what proxies add to them. */
const MOST_BYTES_2 = 4_096;

const LINE_1 = /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|(TCP[46]) (\S+) (\S+) (\d{1,5}) (\d{1,5}))\r\n$/;

/** The proxy does not speak the protocol. */
export class ProxyHeaderError extends Error {
  override readonly name = 'ProxyHeaderError';
}

export interface ProxyHeader {
  /** Bytes of the header. */
  readonly length: number;
  /** The client's IP address; undefined: the proxy speaks for itself, or does not know. */
  readonly client: string | undefined;
}

/** The header that bytes begin with; undefined: some of it has yet to come. @throws ProxyHeaderError */
export function proxyHeaderIn(bytes: Buffer): ProxyHeader | undefined {
  if (beginsWith(bytes, SIGNATURE_2)) return bytes.length < HEAD_BYTES_2 ? undefined : readBinary(bytes);
  if (!beginsWith(bytes, SIGNATURE_1)) throw new ProxyHeaderError('the connection does not begin with one');
  const end = bytes.subarray(0, MOST_BYTES_1).indexOf('\r\n');
  if (end >= 0) return readLine(bytes.toString('latin1', 0, end + 2));
  if (bytes.length >= MOST_BYTES_1) throw new ProxyHeaderError('its line is too long');
  return undefined;
}

/** Whether the bytes are the beginning of a text, or begin with it. */
function beginsWith(bytes: Buffer, text: Buffer): boolean {
  const length = Math.min(bytes.length, text.length);
  return bytes.compare(text, 0, length, 0, length) === 0;
}

/** @throws ProxyHeaderError */
function readLine(line: string): ProxyHeader {
  const match = LINE_1.exec(line);
  if (match === null) throw new ProxyHeaderError('its line is malformed');
  const [, family, client, server = '', ...ports] = match;
  if (family === undefined || client === undefined) return { length: line.length, client: undefined };
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  if (!isAddress(client) || !isAddress(server) || ports.some((port) => Number(port) > 0xffff))
    throw new ProxyHeaderError('its addresses are malformed');
  return { length: line.length, client };
}

/** @throws ProxyHeaderError */
function readBinary(bytes: Buffer): ProxyHeader | undefined {
  const [version, command] = [(bytes[12] as number) >> 4, (bytes[12] as number) & 0x0f]; // the head is there
  const family = (bytes[13] as number) >> 4;
  const more = bytes.readUInt16BE(14);
  if (version !== 2 || command > 1) throw new ProxyHeaderError(`its version or command is unknown`);
  if (more > MOST_BYTES_2) throw new ProxyHeaderError('it is too long');
  const length = HEAD_BYTES_2 + more;
  if (bytes.length < length) return undefined;
  // LOCAL: the proxy itself connects, for example to see whether the service is there.
  if (command === 0) return { length, client: undefined };
  if (family === 1) return { length, client: addressAt(bytes, 4, more, (part) => [...part].join('.')) };
  if (family === 2) return { length, client: addressAt(bytes, 16, more, ipv6Text) };
  return { length, client: undefined };
}

/** The first of two addresses of this many bytes, which two ports follow. @throws ProxyHeaderError */
function addressAt(bytes: Buffer, size: number, more: number, text: (part: Buffer) => string): string {
  if (more < 2 * size + 4) throw new ProxyHeaderError('its addresses are cut off');
  return text(bytes.subarray(HEAD_BYTES_2, HEAD_BYTES_2 + size));
}

/** As the system writes it for connections: HAProxy names clients with IPv4 as `::ffff:…` if only one side of its connection has IPv6. */
function ipv6Text(part: Buffer): string {
  const address = Array.from({ length: 8 }, (_, i) => part.readUInt16BE(2 * i).toString(16)).join(':');
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

/**
 * Takes the header off a connection that nobody has read from. Gives the client's address; undefined: that of the connection itself.
 * What follows can be read from the socket as if nothing had come before. Resolves to `closed` when the connection ends before it has sent
 * anything.
 * @throws ProxyHeaderError also if the header has not come within `timeoutMs`
 */
export function takeProxyHeader(socket: Socket, timeoutMs: number): Promise<ProxyHeader | 'closed'> {
  return new Promise((resolve, reject) => {
    let begun: Buffer = Buffer.alloc(0);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('readable', read);
      socket.off('close', gone);
      settle();
    };
    const fail = (error: Error): void => {
      end(() => {
        reject(error);
      });
    };
    const gone = (): void => {
      if (begun.length > 0) fail(new ProxyHeaderError('the connection ended within it'));
      else
        end(() => {
          resolve('closed');
        });
    };
    const read = (): void => {
      for (let piece = socket.read() as Buffer | null; piece !== null; piece = socket.read() as typeof piece) {
        begun = Buffer.concat([begun, piece]);
        try {
          const header = proxyHeaderIn(begun);
          if (header === undefined) continue;
          const rest = begun.subarray(header.length);
          end(() => {
            if (rest.length > 0) socket.unshift(rest);
            resolve(header);
          });
        } catch (error) {
          fail(error as Error); // of proxyHeaderIn
        }
        return;
      }
    };
    const timer = setTimeout(() => {
      fail(new ProxyHeaderError('it did not come in time'));
    }, timeoutMs);
    socket.on('readable', read);
    socket.once('close', gone);
  });
}
