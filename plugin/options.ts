// The operator's settings, read and checked once, from flags, environment and bcoin.conf. An invalid setting stops the node with an
// error that names the option.

import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { PROFILES, withDeprecated, type Profile } from '../lib/views/profile';
import { optionOf, OPTIONS, type ChoiceOf, type OptionName } from './option-table';
import { unknownOption } from './unknown-options';
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
  /** `user:password` that is accepted for JSON-RPC besides the node's API key. */
  readonly rpcUser?: string;
  /** Set if there is an index by script. */
  readonly addresses?: AddressOptions;
  /** Set if payments are accepted. */
  readonly payments?: PaymentOptions;
}

export interface AddressOptions {
  /** The path of Esplora's API, without a slash at the end. */
  readonly path: string;
  /** Origins whose pages may read replies, or all; undefined: none. */
  readonly cors: readonly string[] | '*' | undefined;
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
}

export interface PaymentOptions {
  readonly folder: string;
  /** The URL under which customers reach the node's HTTP server, without a slash at the end; by default the server's address. */
  readonly publicUrl: string | undefined;
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
const HOUR_MS = 3_600_000;

/** The coin cache's share of `--rest-cache` once the index follows; the rest is for answers. */
const COINS_SHARE = 0.75;

/** How the bytes of `--rest-cache` are divided. */
export function cacheShares(bytes: number): Pick<RestOptions, 'cacheBytes' | 'catchUpCacheBytes' | 'answerCacheBytes'> {
  return { cacheBytes: bytes * COINS_SHARE, catchUpCacheBytes: bytes, answerCacheBytes: bytes * (1 - COINS_SHARE) };
}

/** @throws OptionError for an unknown `rest-…` option or a value out of range. */
export function readOptions(config: HostConfig): RestOptions {
  const unknown = unknownOption(config);
  if (unknown !== undefined) throw new OptionError(unknown);
  refuseWithoutEffect(config);
  const read = new OptionReader(config);
  const payments = readPaymentOptions(config);
  const addresses = readAddressOptions(read, config);
  const profile = readProfile(read);
  const rpcUser = readRpcUser(config, profile);
  const auth = read.flag('rest-auth');
  if (auth) requireApiKey('rest-auth', config);
  return {
    profile,
    warmup: read.choice('rest-warmup'),
    witness: read.integer('rest-serial-version') === 1,
    auth,
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
    ...(rpcUser !== undefined && { rpcUser }),
    ...(addresses && { addresses }),
    ...(payments && { payments })
  };
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

function readAddressOptions(read: OptionReader, config: HostConfig): AddressOptions | undefined {
  if (!read.flag('rest-addresses')) return undefined;
  if (config.bool('prune', false))
    throw new OptionError('--rest-addresses needs all blocks and their undo data, which a node with --prune does not keep');
  return {
    path: readPath(read, 'rest-addresses-path'),
    cors: readOrigins(read),
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
    maxCost: read.integer('rest-electrum-cost')
  };
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

function readPaymentOptions(config: HostConfig): PaymentOptions | undefined {
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
  return { folder: resolve(folder), publicUrl: publicUrl === undefined ? undefined : String(publicUrl) };
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

/** An option that needs another one, which is not given. */
function refuseWithoutEffect(config: HostConfig): void {
  for (const { name, needs } of OPTIONS) {
    const isGiven = needs === undefined || (optionOf(needs).kind.type === 'flag' ? config.bool(needs, false) : config.has(needs));
    if (!isGiven && config.has(name)) throw new OptionError(`--${name} has no effect without --${needs}`);
  }
}
