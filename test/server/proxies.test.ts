import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Proxies } from '../../lib/server/bounds/proxies';

const clientOf = (
  remoteAddress: string,
  headers: Readonly<Record<string, string>>,
  proxies = ['10.0.0.0/8', 'fd00::/8', '127.0.0.1']
): string | undefined => new Proxies(proxies).clientOf({ socket: { remoteAddress }, headers });

describe('the client of a request', () => {
  it('is whoever is connected, whatever the headers say, unless that is a trusted proxy', () => {
    const headers = { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' };
    expect(clientOf('9.9.9.9', headers)).to.equal('9.9.9.9');
    expect(clientOf('11.0.0.1', headers)).to.equal('11.0.0.1');
    expect(clientOf('127.0.0.1', headers, [])).to.equal('127.0.0.1');
  });

  it('is named by a trusted proxy, in either header', () => {
    expect(clientOf('10.1.2.3', { 'x-forwarded-for': '1.2.3.4' })).to.equal('1.2.3.4');
    expect(clientOf('::ffff:10.1.2.3', { 'x-forwarded-for': '2001:db8::1' })).to.equal('2001:db8::1');
    expect(clientOf('fd00::5', { forwarded: 'for=1.2.3.4;proto=https;by=10.0.0.1' })).to.equal('1.2.3.4');
    expect(clientOf('10.0.0.1', { forwarded: 'proto=https; For="[2001:db8:cafe::17]:4711"' })).to.equal('2001:db8:cafe::17');
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '1.2.3.4:5678' })).to.equal('1.2.3.4');
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '::ffff:1.2.3.4' })).to.equal('1.2.3.4');
  });

  it('is the last one that is no trusted proxy: earlier ones may be made up', () => {
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.0.0.2,10.0.0.3' })).to.equal('1.2.3.4');
    expect(clientOf('10.0.0.1', { forwarded: 'for=6.6.6.6, for=1.2.3.4, for="10.0.0.2:80"' })).to.equal('1.2.3.4');
  });

  it('is the first of the proxies if there is nobody else', () => {
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '10.0.0.9, 10.0.0.8' })).to.equal('10.0.0.9');
  });

  it('is the proxy itself if what it says cannot be read, or says nothing', () => {
    for (const told of ['', 'unknown', '_hidden', '1.2.3', '1.2.3.4, nobody', '<script>'])
      expect(clientOf('10.0.0.1', { 'x-forwarded-for': told }), told).to.equal('10.0.0.1');
    const endless = `for=${' '.repeat(400_000)}a b`;
    for (const told of ['for=unknown', 'for="_secret"', 'by=1.2.3.4', 'for=', 'for=1.2.3.4, proto=http', endless])
      expect(clientOf('10.0.0.1', { forwarded: told }), told.slice(0, 30)).to.equal('10.0.0.1');
  });

  it('is the proxy itself if the two headers name different clients, since one of them may be made up', () => {
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=6.6.6.6' })).to.equal('10.0.0.1');
    expect(clientOf('10.0.0.1', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' })).to.equal('1.2.3.4');
  });
});

describe('trusted proxies', () => {
  it('are addresses and networks, and nothing else', () => {
    for (const network of ['10.0.0.1', '10.0.0.0/8', 'fd00::/8', '::1']) expect(() => new Proxies([network]), network).not.to.throw();
    for (const network of ['', 'proxy', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/x', '/8', 'fd00::/129'])
      expect(() => new Proxies([network]), network).to.throw();
  });
});

describe("the node's own clients", () => {
  it('connect from its machine, but not through a proxy there', () => {
    expect(new Proxies([]).isOwn('127.0.0.1')).to.equal(true);
    expect(new Proxies(['127.0.0.1']).isOwn('127.0.0.1')).to.equal(false);
    expect(new Proxies(['127.0.0.1']).isOwn('::ffff:127.0.0.1')).to.equal(false);
    expect(new Proxies(['127.0.0.1']).isOwn('::1')).to.equal(true);
    expect(new Proxies(['10.0.0.0/8']).isOwn('10.0.0.1')).to.equal(false);
  });
});
