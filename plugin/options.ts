// The operator's settings, read and checked once, from flags, environment and bcoin.conf. An invalid setting stops the node with an
// error that names the option.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Proxies } from '../lib/server/bounds/proxies';
import { PROFILES, withDeprecated, type Profile } from '../lib/views/profile';
import { parseNatsUrls, type NatsAccess } from '../lib/fleet/log/access';
import { parseAddress, TOPICS, type Notifier, type Topic } from '../lib/zmq/topics';
import { optionOf, OPTIONS, type ChoiceOf, type OptionName, type Role } from './option-table';
import { parsePlaces } from './electrum-places';
import { messageOf } from '../lib/turns/error-text';
import { unknownOption } from './unknown-options';
import type { ServerAbout, ServerPlace } from '../lib/electrum/method';
import type { BootstrapFrom } from '../lib/index/types';
import type { HostConfig } from '../lib/node/host';
import type { Limits } from '../lib/server/limits';
import type { CertificatePaths } from '../lib/server/ports/certificate-files';
import type { Endpoint } from '../lib/server/ports/listener';

export interface RestOptions {
  /** The edition of Bitcoin Core's interface that is spoken. */
  readonly profile: Profile;
  /** When the gate opens: once node and index are in sync, or once the index is at the node's tip. */
  readonly warmup: 'synced' | 'indexed';
  /** Whether `bin` and `hex` carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  /** Whether there is a page for browsers. */
  readonly explorer: boolean;
  /** How many blocks can be undone without the node. */
  readonly undoDepth: number;
  /** Memory for the coin cache once the index follows the chain. */
  readonly cacheBytes: number;
  /** Memory for the coin cache while the index catches up: all of `--rest-cache`, since no requests are answered then. */
  readonly catchUpCacheBytes: number;
  /** Memory for replies and the blocks they are made from. */
  readonly answerCacheBytes: number;
  /** What an empty index is built from. */
  readonly bootstrap: BootstrapFrom;
  /** Whether blocks have basic filters (BIP158). */
  readonly filters: boolean;
  /** How long one pass over the files of the open index takes (lib/follow/scrub.ts); 0: the files are not checked again. */
  readonly scrubMs: number;
  /** Whether the node gets today's pool. */
  readonly modernPool: boolean;
  readonly limits: Limits;
  /** Addresses and networks of proxies that name their clients. */
  readonly trustedProxies: readonly string[];
  /** Where metrics and health are answered; undefined: nowhere. */
  readonly metrics: Endpoint | undefined;
  /** `user:password` that is accepted for JSON-RPC besides the node's API key. */
  readonly rpcUser?: string;
  /** The calls that some users of JSON-RPC may make. */
  readonly rpcWhitelists?: ReadonlyMap<string, ReadonlySet<string>>;
  /** What ZeroMQ publishes, and where. */
  readonly notifiers: readonly Notifier[];
  /** Set if there is an index by script. */
  readonly addresses?: AddressOptions;
  /** Set if payments are accepted. */
  readonly payments?: PaymentOptions;
  /** Set for a node that feeds a fleet. */
  readonly feed?: FeedOptions;
  /** Set for a reader of a fleet. */
  readonly reader?: ReaderOptions;
}

export interface FeedOptions {
  readonly access: NatsAccess;
  /** Of this node in the fleet. */
  readonly name: string;
  /** Whether it may lead. */
  readonly leads: boolean;
}

export interface ReaderOptions {
  readonly nats: NatsAccess;
  /** Time without a word from a node, after which nothing is answered. */
  readonly staleMs: number;
  /** For blocks on the disk; 0: none are kept. */
  readonly blockCacheBytes: number;
  /** Whether bcoin's own calls are passed on to a node. */
  readonly forwardsCalls: boolean;
  /** How long blocks are held back at most until all readers have them; undefined: they are not. */
  readonly togetherMs: number | undefined;
}

export interface AddressOptions {
  /** The path of Esplora's API, without a slash at the end. */
  readonly path: string;
  /** Origins whose pages may read replies, or all; undefined: none. */
  readonly cors: readonly string[] | '*' | undefined;
  /** A Unix socket over which it is answered as well, and the mode of its file; undefined: there is none. */
  readonly socket: { readonly path: string; readonly mode: number } | undefined;
  /** Whether addresses can be searched for by how they begin, from a list of all of them. */
  readonly search: boolean;
  /** Whether blocks to mine are given out. */
  readonly mining: boolean;
  /** Whether transactions are accepted for broadcast. */
  readonly broadcast: boolean;
  /** The most coins in one reply. */
  readonly maxUnspent: number;
  /** The most transactions of a script in one reply over the Electrum protocol. */
  readonly maxHistory: number;
  readonly electrum: ElectrumOptions;
}

export interface ElectrumOptions {
  /** Where clients connect without TLS; undefined: there is no such port. */
  readonly plain: Endpoint | undefined;
  readonly tls: Endpoint | undefined;
  /** The operator's certificate for TLS and its key; undefined: the server makes its own. */
  readonly certificate: CertificatePaths | undefined;
  readonly maxSessions: number;
  /** The most scripts to which one client may subscribe. */
  readonly maxSubscriptions: number;
  /** Points above which a client is cut off; 0: nothing is counted. */
  readonly maxCost: number;
  /** What the server says of itself and of others. */
  readonly about: ServerAbout;
}

export interface PaymentOptions {
  readonly folder: string;
  /** The URL under which customers reach the node's HTTP server, without a slash at the end; by default the server's address. */
  readonly publicUrl: string | undefined;
  /** Where orders may have shops told of changes. */
  readonly notifyOrigins: readonly string[];
}

/** A setting that the service cannot use. */
export class OptionError extends Error {
  override readonly name = 'OptionError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // bcoin's own program prints the stack of the error that stops it, which does not help an operator.
    this.stack = message;
  }
}

const MIB = 1_024 * 1_024;
const GB = 1_000_000_000;
/** Blocks are not held back longer, so that one slow reader does not make all late. */
const TOGETHER_MS = 500;

const HOUR_MS = 3_600_000;

/** The coin cache's share of `--rest-cache` once the index follows; the rest is for answers. */
const COINS_SHARE = 0.75;

/** How the bytes of `--rest-cache` are divided. */
export function cacheShares(bytes: number): Pick<RestOptions, 'cacheBytes' | 'catchUpCacheBytes' | 'answerCacheBytes'> {
  return { cacheBytes: bytes * COINS_SHARE, catchUpCacheBytes: bytes, answerCacheBytes: bytes * (1 - COINS_SHARE) };
}

/** bcoin drops options like `--rest-auth=`, so a variable of the shell that is not set would leave them out without a word. @throws OptionError */
function refuseEmpty(args: readonly string[]): void {
  const empty = args.find((arg) => /^--rest[^=]*=$/.test(arg));
  if (empty !== undefined) throw new OptionError(`${empty.slice(0, -1)} is given without a value`);
}

/** @throws OptionError for an unknown `rest-…` option, one of another kind of process, or a value out of range. */
export function readOptions(config: HostConfig, role: Role = 'node'): RestOptions {
  refuseEmpty(process.argv);
  const unknown = unknownOption(config);
  if (unknown !== undefined) throw new OptionError(unknown);
  refuseOfOthers(config, role);
  refuseWithoutEffect(config);
  const read = new OptionReader(config);
  const payments = readPaymentOptions(read, config);
  const addresses = readAddressOptions(read, config);
  const profile = readProfile(read);
  const rpcUser = readRpcUser(config, profile);
  const rpcWhitelists = readRpcWhitelists(config, profile, rpcUser);
  const auth = read.flag('rest-auth');
  if (auth) requireApiKey('rest-auth', config);
  return {
    profile,
    warmup: read.choice('rest-warmup'),
    witness: read.integer('rest-serial-version') === 1,
    auth,
    explorer: read.flag('rest-explorer'),
    undoDepth: read.integer('rest-undo'),
    ...cacheShares(MIB * read.integer('rest-cache')),
    bootstrap: read.choice('rest-bootstrap'),
    filters: read.flag('rest-filters'),
    modernPool: read.choice('rest-pool') === 'modern',
    scrubMs: HOUR_MS * read.integer('rest-scrub'),
    limits: {
      threads: read.integer('rest-threads', profile.limits.threads),
      workQueue: read.integer('rest-work-queue', profile.limits.workQueue),
      timeoutMs: 1_000 * read.integer('rest-timeout'),
      readRate: read.integer('rest-read-rate'),
      maxBodyBytes: read.integer('rest-max-body'),
      maxOutpoints: read.integer('rest-max-outpoints'),
      maxHeaders: read.integer('rest-max-headers')
    },
    trustedProxies: readProxies(read),
    metrics: read.endpoint('rest-metrics'),
    notifiers: TOPICS.flatMap((topic) => readNotifiers(read, topic)),
    ...(rpcUser !== undefined && { rpcUser }),
    ...(rpcWhitelists && { rpcWhitelists }),
    ...(addresses && { addresses }),
    ...(payments && { payments }),
    ...feedOptions(read, config, role),
    ...(role === 'reader' && { reader: readReaderOptions(read, config) })
  };
}

function feedOptions(read: OptionReader, config: HostConfig, role: Role): Pick<RestOptions, 'feed'> {
  const urls = config.get('rest-feed');
  if (urls === null) {
    if (role === 'node' && config.has('rest-nats-creds')) throw new OptionError('--rest-nats-creds has no effect without --rest-feed');
    return {};
  }
  return {
    feed: {
      access: readNats(config, 'rest-feed', urls),
      name: read.text('rest-feed-name', 'a name of 1 to 60 letters, digits and -._:', (name) => /^[\w.:-]{1,60}$/.test(name)) || hostname(),
      leads: read.choice('rest-feed-lead') === 'auto'
    }
  };
}

function readNotifiers(read: OptionReader, topic: Topic): Notifier[] {
  const what = 'addresses as tcp://127.0.0.1:28332 or ipc:///run/zmq, with commas between them';
  const text = read.text(`rest-zmq-${topic}`, what, (value) => value.split(',').every((part) => parseAddress(part) !== undefined));
  const hwm = read.integer(`rest-zmq-${topic}hwm`);
  return text.split(',').flatMap((part) => {
    const address = parseAddress(part);
    return address === undefined ? [] : [{ topic, address, hwm }];
  });
}

/** Errors do not show the password. */
function readNats(config: HostConfig, name: string, urls: string | number | boolean): NatsAccess {
  const access = parseNatsUrls(String(urls), readFile(config, 'rest-nats-creds'));
  if (access === undefined) throw new OptionError(`--${name} must be the addresses of servers, as nats://a:4222,b,c`);
  return access;
}

function readReaderOptions(read: OptionReader, config: HostConfig): ReaderOptions {
  return {
    nats: readRestNats(config),
    staleMs: 1_000 * read.integer('rest-stale'),
    blockCacheBytes: GB * read.integer('rest-block-cache'),
    forwardsCalls: read.flag('rest-rpc-forward'),
    togetherMs: read.choice('rest-release') === 'together' ? TOGETHER_MS : undefined
  };
}

/** Where the log is. @throws OptionError */
export function readRestNats(config: HostConfig): NatsAccess {
  const urls = config.get('rest-nats');
  if (urls === null) throw new OptionError('--rest-nats is missing: where the servers of NATS are, as nats://a,b,c');
  return readNats(config, 'rest-nats', urls);
}

function readProfile(read: OptionReader): Profile {
  const edition = read.choice('rest-core');
  const deprecated = read.list('rest-deprecated');
  if (edition === '0.17' && deprecated.length > 0) throw new OptionError('--rest-deprecated has no effect without --rest-core=modern');
  return withDeprecated(PROFILES[edition], deprecated);
}

/** Errors do not show the password. */
function readRpcUser(config: HostConfig, { rpc }: Profile): string | undefined {
  const user = config.get('rest-rpc-user');
  if (user === null) return undefined;
  if (!rpc) throw new OptionError('--rest-rpc-user has no effect without --rest-core=modern');
  if (!/^[^:]+:./s.test(String(user))) throw new OptionError('--rest-rpc-user must be a user, a colon and a password');
  return String(user);
}

/** Bitcoin Core's name of whoever has read the cookie file. */
const COOKIE_USER = '__cookie__';

/** As Bitcoin Core's `rpcwhitelist`, with spaces between users. */
function readRpcWhitelists(config: HostConfig, { rpc }: Profile, rpcUser: string | undefined): RestOptions['rpcWhitelists'] {
  const text = config.get('rest-rpc-whitelist');
  if (text === null) return undefined;
  if (!rpc) throw new OptionError('--rest-rpc-whitelist has no effect without --rest-core=modern');
  const users = [COOKIE_USER, ...(rpcUser === undefined ? [] : [rpcUser.slice(0, rpcUser.indexOf(':'))])];
  const whitelists = new Map<string, ReadonlySet<string>>();
  for (const entry of String(text).trim().split(/\s+/)) {
    const [, user = '', calls = ''] = /^([^:]+):((?:[a-z][\w.]*,)*[a-z][\w.]*)?$/.exec(entry) ?? [];
    if (user === '')
      throw new OptionError(`--rest-rpc-whitelist must be a user, a colon and calls with commas between them, not '${entry}'`);
    if (!users.includes(user))
      throw new OptionError(`--rest-rpc-whitelist must be of the user of --rest-rpc-user or of ${COOKIE_USER}, not '${user}'`);
    if (whitelists.has(user)) throw new OptionError(`--rest-rpc-whitelist names '${user}' twice`);
    whitelists.set(user, new Set(calls.split(',').filter(Boolean)));
  }
  return whitelists;
}

function readAddressOptions(read: OptionReader, config: HostConfig): AddressOptions | undefined {
  if (!read.flag('rest-addresses')) return undefined;
  if (config.bool('prune', false))
    throw new OptionError('--rest-addresses needs all blocks and their undo data, which a node with --prune does not keep');
  return {
    path: readPath(read, 'rest-addresses-path'),
    cors: readOrigins(read),
    socket: readSocket(read, config),
    search: read.flag('rest-addresses-search'),
    mining: read.flag('rest-mining'),
    broadcast: !read.flag('rest-no-broadcast'),
    maxUnspent: read.integer('rest-max-unspent'),
    maxHistory: read.integer('rest-max-history'),
    electrum: readElectrumOptions(read, config)
  };
}

function readElectrumOptions(read: OptionReader, config: HostConfig): ElectrumOptions {
  const [plain, tls] = [read.endpoint('rest-electrum'), read.endpoint('rest-electrum-tls')];
  if (plain !== undefined && tls !== undefined && plain.host === tls.host && plain.port === tls.port)
    throw new OptionError('--rest-electrum and --rest-electrum-tls must be two ports');
  const [certificate, key] = [readFile(config, 'rest-electrum-cert'), readFile(config, 'rest-electrum-key')];
  if ((certificate === undefined) !== (key === undefined))
    throw new OptionError('--rest-electrum-cert and --rest-electrum-key must be given together');
  if (certificate !== undefined && tls === undefined)
    throw new OptionError('--rest-electrum-cert has no effect without --rest-electrum-tls');
  return {
    plain,
    tls,
    certificate: certificate === undefined || key === undefined ? undefined : { certificate, key },
    maxSessions: read.integer('rest-electrum-sessions'),
    maxSubscriptions: read.integer('rest-electrum-subscriptions'),
    maxCost: read.integer('rest-electrum-cost'),
    about: {
      banner: readBanner(config),
      donationAddress: read.text('rest-electrum-donation', 'an address', (value) => /^\w{1,128}$/.test(value)),
      hosts: readServerPlaces(read, 'rest-electrum-hosts', ['tcp', 'ssl', 'ws', 'wss']),
      peers: readServerPlaces(read, 'rest-electrum-peers', ['tcp', 'ssl'])
    }
  };
}

/** Wallets show it as a whole. */
const MOST_BANNER_BYTES = 16_384;

function readBanner(config: HostConfig): string | undefined {
  const path = readFile(config, 'rest-electrum-banner');
  if (path === undefined) return undefined;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new OptionError(`--rest-electrum-banner cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (bytes.length > MOST_BANNER_BYTES || !isUtf8(bytes))
    throw new OptionError(`--rest-electrum-banner must be a text of at most ${MOST_BANNER_BYTES} bytes in UTF-8: ${path}`);
  return bytes.toString();
}

function readServerPlaces(
  read: OptionReader,
  name: 'rest-electrum-hosts' | 'rest-electrum-peers',
  schemes: readonly ServerPlace['scheme'][]
): readonly ServerPlace[] {
  const what = `places as ssl://electrum.example:50002 (${schemes.join(', ')}), with commas between them, one of a kind for each host`;
  const text = read.text(name, what, (value) => parsePlaces(value, schemes) !== undefined);
  return text === '' ? [] : (parsePlaces(text, schemes) ?? []);
}

/** The system has this many bytes for it, and a zero behind; a longer path would be cut. */
const MOST_SOCKET_PATH = 103;

function readSocket(read: OptionReader, config: HostConfig): AddressOptions['socket'] {
  const path = readFile(config, 'rest-addresses-socket');
  const digits = read.text('rest-addresses-socket-mode', 'three octal digits as 660', (value) => /^[0-7]{3}$/.test(value));
  if (path === undefined) {
    if (config.has('rest-addresses-socket-mode'))
      throw new OptionError('--rest-addresses-socket-mode has no effect without --rest-addresses-socket');
    return undefined;
  }
  if (Buffer.byteLength(path) > MOST_SOCKET_PATH)
    throw new OptionError(`--rest-addresses-socket must be a path of at most ${MOST_SOCKET_PATH} bytes, not '${path}'`);
  return { path, mode: Number.parseInt(digits, 8) };
}

function readProxies(read: OptionReader): readonly string[] {
  const text = read.text('rest-trusted-proxies', 'addresses or networks as 10.0.0.0/8, with commas between them', (value) =>
    areNetworks(value.split(','))
  );
  return text === '' ? [] : text.split(',');
}

function areNetworks(networks: readonly string[]): boolean {
  try {
    new Proxies(networks);
    return true;
  } catch {
    return false;
  }
}

function readFile(config: HostConfig, name: string): string | undefined {
  const path = config.path(name);
  if (path === null && config.has(name)) throw new OptionError(`--${name} must be a file, not ''`);
  return path === null ? undefined : resolve(path);
}

const LOOPBACK = '127.0.0.1';
const MOST_PORT = 65_535;

/** `host:port`, `[address]:port` for IPv6, or a port alone, which is on the loopback address. */
function parseEndpoint(text: string): Endpoint | undefined {
  const [, host = '', digits = ''] = /^(?:(\[[\da-fA-F:.]+\]|[\w.-]*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port < 1 || port > MOST_PORT) return undefined;
  const plain = host.replace(/^\[|\]$/g, '');
  if (host.startsWith('[') && !isIPv6(plain)) return undefined;
  return { host: plain === '' ? LOOPBACK : plain, port };
}

/** First parts of the paths that have their requests answered already, and by whom. */
const TAKEN_PATHS: readonly (readonly [string, readonly string[]])[] = [
  ["Bitcoin Core's interface", ['rest']],
  ['the Electrum protocol', ['electrum']],
  ['payments', ['pay']],
  ['the explorer', ['explorer']],
  ['bcoin', ['block', 'broadcast', 'coin', 'fee', 'filter', 'header', 'mempool', 'reset', 'socket.io', 'tx', 'wallet']]
];

/** A path for an interface of its own. */
function readPath(read: OptionReader, name: OptionName<'text'>): string {
  const path = read.text(name, 'a path as /api', (text) => /^(\/[\w.~-]+)+$/.test(text));
  const first = path.split('/')[1] ?? '';
  const owner = TAKEN_PATHS.find(([, names]) => names.includes(first));
  if (owner !== undefined) throw new OptionError(`--${name} must be a free path: /${first} is for ${owner[0]}, not '${path}'`);
  return path;
}

function readOrigins(read: OptionReader): AddressOptions['cors'] {
  const text = read.text('rest-cors', "origins as https://wallet.example, with commas between them, or '*'", (value) =>
    value === '*' ? true : value.split(',').every(isOrigin)
  );
  return text === '' ? undefined : text === '*' ? text : text.split(',');
}

/** Whether the text is an origin as browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether the URL can be written into payment requests and Location headers: ASCII, nothing after the path. */
function isPublicUrl(text: string): boolean {
  return /^https?:\/\/[!-~]*[^/]$/.test(text) && !/[?#]/.test(text) && URL.canParse(text);
}

function readPaymentOptions(read: OptionReader, config: HostConfig): PaymentOptions | undefined {
  const folder = config.path('rest-payments');
  const publicUrl = config.get('rest-payments-url') ?? undefined;
  if (folder === null) {
    if (config.has('rest-payments')) throw new OptionError("--rest-payments must be a folder, not ''");
    return undefined;
  }
  requireApiKey('rest-payments', config);
  if (publicUrl !== undefined && !isPublicUrl(String(publicUrl))) {
    throw new OptionError(`--rest-payments-url must be an http or https address without a slash at its end, not '${publicUrl}'`);
  }
  return {
    folder: resolve(folder),
    publicUrl: publicUrl === undefined ? undefined : String(publicUrl),
    notifyOrigins: readNotifyOrigins(read)
  };
}

/** Each has deliveries of its own under way. */
const MOST_NOTIFY_ORIGINS = 16;

function readNotifyOrigins(read: OptionReader): readonly string[] {
  const what = `at most ${MOST_NOTIFY_ORIGINS} origins as https://shop.example, with commas between them`;
  const text = read.text('rest-payments-notify', what, (value) => {
    const origins = value.split(',');
    return origins.length <= MOST_NOTIFY_ORIGINS && origins.every(isOrigin);
  });
  return text === '' ? [] : text.split(',');
}

class OptionReader {
  readonly #config: HostConfig;

  constructor(config: HostConfig) {
    this.#config = config;
  }

  /** `fallback`: where the table of options has none. */
  integer(name: OptionName<'number'>, fallback?: number): number {
    const { least, most, ...kind } = optionOf(name).kind;
    return this.#read(name, kind.fallback ?? fallback ?? least, `a whole number from ${least} to ${most}`, (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      return number >= least && number <= most ? number : undefined;
    });
  }

  choice<Name extends OptionName<'choice'>>(name: Name): ChoiceOf<Name> {
    const choices: readonly [ChoiceOf<Name>, ...ChoiceOf<Name>[]] = optionOf(name).kind.choices;
    return this.#read(name, choices[0], `one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));
  }

  list<Name extends OptionName<'list'>>(name: Name): readonly ChoiceOf<Name>[] {
    const { choices } = optionOf(name).kind;
    return this.#read(name, [], `some of ${choices.join(', ')}, with commas between them`, (value) => {
      const names = value.split(',').map((item) => choices.find((choice) => choice === item));
      return names.every((item) => item !== undefined) ? names : undefined;
    });
  }

  /** An empty text where the table of options has no default. */
  text(name: OptionName<'text'>, expected: string, isRight: (value: string) => boolean): string {
    const { fallback = '' } = optionOf(name).kind;
    return this.#read(name, fallback, expected, (value) => (isRight(value) ? value : undefined));
  }

  endpoint(name: OptionName<'text'>): Endpoint | undefined {
    return this.#read<Endpoint | undefined>(name, undefined, 'host:port, or a port alone for this machine only', parseEndpoint);
  }

  flag(name: OptionName<'flag'>): boolean {
    return this.#read(name, false, 'true or false', (value) =>
      ['true', '1'].includes(value) ? true : ['false', '0'].includes(value) ? false : undefined
    );
  }

  /** The parsed value. `parse` gives undefined for an invalid one. The option's own name takes precedence over Bitcoin Core's. */
  #read<T>(name: OptionName, fallback: T, expected: string, parse: (value: string) => T | undefined): T {
    const { alias: core } = optionOf(name);
    const key = core !== undefined && !this.#config.has(name) ? core : name;
    const value = this.#config.get(key);
    if (value === null) return fallback;
    const parsed = parse(String(value));
    if (parsed === undefined) throw new OptionError(`--${key} must be ${expected}, not '${value}'`);
    return parsed;
  }
}

/** Without `--api-key` bcoin makes up a random key that nobody knows. */
function requireApiKey(option: string, config: HostConfig): void {
  if (!config.has('api-key')) throw new OptionError(`--${option} needs the node to have a key: set --api-key`);
}

/** An option that only another kind of process has. */
function refuseOfOthers(config: HostConfig, role: Role): void {
  const given = OPTIONS.find(({ name, only = role }) => only !== role && config.has(name));
  if (given === undefined) return;
  throw new OptionError(
    role === 'node'
      ? `--${given.name} is for readers of a fleet (bcoin-rest reader), not for a node`
      : `--${given.name} is for nodes, not for a reader of a fleet`
  );
}

/** An option that needs another one, which is not given. */
function refuseWithoutEffect(config: HostConfig): void {
  for (const { name, needs } of OPTIONS) {
    const isGiven = needs === undefined || (optionOf(needs).kind.type === 'flag' ? config.bool(needs, false) : config.has(needs));
    if (!isGiven && config.has(name)) throw new OptionError(`--${name} has no effect without --${needs}`);
  }
}
