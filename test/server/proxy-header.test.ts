import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ProxyHeaderError, proxyHeaderIn } from '../../lib/server/ports/proxy-header';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** A header of version 2. `addresses`: what follows its head. */
const binary = (versionAndCommand: number, family: number, addresses: Buffer): Buffer => {
  const head = Buffer.from([versionAndCommand, family, 0, 0]);
  head.writeUInt16BE(addresses.length, 2);
  return Buffer.concat([SIGNATURE, head, addresses]);
};

const ADDRESSES_4 = Buffer.from([192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x34, 0, 80]);
const ADDRESSES_6 = Buffer.concat([Buffer.from('20010db8000000000000000000000001', 'hex'), Buffer.alloc(16, 1), Buffer.from([1, 2, 3, 4])]);

const MAPPED = Buffer.concat([Buffer.from('00000000000000000000ffffc0000207', 'hex'), Buffer.alloc(16, 1), Buffer.from([1, 2, 3, 4])]);

const GOOD: readonly (readonly [string, Buffer, string | undefined])[] = [
  ['IPv4 in text', Buffer.from('PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n'), '192.0.2.7'],
  ['IPv6 in text', Buffer.from('PROXY TCP6 2001:db8::1 ::1 56324 443\r\n'), '2001:db8::1'],
  ['an unknown client in text', Buffer.from('PROXY UNKNOWN\r\n'), undefined],
  ['an unknown client with addresses', Buffer.from('PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n'), undefined],
  ['IPv4 in binary', binary(0x21, 0x11, ADDRESSES_4), '192.0.2.7'],
  ['IPv6 in binary', binary(0x21, 0x21, ADDRESSES_6), '2001:db8::1'],
  ['IPv4 in binary as IPv6', binary(0x21, 0x21, MAPPED), '::ffff:192.0.2.7'],
  ['further fields', binary(0x21, 0x11, Buffer.concat([ADDRESSES_4, Buffer.alloc(100)])), '192.0.2.7'],
  ['the proxy itself', binary(0x20, 0x00, Buffer.alloc(0)), undefined],
  ['a socket of Unix', binary(0x21, 0x31, Buffer.alloc(216)), undefined]
];

describe('the header of the PROXY protocol', () => {
  for (const [name, header, client] of GOOD)
    it(`names ${name}, and is read in any pieces`, () => {
      const bytes = Buffer.concat([header, Buffer.from('{"id":1}\n')]);
      expect(proxyHeaderIn(bytes)).to.deep.equal({ length: header.length, client });
      for (let end = 0; end < header.length; end++) expect(proxyHeaderIn(bytes.subarray(0, end)), `${end}`).to.equal(undefined);
    });

  it('is refused with a reason', () => {
    const refused = (bytes: Buffer | string, reason: string): void => {
      expect(() => proxyHeaderIn(Buffer.from(bytes as string, 'latin1')), String(bytes)).to.throw(ProxyHeaderError, reason);
    };
    refused('{"id":1}\n', 'the connection does not begin with one');
    refused('GET / HTTP/1.1\r\n', 'the connection does not begin with one');
    refused('PROXY TCP4 192.0.2.7 10.0.0.1 1\r\n', 'its line is malformed');
    refused('PROXY TCP4 192.0.2.7 10.0.0.1 1 99999\r\n', 'its addresses are malformed');
    refused('PROXY TCP4 ::1 10.0.0.1 1 2\r\n', 'its addresses are malformed');
    refused(`PROXY UNKNOWN ${'x'.repeat(200)}`, 'its line is too long');
    refused(binary(0x11, 0x11, ADDRESSES_4), 'its version or command is unknown');
    refused(binary(0x22, 0x11, ADDRESSES_4), 'its version or command is unknown');
    refused(binary(0x21, 0x11, ADDRESSES_4.subarray(1)), 'its addresses are cut off');
    refused(binary(0x21, 0x11, Buffer.alloc(5_000)), 'it is too long');
  });

  it('is read, refused or awaited, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(SIGNATURE, Buffer.from('PROXY '), Buffer.alloc(0)), fc.uint8Array({ maxLength: 300 }), (start, rest) => {
        const bytes = Buffer.concat([start, rest]);
        try {
          const header = proxyHeaderIn(bytes);
          expect(header === undefined || header.length <= bytes.length).to.equal(true);
        } catch (error) {
          expect(error).to.be.instanceOf(ProxyHeaderError);
        }
      })
    );
  });
});
