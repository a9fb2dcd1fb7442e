import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { DEFAULT_LIMITS } from '../../lib/server/limits';
import { PROFILES } from '../../lib/views/profile';
import { OptionError } from '../../plugin/options/errors';
import { readOptions, type RestOptions } from '../../plugin/options/rest-options';
import { newFolder } from '../support/folders';
import { createRegtestNode } from '../support/regtest-node';
import type { ServerAbout } from '../../lib/electrum/method';
import type { HostConfig } from '../../lib/node/host';

/** The configuration of a real node with these settings. */
async function configOf(settings: Readonly<Record<string, unknown>>): Promise<HostConfig> {
  return (await createRegtestNode({ settings })).config;
}

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

describe('the options', () => {
  it('have the defaults of the reference', async () => {
    expect(readOptions(await configOf({}))).to.deep.equal({
      warmup: 'synced',
      witness: true,
      auth: false,
      explorer: false,
      undoDepth: 4_320,
      cacheBytes: 201_326_592,
      catchUpCacheBytes: 268_435_456,
      answerCacheBytes: 67_108_864,
      bootstrap: 'blocks',
      filters: false,
      spentHashes: false,
      scrubMs: 86_400_000,
      modernPool: false,
      trustedProxies: [],
      metrics: undefined,
      notifiers: [],
      profile: PROFILES['0.17'],
      limits: { ...DEFAULT_LIMITS, threads: 4, workQueue: 16 }
    });
    expect(DEFAULT_LIMITS).to.include({ timeoutMs: 30_000, maxOutpoints: 15, maxHeaders: 2000 });
  });

  it("select today's Bitcoin Core, with its own defaults, and deprecated fields", async () => {
    const modern = readOptions(await configOf({ 'rest-core': 'modern' }));
    expect(modern).to.deep.include({ profile: PROFILES.modern });
    expect(modern.limits).to.include({ threads: 16, workQueue: 64 });
    const { profile } = readOptions(await configOf({ 'rest-core': 'modern', 'rest-deprecated': 'bip125,warnings' }));
    expect(profile).to.deep.equal({ ...PROFILES.modern, fields: { ...PROFILES.modern.fields, bip125: true, warningsInList: false } });
  });

  it('name a user for JSON-RPC besides the API key', async () => {
    const { rpcUser } = readOptions(await configOf({ 'rest-core': 'modern', 'rest-rpc-user': 'alice:open:sesame' }));
    expect(rpcUser).to.equal('alice:open:sesame');
    for (const user of ['alice', 'alice:', ':sesame']) {
      const config = await configOf({ 'rest-core': 'modern', 'rest-rpc-user': user });
      expect(() => readOptions(config), user).to.throw(OptionError, '--rest-rpc-user must be a user, a colon and a password');
    }
  });

  it('name the calls that users of JSON-RPC may make', async () => {
    const settings = { 'rest-core': 'modern', 'rest-rpc-user': 'alice:sesame' };
    const { rpcWhitelists } = readOptions(await configOf({ ...settings, 'rest-rpc-whitelist': 'alice:uptime,rpc.discover __cookie__:' }));
    expect(rpcWhitelists).to.deep.equal(
      new Map([
        ['alice', new Set(['uptime', 'rpc.discover'])],
        ['__cookie__', new Set()]
      ])
    );
    for (const [whitelist, words] of [
      ['alice', "must be a user, a colon and calls separated by commas, not 'alice'"],
      ['alice:uptime,', "must be a user, a colon and calls separated by commas, not 'alice:uptime,'"],
      ['alice:up time', "must be a user, a colon and calls separated by commas, not 'time'"],
      ['bob:uptime', "must be of the user of --rest-rpc-user or of __cookie__, not 'bob'"],
      ['alice:uptime alice:help', "names 'alice' twice"]
    ] as const) {
      const config = await configOf({ ...settings, 'rest-rpc-whitelist': whitelist });
      expect(() => readOptions(config), whitelist).to.throw(OptionError, `--rest-rpc-whitelist ${words}`);
    }
  });

  it('switch on an index by script, and set the access to it', async () => {
    const { addresses } = readOptions(await configOf({ 'rest-addresses': true }));
    expect(addresses).to.deep.equal({
      path: '/api',
      cors: undefined,
      socket: undefined,
      search: false,
      mining: false,
      broadcast: true,
      maxUnspent: 500,
      maxHistory: 80_000,
      electrum: NO_PORTS
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
    expect(readOptions(await configOf(others)).addresses).to.deep.equal({
      path: '/esplora/v1',
      cors: ['https://wallet.example', 'http://localhost:3000'],
      socket: { path: '/tmp/wallets.sock', mode: 0o600 },
      search: true,
      mining: true,
      broadcast: false,
      maxUnspent: 2_000,
      maxHistory: 80_000,
      electrum: NO_PORTS
    });
    expect(readOptions(await configOf({ 'rest-addresses': true, 'rest-cors': '*' })).addresses?.cors).to.equal('*');
  });

  it('say where the Electrum protocol is answered, by default only on this machine', async () => {
    const electrumOf = async (settings: Readonly<Record<string, unknown>>): Promise<unknown> =>
      readOptions(await configOf({ 'rest-addresses': true, ...settings })).addresses?.electrum;
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
    expect(readOptions(await configOf({ 'rest-addresses': true, ...settings })).addresses?.maxHistory).to.equal(7);
  });

  it('say what Electrum clients are told of the server and of others', async () => {
    const folder = await newFolder();
    const banner = join(folder, 'banner');
    await writeFile(banner, 'Guten Tag,\n€ welcome.\n');
    const aboutOf = async (settings: Readonly<Record<string, unknown>>): Promise<ServerAbout | undefined> =>
      readOptions(await configOf({ 'rest-addresses': true, ...settings })).addresses?.electrum.about;
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
    const wrong: readonly (readonly [settings: Readonly<Record<string, unknown>>, message: string])[] = [
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
    for (const [given, message] of wrong) {
      const config = await configOf({ 'rest-addresses': true, ...given });
      expect(() => readOptions(config), JSON.stringify(given)).to.throw(OptionError, message);
    }
  });

  it('for the index by script stop the node if they are wrong', async () => {
    const wrong: readonly (readonly [settings: Readonly<Record<string, unknown>>, message: string])[] = [
      [{ 'rest-cors': '*' }, '--rest-cors has no effect without --rest-addresses'],
      [{ 'rest-max-unspent': 7 }, '--rest-max-unspent has no effect without --rest-addresses'],
      [{ 'rest-electrum': 50_001 }, '--rest-electrum has no effect without --rest-addresses'],
      ...['', 'true', 'localhost', '0', ':0', '65536', 'a b:50001', '::1:50001', '[1.2.3.4]:50001', '127.0.0.1:'].map(
        (place) => [{ 'rest-addresses': true, 'rest-electrum': place }, '--rest-electrum must be host:port'] as const
      ),
      [
        { 'rest-addresses': true, 'rest-electrum': '1', 'rest-electrum-tls': ':1' },
        '--rest-electrum and --rest-electrum-tls must be two ports'
      ],
      [{ 'rest-addresses': true, 'rest-electrum-tls': '1', 'rest-electrum-cert': '/tmp/a' }, 'must be given together'],
      [
        { 'rest-addresses': true, 'rest-electrum-tls': '1', 'rest-electrum-cert': '/tmp/a', 'rest-electrum-key': '' },
        "must be a file, not ''"
      ],
      [
        { 'rest-addresses': true, 'rest-electrum-cert': '/tmp/a', 'rest-electrum-key': '/tmp/b' },
        '--rest-electrum-cert has no effect without --rest-electrum-tls'
      ],
      [{ 'rest-addresses': true, 'rest-addresses-socket': '' }, "--rest-addresses-socket must be a file, not ''"],
      [
        { 'rest-addresses': true, 'rest-addresses-socket': `/tmp/${'x'.repeat(99)}` },
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
    for (const [settings, message] of wrong) {
      const config = await configOf(settings);
      expect(() => readOptions(config), JSON.stringify(settings)).to.throw(OptionError, message);
    }
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
    const read = async (path: string): Promise<() => RestOptions> => {
      const config = await configOf({ 'rest-addresses': true, 'rest-addresses-path': path });
      return () => readOptions(config);
    };
    for (const [owner, paths] of Object.entries(owners)) {
      for (const path of paths) {
        const message = `--rest-addresses-path must be a free path: /${path.split('/')[1] ?? ''} is for ${owner}, not '${path}'`;
        expect(await read(path), path).to.throw(OptionError, message);
      }
    }
    for (const path of ['/blocks', '/api/tx', '/restful', '/v1/wallet']) expect((await read(path))().addresses).to.include({ path });
  });

  it('are accepted under the names of Bitcoin Core', async () => {
    const { witness, limits } = readOptions(await configOf({ rpcserialversion: 0, rpcthreads: '7', rpcworkqueue: 33, rpctimeout: '5' }));
    expect(witness).to.equal(false);
    expect(limits).to.include({ threads: 7, workQueue: 33, timeoutMs: 5_000 });
  });

  it('are accepted under their own names, which take precedence', async () => {
    const { limits } = readOptions(
      await configOf({ 'rest-threads': '9', rpcthreads: '7', 'rest-max-body': 600, 'rest-max-outpoints': '20', 'rest-max-headers': 5 })
    );
    expect(limits).to.include({ threads: 9, maxBodyBytes: 600, maxOutpoints: 20, maxHeaders: 5 });
  });

  it('have two ways to build an empty index', async () => {
    expect(readOptions(await configOf({ 'rest-bootstrap': 'coins' })).bootstrap).to.equal('coins');
    expect(readOptions(await configOf({ 'rest-bootstrap': 'blocks' })).bootstrap).to.equal('blocks');
    const config = await configOf({ 'rest-bootstrap': 'utxos' });
    expect(() => readOptions(config)).to.throw(OptionError, "--rest-bootstrap must be one of blocks, coins, not 'utxos'");
  });

  it('are read from a configuration file as well', async () => {
    const config = await configOf({});
    Object.assign(config.data, { restthreads: '3', restwarmup: 'indexed' });
    expect(readOptions(config)).to.deep.include({ warmup: 'indexed' });
    expect(readOptions(config).limits.threads).to.equal(3);
  });

  it('say how much memory coins may take, in MiB', async () => {
    expect(readOptions(await configOf({ 'rest-cache': '4' }))).to.include({
      cacheBytes: 3_145_728,
      catchUpCacheBytes: 4_194_304,
      answerCacheBytes: 1_048_576
    });
  });

  it('say in how many hours the files of the index are checked once', async () => {
    expect(readOptions(await configOf({ 'rest-scrub': '168' })).scrubMs).to.equal(604_800_000);
    expect(readOptions(await configOf({ 'rest-scrub': 0 })).scrubMs).to.equal(0);
    const config = await configOf({ 'rest-scrub': 169 });
    expect(() => readOptions(config)).to.throw(OptionError, "--rest-scrub must be a whole number from 0 to 168, not '169'");
  });

  it('say for how many blocks undo records are kept', async () => {
    expect(readOptions(await configOf({ 'rest-undo': '1' })).undoDepth).to.equal(1);
    expect(readOptions(await configOf({ 'rest-undo': 1_000_000 })).undoDepth).to.equal(1_000_000);
  });

  it('require the API key only if the node has one', async () => {
    expect(readOptions(await configOf({ 'rest-auth': 'true', 'api-key': 'sesame' })).auth).to.equal(true);
    expect(readOptions(await configOf({ 'rest-auth': false })).auth).to.equal(false);
    const config = await configOf({ 'rest-auth': true });
    expect(() => readOptions(config)).to.throw(OptionError, '--rest-auth needs the node to have a key: set --api-key');
  });

  it('accept payments only if a folder is given, and name the URL for customers', async () => {
    const { payments } = readOptions(
      await configOf({ 'rest-payments': '/tmp/shop/../shop', 'rest-payments-url': 'https://shop.example/a', 'api-key': 'sesame' })
    );
    expect(payments).to.deep.equal({ folder: '/tmp/shop', publicUrl: 'https://shop.example/a', notifyOrigins: [] });
    const told = { 'rest-payments': '/tmp/shop', 'rest-payments-notify': 'https://a.example,http://127.0.0.1:8080', 'api-key': 'sesame' };
    expect(readOptions(await configOf(told)).payments?.notifyOrigins).to.deep.equal(['https://a.example', 'http://127.0.0.1:8080']);
    const wrongPayments: readonly [Readonly<Record<string, unknown>>, string][] = [
      [{ 'rest-payments': '/tmp/shop' }, '--rest-payments needs the node to have a key: set --api-key'],
      [{ 'rest-payments': '', 'api-key': 'sesame' }, "--rest-payments must be a folder, not ''"],
      [{ 'rest-payments-url': 'https://shop.example' }, '--rest-payments-url has no effect without --rest-payments'],
      [{ 'rest-payments-notify': 'https://shop.example' }, '--rest-payments-notify has no effect without --rest-payments'],
      ...[
        'https://shop.example/paid',
        'shop.example',
        '*',
        'https://a.example,',
        Array.from({ length: 17 }, () => 'https://a.example').join()
      ].map((origins): [Record<string, string>, string] => [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-notify': origins },
        '--rest-payments-notify must be at most 16 origins such as https://shop.example, separated by commas'
      ]),
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://shop.example/' },
        "--rest-payments-url must be an http or https address without a slash at its end, not 'https://shop.example/'"
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'shop.example' },
        '--rest-payments-url must be an http or https address'
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://:80' },
        '--rest-payments-url must be an http or https address'
      ],
      [
        { 'rest-payments': '/tmp/shop', 'api-key': 'sesame', 'rest-payments-url': 'https://l\u00e4den.example' },
        '--rest-payments-url must be an http or https address'
      ]
    ];
    for (const [settings, sentence] of wrongPayments) {
      const config = await configOf(settings);
      expect(() => readOptions(config), sentence).to.throw(OptionError, sentence);
    }
  });

  const wrong: readonly [name: string, value: unknown, sentence: string][] = [
    ['rest-core', '31', "--rest-core must be one of 0.17, modern, not '31'"],
    ['rest-deprecated', 'bip125,', "--rest-deprecated must be some of bip125, fullrbf, warnings, separated by commas, not 'bip125,'"],
    ['rest-deprecated', 'bip125', '--rest-deprecated has no effect without --rest-core=modern'],
    ['rest-rpc-user', 'alice:sesame', '--rest-rpc-user has no effect without --rest-core=modern'],
    ['rest-rpc-whitelist', '__cookie__:uptime', '--rest-rpc-whitelist has no effect without --rest-core=modern'],
    ['rpcthreads', '0', "--rpcthreads must be a whole number from 1 to 1000, not '0'"],
    ['rest-threads', 'four', "--rest-threads must be a whole number from 1 to 1000, not 'four'"],
    ['rest-threads', '-1', "--rest-threads must be a whole number from 1 to 1000, not '-1'"],
    ['rest-threads', '1.5', "--rest-threads must be a whole number from 1 to 1000, not '1.5'"],
    ['rest-threads', '', "--rest-threads must be a whole number from 1 to 1000, not ''"],
    ['rest-threads', 'true', "--rest-threads must be a whole number from 1 to 1000, not 'true'"],
    ['rpcworkqueue', '100001', "--rpcworkqueue must be a whole number from 1 to 100000, not '100001'"],
    ['rpctimeout', '0', "--rpctimeout must be a whole number from 1 to 86400, not '0'"],
    ['rpcserialversion', '2', "--rpcserialversion must be a whole number from 0 to 1, not '2'"],
    ['rest-max-body', '1e3', "--rest-max-body must be a whole number from 1 to 33554432, not '1e3'"],
    ['rest-max-outpoints', '0', "--rest-max-outpoints must be a whole number from 1 to 10000, not '0'"],
    ['rest-max-headers', '0', "--rest-max-headers must be a whole number from 1 to 100000, not '0'"],
    ['rest-cache', '3', "--rest-cache must be a whole number from 4 to 4096, not '3'"],
    ['rest-cache', '4097', "--rest-cache must be a whole number from 4 to 4096, not '4097'"],
    ['rest-undo', '0', "--rest-undo must be a whole number from 1 to 1000000, not '0'"],
    ['rest-undo', '1000001', "--rest-undo must be a whole number from 1 to 1000000, not '1000001'"],
    ['rest-warmup', 'never', "--rest-warmup must be one of synced, indexed, not 'never'"],
    ['rest-auth', 'maybe', "--rest-auth must be true or false, not 'maybe'"],
    ['rest-thread', '4', '--rest-thread is not an option of the REST service; did you mean --rest-threads?'],
    ['rest-feed', 'a', '--rest-feed must be the addresses of servers, such as nats://a:4222,b,c'],
    ['rest-feed', 'nats://me:secret@', '--rest-feed must be the addresses of servers, such as nats://a:4222,b,c'],
    ['rest-feed-lead', 'never', '--rest-feed-lead has no effect without --rest-feed'],
    ['rest-nats-creds', 'creds', '--rest-nats-creds has no effect without --rest-feed'],
    ['rest-nats', 'nats://a', '--rest-nats is for readers of a fleet (bcoin-rest reader), not for a node'],
    ['rest', '1', '--rest is not needed: the plugin answers /rest wherever it is loaded'],
    ['rest-picture', 'red', '--rest-picture is not an option of the REST service; it knows --rest-core, ']
  ];
  for (const [name, value, sentence] of wrong) {
    it(`are refused with a sentence: ${name} = '${String(value)}'`, async () => {
      const config = await configOf({ [name]: value });
      expect(() => readOptions(config)).to.throw(OptionError, sentence);
    });
  }

  it('are named as they stand on the command line', async () => {
    process.argv.push('--restart=5');
    try {
      const config = await configOf({ argv: true });
      expect(() => readOptions(config)).to.throw(OptionError, /^--restart is not an option of the REST service; /);
    } finally {
      process.argv.pop();
    }
  });

  describe('in the environment', () => {
    const set = new Set<string>();
    afterEach(() => {
      for (const name of set) Reflect.deleteProperty(process.env, name);
      set.clear();
    });

    /** The configuration of a node with this variable. */
    async function configWith(name: string, value: string): Promise<HostConfig> {
      set.add(name);
      process.env[name] = value;
      return await configOf({ env: true });
    }

    it('are accepted', async () => {
      expect(readOptions(await configWith('BCOIN_REST_THREADS', '3')).limits.threads).to.equal(3);
    });

    const refused: readonly [name: string, value: string, sentence: string][] = [
      ['BCOIN_REST_THREAD', '4', 'BCOIN_REST_THREAD is not an option of the REST service; did you mean BCOIN_REST_THREADS?'],
      ['BCOIN_REST_threads', '4', 'BCOIN_REST_threads is not an option of the REST service; did you mean BCOIN_REST_THREADS?'],
      ['BCOIN_REST_MAX_BOBY', '', 'BCOIN_REST_MAX_BOBY is not an option of the REST service; did you mean BCOIN_REST_MAX_BODY?'],
      ['BCOIN_REST', '1', 'BCOIN_REST is not needed: the plugin answers /rest wherever it is loaded'],
      ['BCOIN_REST_PICTURE', 'red', 'BCOIN_REST_PICTURE is not an option of the REST service; it knows BCOIN_REST_CORE, ']
    ];
    for (const [name, value, sentence] of refused) {
      it(`are refused with a sentence: ${name}='${value}'`, async () => {
        const config = await configWith(name, value);
        expect(() => readOptions(config)).to.throw(OptionError, sentence);
      });
    }
  });
});
