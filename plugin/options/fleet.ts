// Options of a fleet: of the nodes that feed its log, and of its readers.

import { hostname } from 'node:os';
import { parseNatsUrls, type NatsAccess } from '../../lib/fleet/log/access';
import { OptionError } from './errors';
import { readNamedFile, readPath, type OptionReader } from './option-reader';
import type { HostConfig } from '../../lib/node/host';
import type { Role } from './table';

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

const GB = 1_000_000_000;
/** Blocks are not held back longer, so that one slow reader does not make all late. */
const TOGETHER_MS = 500;

/** undefined: the node feeds no fleet. @throws OptionError */
export function readFeedOptions(read: OptionReader, config: HostConfig, role: Role): FeedOptions | undefined {
  const urls = config.get('rest-feed');
  if (urls === null) {
    if (role === 'node' && config.has('rest-nats-creds')) throw new OptionError('--rest-nats-creds has no effect without --rest-feed');
    return undefined;
  }
  return {
    access: readNats(config, 'rest-feed', urls),
    name: read.text('rest-feed-name', 'a name of 1 to 60 letters, digits and -._:', (name) => /^[\w.:-]{1,60}$/.test(name)) || hostname(),
    leads: read.choice('rest-feed-lead') === 'auto'
  };
}

/** @throws OptionError */
export function readReaderOptions(read: OptionReader, config: HostConfig): ReaderOptions {
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
  if (urls === null) throw new OptionError('--rest-nats is missing: where the servers of NATS are, such as nats://a,b,c');
  return readNats(config, 'rest-nats', urls);
}

/** Errors do not show the password. */
function readNats(config: HostConfig, name: string, urls: string | number | boolean): NatsAccess {
  const credentials = readPath(config, 'rest-nats-creds', 'file');
  // It is read again for each connection.
  if (credentials !== undefined) readNamedFile('rest-nats-creds', credentials);
  const access = parseNatsUrls(String(urls), credentials);
  if (access === undefined) throw new OptionError(`--${name} must be the addresses of servers, such as nats://a:4222,b,c`);
  return access;
}
