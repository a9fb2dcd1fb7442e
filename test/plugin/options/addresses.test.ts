import { expect } from 'chai';
import { describe, it } from 'mocha';
import { expectRefused, optionsOf, type Settings } from './real-config';

describe('options of the index by script', () => {
  it('switch on an index by script, and set the access to it', async () => {
    const { addresses } = await optionsOf({ 'rest-addresses': true });
    expect(addresses).to.deep.include({
      path: '/api',
      cors: undefined,
      socket: undefined,
      search: false,
      mining: false,
      broadcast: true,
      maxUnspent: 500,
      maxHistory: 80_000
    });
    const others = {
      'rest-addresses': true,
      'rest-addresses-path': '/esplora/v1',
      'rest-cors': 'https://wallet.example,http://localhost:3000',
      'rest-no-broadcast': true,
      'rest-max-unspent': 2_000,
      'rest-addresses-socket': '/tmp/a/../wallets.sock',
      'rest-addresses-socket-mode': '600',
      'rest-addresses-search': true,
      'rest-mining': true
    };
    expect((await optionsOf(others)).addresses).to.deep.include({
      path: '/esplora/v1',
      cors: ['https://wallet.example', 'http://localhost:3000'],
      socket: { path: '/tmp/wallets.sock', mode: 0o600 },
      search: true,
      mining: true,
      broadcast: false,
      maxUnspent: 2_000,
      maxHistory: 80_000
    });
    expect((await optionsOf({ 'rest-addresses': true, 'rest-cors': '*' })).addresses?.cors).to.equal('*');
  });

  it('stop the node if they are wrong', async () => {
    const wrong: readonly (readonly [settings: Settings, message: string])[] = [
      [{ 'rest-cors': '*' }, '--rest-cors has no effect without --rest-addresses'],
      [{ 'rest-addresses': false, 'rest-cors': '*' }, '--rest-cors has no effect without --rest-addresses'],
      [{ 'rest-max-unspent': 7 }, '--rest-max-unspent has no effect without --rest-addresses'],
      [{ 'rest-addresses': true, 'rest-addresses-socket': '' }, "--rest-addresses-socket must be a file, not ''"],
      [
        { 'rest-addresses': true, 'rest-addresses-socket': `/tmp/${'x'.repeat(97)}é` },
        '--rest-addresses-socket must be a path of at most 103 bytes'
      ],
      [
        { 'rest-addresses': true, 'rest-addresses-socket-mode': '600' },
        '--rest-addresses-socket-mode has no effect without --rest-addresses-socket'
      ],
      ...['', '6', '0660', '680', 'rw'].map(
        (mode) =>
          [
            { 'rest-addresses': true, 'rest-addresses-socket': '/tmp/a', 'rest-addresses-socket-mode': mode },
            '--rest-addresses-socket-mode must be three octal digits such as 660'
          ] as const
      ),
      [{ 'rest-mining': true }, '--rest-mining has no effect without --rest-addresses'],
      [{ 'rest-addresses-search': true }, '--rest-addresses-search has no effect without --rest-addresses'],
      [{ 'rest-addresses': true, prune: true }, '--rest-addresses needs all blocks and their undo data'],
      ...['', 'api', '/', '/api/', '/a?b', '/a b', '/..', '/./x', '/a/...'].map(
        (path) => [{ 'rest-addresses': true, 'rest-addresses-path': path }, '--rest-addresses-path must be a path such as /api'] as const
      ),
      ...['', 'wallet.example', 'https://wallet.example/', 'https://a.example, https://b.example', 'null'].map(
        (origins) => [{ 'rest-addresses': true, 'rest-cors': origins }, '--rest-cors must be origins'] as const
      )
    ];
    for (const [settings, message] of wrong) await expectRefused(settings, message);
  });

  it('leave paths to the parts that have them', async () => {
    const owners = {
      "Bitcoin Core's interface": ['/rest', '/rest/api'],
      'the Electrum protocol': ['/electrum', '/electrum/api'],
      payments: ['/pay', '/pay/api'],
      'the explorer': ['/explorer', '/explorer/api'],
      'the health of a fleet': ['/fleet', '/fleet/health'],
      bcoin: [
        ...['/wallet', '/wallet/primary', '/tx', '/tx/address', '/coin', '/block', '/header', '/filter', '/mempool', '/broadcast'],
        ...['/fee', '/reset', '/socket.io']
      ]
    };
    const at = (path: string): Settings => ({ 'rest-addresses': true, 'rest-addresses-path': path });
    for (const [owner, paths] of Object.entries(owners))
      for (const path of paths) {
        const message = `--rest-addresses-path must be a free path: /${path.split('/')[1] ?? ''} is for ${owner}, not '${path}'`;
        await expectRefused(at(path), message);
      }
    for (const path of ['/blocks', '/api/tx', '/restful', '/v1/wallet']) expect((await optionsOf(at(path))).addresses).to.include({ path });
  });
});
