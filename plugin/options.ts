// The operator's settings, read and checked once, from flags, environment and bcoin.conf. An invalid setting stops the node with an
// error that names the option.

import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { PROFILES, withDeprecated, type Profile } from '../lib/views/profile';
import { NAMES, optionOf, OPTIONS, type OptionName, type OptionRow } from './option-table';
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

/** Where a node on disk keeps what belongs to the service. */
export interface Places {
  /** For the certificate, next to both indexes. */
  readonly folder: string;
  readonly scripts: string;
  /** Where rows are sorted while the index by script is filled. */
  readonly filling: string;
  readonly cookie: string;
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

const FLAGS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false]
]);

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
  refuseUnknown(config);
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
    warmup: read.choice('rest-warmup', ['synced', 'indexed']),
    witness: read.integer('rest-serial-version') === 1,
    auth,
    undoDepth: read.integer('rest-undo'),
    ...cacheShares(MIB * read.integer('rest-cache')),
    bootstrap: read.choice('rest-bootstrap', ['blocks', 'coins']),
    filters: read.flag('rest-filters'),
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
  const edition = read.choice('rest-core', ['0.17', 'modern']);
  const deprecated = read.list('rest-deprecated', ['bip125', 'fullrbf', 'warnings']);
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
    path: readPath(read, 'rest-addresses-path', '/api'),
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
function readPath(read: OptionReader, name: OptionName, fallback: string): string {
  const path = read.text(name, fallback, 'a path as /api', (text) => /^(\/[\w.~-]+)+$/.test(text));
  const first = path.split('/')[1] ?? '';
  const owner = TAKEN_PATHS.find(([, names]) => names.includes(first));
  if (owner !== undefined) throw new OptionError(`--${name} must be a free path: /${first} is for ${owner[0]}, not '${path}'`);
  return path;
}

function readOrigins(read: OptionReader): AddressOptions['cors'] {
  const text = read.text('rest-cors', '', "origins as https://wallet.example, with commas between them, or '*'", (value) =>
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
  integer(name: OptionName, fallback?: number): number {
    const { kind } = optionOf(name);
    if (kind.type !== 'number') throw new RangeError(`expected a number's name, got ${name}`);
    const { least, most } = kind;
    return this.#read(name, kind.fallback ?? fallback ?? least, `a whole number from ${least} to ${most}`, (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      return number >= least && number <= most ? number : undefined;
    });
  }

  /** The first of `choices` when the option is not given. */
  choice<T extends string>(name: OptionName, choices: readonly [T, ...T[]]): T {
    return this.#read(name, choices[0], `one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));
  }

  /** Some of `choices` with commas between them; none when the option is not given. */
  list<T extends string>(name: OptionName, choices: readonly T[]): readonly T[] {
    return this.#read(name, [], `some of ${choices.join(', ')}, with commas between them`, (value) => {
      const names = value.split(',').map((item) => choices.find((choice) => choice === item));
      return names.every((item) => item !== undefined) ? names : undefined;
    });
  }

  text(name: OptionName, fallback: string, expected: string, isRight: (value: string) => boolean): string {
    return this.#read(name, fallback, expected, (value) => (isRight(value) ? value : undefined));
  }

  endpoint(name: OptionName): Endpoint | undefined {
    return this.#read<Endpoint | undefined>(name, undefined, 'host:port, or a port alone for this machine only', parseEndpoint);
  }

  flag(name: OptionName): boolean {
    return this.#read(name, false, 'true or false', (value) => FLAGS.get(value));
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

/** The folder of the index of a node on disk: `<the network's folder>/rest/index`. */
export function indexFolder(config: HostConfig): string {
  return join(restFolder(config), 'index');
}

/** The folder of both indexes of a node on disk. */
function restFolder(config: HostConfig): string {
  return config.location('rest');
}

/** The folder of the index by script of a node on disk: `<the network's folder>/rest/scripts`. */
export function scriptsFolder(config: HostConfig): string {
  return join(restFolder(config), 'scripts');
}

/** The folder in which rows are sorted while the index by script in `folder` is being filled. */
export function fillingFolder(folder: string): string {
  return join(folder, '..', 'scripts-filling');
}

/** Where a node on disk keeps what belongs to the service. The cookie is in the network's folder, as in Bitcoin Core. */
export function placesOf(config: HostConfig): Places {
  const scripts = scriptsFolder(config);
  return { folder: restFolder(config), scripts, filling: fillingFolder(scripts), cookie: config.location('.cookie') };
}

/** Without `--api-key` bcoin makes up a random key that nobody knows. */
function requireApiKey(option: string, config: HostConfig): void {
  if (!config.has('api-key')) throw new OptionError(`--${option} needs the node to have a key: set --api-key`);
}

/** An option that needs another one, which is not given. */
function refuseWithoutEffect(config: HostConfig): void {
  for (const { name, needs } of OPTIONS as readonly OptionRow[]) {
    const isGiven = needs === undefined || (optionOf(needs).kind.type === 'flag' ? config.bool(needs, false) : config.has(needs));
    if (!isGiven && config.has(name)) throw new OptionError(`--${name} has no effect without --${needs}`);
  }
}

function refuseUnknown(config: HostConfig): void {
  const known = new Map(NAMES.map((name) => [plain(name), name]));
  const { args, env, data, options } = config;
  for (const key of [args, data, options].flatMap((source) => Object.keys(source)))
    if (key.startsWith('rest') && !known.has(key)) throw new OptionError(unknownText(`--${key.replace(/^rest/, 'rest-')}`, key, flagOf));
  // bcoin ignores variables with lower-case letters in their names, and empty ones, so they are looked up in process.env too.
  for (const name of [...Object.keys(process.env), ...Object.keys(env).map((key) => `BCOIN_${key.toUpperCase()}`)]) {
    if (!/^BCOIN_REST/i.test(name)) continue;
    const key = plain(name.slice('BCOIN_'.length));
    if (!known.has(key) || name !== name.toUpperCase()) throw new OptionError(unknownText(name, key, variableOf));
  }
}

/** bcfg stores names without dashes, in lower case. */
const plain = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();
const flagOf = (name: string): string => `--${name}`;
const variableOf = (name: string): string => `BCOIN_${name.toUpperCase().replaceAll('-', '_')}`;

function unknownText(given: string, key: string, spell: (name: string) => string): string {
  const close = NAMES.find((name) => plain(name) === closest(key, NAMES.map(plain)));
  return `${given} is not an option of the REST service; ${close === undefined ? `it knows ${NAMES.map(spell).join(', ')}` : `did you mean ${spell(close)}?`}`;
}

/** A word may have one wrong letter for each group of this many letters. */
const LETTERS_PER_MISTAKE = 4;

/** The word with the fewest letters to change, add or remove; undefined if none is close enough. */
function closest(word: string, words: readonly string[]): string | undefined {
  const near = words
    .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
    .filter((found) => found.distance <= Math.ceil(word.length / LETTERS_PER_MISTAKE))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}
