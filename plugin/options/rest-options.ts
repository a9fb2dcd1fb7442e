// The operator's settings, read and checked once, from flags, environment and bcoin.conf. An invalid setting stops the node with an
// error that names the option.

import { Proxies } from '../../lib/server/bounds/proxies';
import { PROFILES, withDeprecated, type Profile } from '../../lib/views/profile';
import { parseAddress, TOPICS, type ZmqNotifier, type Topic } from '../../lib/zmq/topics';
import { readAddressOptions, type AddressOptions } from './addresses';
import { refuseEmpty } from './empty';
import { OptionError } from './errors';
import { readFeedOptions, readReaderOptions, type FeedOptions, type ReaderOptions } from './fleet';
import { readIndexOptions, type IndexOptions } from './indexes';
import { OptionReader, requireApiKey } from './option-reader';
import { readPaymentOptions, type PaymentOptions } from './payments';
import { requireOwnPorts } from './ports';
import { readRpcUser, readRpcWhitelists, type RpcWhitelists } from './rpc';
import { optionOf, OPTIONS, type OptionName, type Role } from './table';
import { refuseUnknown } from './unknown';
import type { HostConfig } from '../../lib/node/host';
import type { Limits } from '../../lib/server/limits';
import type { SocketAddress } from '../../lib/server/ports/listener';

export interface RestOptions extends IndexOptions {
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
  /** How long one pass over the files of the open index takes (lib/follow/scrub.ts); 0: the files are not checked again. */
  readonly scrubMs: number;
  /** Whether the node gets today's pool. */
  readonly modernPool: boolean;
  readonly limits: Limits;
  /** Addresses and networks of proxies that name their clients. */
  readonly trustedProxies: readonly string[];
  /** Where metrics and health are answered; undefined: nowhere. */
  readonly metrics: SocketAddress | undefined;
  /** `user:password` that is accepted for JSON-RPC besides the node's API key. */
  readonly rpcUser?: string;
  /** The calls that some users of JSON-RPC may make. */
  readonly rpcWhitelists?: RpcWhitelists;
  /** What ZeroMQ publishes, and where. */
  readonly notifiers: readonly ZmqNotifier[];
  /** Set if there is an index by script. */
  readonly addresses?: AddressOptions;
  /** Set if payments are accepted. */
  readonly payments?: PaymentOptions;
  /** Set for a node that feeds a fleet. */
  readonly feed?: FeedOptions;
  /** Set for a reader of a fleet. */
  readonly reader?: ReaderOptions;
}

const HOUR_MS = 3_600_000;

/** @throws OptionError for an unknown `rest-…` option, one of another kind of process, or a value out of range. */
export function readOptions(config: HostConfig, role: Role = 'node'): RestOptions {
  refuseUnknown(config);
  refuseEmpty(config);
  refuseOfOthers(config, role);
  const read = new OptionReader(config);
  refuseWithoutEffect(read, config);
  const payments = readPaymentOptions(read, config);
  const addresses = readAddressOptions(read, config);
  const metrics = read.endpoint('rest-metrics');
  const { plain, tls } = addresses?.electrum ?? {};
  requireOwnPorts(config, { 'rest-metrics': metrics, 'rest-electrum': plain, 'rest-electrum-tls': tls });
  const feed = readFeedOptions(read, config, role);
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
    ...readIndexOptions(read, config, role),
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
    metrics,
    notifiers: TOPICS.flatMap((topic) => readNotifiers(read, topic)),
    ...(rpcUser !== undefined && { rpcUser }),
    ...(rpcWhitelists && { rpcWhitelists }),
    ...(addresses && { addresses }),
    ...(payments && { payments }),
    ...(feed && { feed }),
    ...(role === 'reader' && { reader: readReaderOptions(read, config) })
  };
}

function readNotifiers(read: OptionReader, topic: Topic): ZmqNotifier[] {
  const what = 'addresses such as tcp://127.0.0.1:28332 or ipc:///run/zmq, separated by commas';
  const text = read.text(`rest-zmq-${topic}`, what, (value) => value.split(',').every((part) => parseAddress(part) !== undefined));
  const hwm = read.integer(`rest-zmq-${topic}hwm`);
  return text.split(',').flatMap((part) => {
    const address = parseAddress(part);
    return address === undefined ? [] : [{ topic, address, hwm }];
  });
}

function readProfile(read: OptionReader): Profile {
  const edition = read.choice('rest-core');
  const deprecated = read.list('rest-deprecated');
  if (edition === '0.17' && deprecated.length > 0) throw new OptionError('--rest-deprecated has no effect without --rest-core=modern');
  return withDeprecated(PROFILES[edition], deprecated);
}

function readProxies(read: OptionReader): readonly string[] {
  const text = read.text('rest-trusted-proxies', 'addresses or networks such as 10.0.0.0/8, separated by commas', (value) =>
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
function refuseWithoutEffect(read: OptionReader, config: HostConfig): void {
  for (const { name, needs } of OPTIONS) {
    const isGiven = needs === undefined || (isFlag(needs) ? read.flag(needs) : config.has(needs));
    if (!isGiven && config.has(name)) throw new OptionError(`--${name} has no effect without --${needs}`);
  }
}

const isFlag = (name: OptionName): name is OptionName<'flag'> => optionOf(name).kind.type === 'flag';
