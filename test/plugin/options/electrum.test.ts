import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newFolder } from '../../support/process/folders';
import { expectRefused, optionsOf, type Settings } from './real-config';
import type { ServerAbout } from '../../../lib/electrum/method';

/** Without ports of its own: Electrum clients can only connect through the node's HTTP server. */
const NO_PORTS = {
  plain: undefined,
  tls: undefined,
  certificate: undefined,
  maxSessions: 1_000,
  maxSubscriptions: 75_000,
  maxCost: 100_000,
  about: { banner: undefined, donationAddress: '', hosts: [], peers: [] }
};

describe('options for the Electrum protocol', () => {
  it('say where the Electrum protocol is answered, by default only on this machine', async () => {
    const electrumOf = async (settings: Settings): Promise<unknown> =>
      (await optionsOf({ 'rest-addresses': true, ...settings })).addresses?.electrum;
    expect(await electrumOf({})).to.deep.equal(NO_PORTS);
    const places: readonly (readonly [given: unknown, host: string, port: number])[] = [
      ['50001', '127.0.0.1', 50_001],
      [50_001, '127.0.0.1', 50_001],
      [':50001', '127.0.0.1', 50_001],
      ['0.0.0.0:1', '0.0.0.0', 1],
      ['electrum.example:65535', 'electrum.example', 65_535],
      ['[::]:50001', '::', 50_001]
    ];
    for (const [given, host, port] of places)
      expect(await electrumOf({ 'rest-electrum': given }), String(given)).to.deep.equal({ ...NO_PORTS, plain: { host, port } });
    const settings = {
      'rest-electrum-tls': 50_002,
      'rest-electrum-cert': '/tmp/a/../cert.pem',
      'rest-electrum-key': '/tmp/key.pem',
      'rest-electrum-sessions': 10,
      'rest-electrum-subscriptions': 20,
      'rest-electrum-cost': 0,
      'rest-max-history': 7
    };
    expect(await electrumOf(settings)).to.deep.equal({
      plain: undefined,
      tls: { host: '127.0.0.1', port: 50_002 },
      certificate: { certificate: '/tmp/cert.pem', key: '/tmp/key.pem' },
      maxSessions: 10,
      maxSubscriptions: 20,
      maxCost: 0,
      about: NO_PORTS.about
    });
    expect((await optionsOf({ 'rest-addresses': true, ...settings })).addresses?.maxHistory).to.equal(7);
  });

  it('stop the node if they are wrong', async () => {
    await expectRefused({ 'rest-electrum': 50_001 }, '--rest-electrum has no effect without --rest-addresses');
    const wrong: readonly (readonly [settings: Settings, message: string])[] = [
      ...['', 'true', 'localhost', '0', ':0', '65536', 'a b:50001', '::1:50001', '[1.2.3.4]:50001', '127.0.0.1:'].map(
        (place) => [{ 'rest-electrum': place }, '--rest-electrum must be host:port'] as const
      ),
      [{ 'rest-electrum': '1', 'rest-electrum-tls': ':1' }, '--rest-electrum and --rest-electrum-tls must be two ports'],
      [{ 'rest-electrum-tls': '1', 'rest-electrum-cert': '/tmp/a' }, 'must be given together'],
      [{ 'rest-electrum-tls': '1', 'rest-electrum-cert': '/tmp/a', 'rest-electrum-key': '' }, "must be a file, not ''"],
      [{ 'rest-electrum-cert': '/tmp/a', 'rest-electrum-key': '/tmp/b' }, '--rest-electrum-cert has no effect without --rest-electrum-tls']
    ];
    for (const [settings, message] of wrong) await expectRefused({ 'rest-addresses': true, ...settings }, message);
  });

  it('say what Electrum clients are told of the server and of others', async () => {
    const folder = await newFolder();
    const banner = join(folder, 'banner');
    await writeFile(banner, 'Guten Tag,\n€ welcome.\n');
    const aboutOf = async (settings: Settings): Promise<ServerAbout | undefined> =>
      (await optionsOf({ 'rest-addresses': true, ...settings })).addresses?.electrum.about;
    const settings = {
      'rest-electrum-banner': banner,
      'rest-electrum-donation': 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      'rest-electrum-hosts': 'tcp://electrum.example:50001,ssl://electrum.example:50002,wss://[2001:db8::1]:443',
      'rest-electrum-peers': 'ssl://a.example:1,tcp://b-c.onion:65535'
    };
    expect(await aboutOf(settings)).to.deep.equal({
      banner: 'Guten Tag,\n€ welcome.\n',
      donationAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      hosts: [
        { scheme: 'tcp', host: 'electrum.example', port: 50_001 },
        { scheme: 'ssl', host: 'electrum.example', port: 50_002 },
        { scheme: 'wss', host: '2001:db8::1', port: 443 }
      ],
      peers: [
        { scheme: 'ssl', host: 'a.example', port: 1 },
        { scheme: 'tcp', host: 'b-c.onion', port: 65_535 }
      ]
    });
    const [long, binary] = [join(folder, 'long'), join(folder, 'binary')];
    await writeFile(long, 'x'.repeat(16_385));
    await writeFile(binary, Buffer.of(0xff, 0xfe));
    const places = [
      '',
      'a.example:1',
      'http://a:1',
      'ssl://a:0',
      'ssl://a:65536',
      'ssl://a',
      'ssl://a:1/',
      'ssl://a:1,',
      'ssl://[1.2.3.4]:1'
    ];
    const wrong: readonly (readonly [settings: Settings, message: string])[] = [
      [{ 'rest-electrum-banner': '' }, "--rest-electrum-banner must be a file, not ''"],
      [{ 'rest-electrum-banner': join(folder, 'none') }, '--rest-electrum-banner cannot be read: ENOENT'],
      [{ 'rest-electrum-banner': long }, '--rest-electrum-banner must be a text of at most 16384 bytes in UTF-8'],
      [{ 'rest-electrum-banner': binary }, '--rest-electrum-banner must be a text of at most 16384 bytes in UTF-8'],
      [{ 'rest-electrum-donation': '' }, "--rest-electrum-donation must be an address, not ''"],
      ...[...places, 'ssl://a:1,ssl://a:2'].flatMap((text) =>
        ['hosts', 'peers'].map((name) => [{ [`rest-electrum-${name}`]: text }, `--rest-electrum-${name} must be places such as`] as const)
      ),
      [{ 'rest-electrum-peers': 'wss://a.example:443' }, '--rest-electrum-peers must be places such as']
    ];
    for (const [given, message] of wrong) await expectRefused({ 'rest-addresses': true, ...given }, message);
  });
});
