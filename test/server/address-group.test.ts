import { expect } from 'chai';
import { describe, it } from 'mocha';
import { groupOf, isLoopback } from '../../lib/server/bounds/address-group';
import { proxyHeaderIn } from '../../lib/server/ports/proxy-header';

describe('addresses', () => {
  it('count together if one customer has them', () => {
    expect(groupOf('192.0.2.1')).to.equal('192.0.2.1');
    expect(groupOf('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2');
    expect(groupOf('2001:db8::6')).to.equal('2001:db8:0:0');
    expect(groupOf('fe80::1:2:3:4:5')).to.equal('fe80:0:0:1');
    expect(groupOf('fe80::1%eth0')).to.equal('fe80:0:0:0');
    expect(groupOf('')).to.equal('');
  });

  it('are the same however they are written', () => {
    for (const text of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:c000:0201'])
      expect(groupOf(text), text).to.equal('192.0.2.1');
    for (const text of ['2001:0DB8::1', '2001:db8:0:0::1', '2001:0db8:0000:0000:0000:0000:0000:0001'])
      expect(groupOf(text), text).to.equal('2001:db8:0:0');
  });

  it('with IPv4 count one by one behind a proxy that names them as IPv6', () => {
    const groups = [1, 2].map((last) => {
      const head = Buffer.from('0d0a0d0a000d0a515549540a21210024', 'hex');
      const addresses = Buffer.from(`00000000000000000000ffffc000020${last}00000000000000000000ffffc6336401`, 'hex');
      return groupOf(proxyHeaderIn(Buffer.concat([head, addresses, Buffer.alloc(4)]))?.client ?? '');
    });
    expect(groups).to.deep.equal(['192.0.2.1', '192.0.2.2']);
  });

  it('are of the node’s machine in IPv4 and IPv6', () => {
    const own = ['127.0.0.1', '::ffff:127.0.0.2', '::FFFF:7f00:1', '::1', '0:0:0:0:0:0:0:1'];
    for (const address of own) expect(isLoopback(address), address).to.equal(true);
    for (const address of ['192.0.2.1', '1.127.0.1', '::2', '::127.0.0.1', '127::1', ''])
      expect(isLoopback(address), address).to.equal(false);
  });
});
