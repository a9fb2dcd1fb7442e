// Options of the index by script and of what answers from it.

import { readElectrumOptions, type ElectrumOptions } from './electrum';
import { OptionError } from './errors';
import { readPath, type OptionReader } from './option-reader';
import { isOrigin } from './values';
import type { HostConfig } from '../../lib/node/host';
import type { OptionName } from './table';

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

/** undefined: there is no such index. @throws OptionError */
export function readAddressOptions(read: OptionReader, config: HostConfig): AddressOptions | undefined {
  if (!read.flag('rest-addresses')) return undefined;
  if (config.bool('prune', false))
    throw new OptionError('--rest-addresses needs all blocks and their undo data, which a node with --prune does not keep');
  return {
    path: readUrlPath(read, 'rest-addresses-path'),
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

/** First parts of the paths that have their requests answered already, and by whom. */
const TAKEN_PATHS: readonly (readonly [string, readonly string[]])[] = [
  ["Bitcoin Core's interface", ['rest']],
  ['the Electrum protocol', ['electrum']],
  ['payments', ['pay']],
  ['the explorer', ['explorer']],
  ['the health of a fleet', ['fleet']],
  ['bcoin', ['block', 'broadcast', 'coin', 'fee', 'filter', 'header', 'mempool', 'reset', 'socket.io', 'tx', 'wallet']]
];

/** A path for an interface of its own. */
function readUrlPath(read: OptionReader, name: OptionName<'text'>): string {
  const path = read.text(name, 'a path such as /api', (text) => /^(\/(?!\.+(\/|$))[\w.~-]+)+$/.test(text));
  const first = path.split('/')[1] ?? '';
  const owner = TAKEN_PATHS.find(([, names]) => names.includes(first));
  if (owner !== undefined) throw new OptionError(`--${name} must be a free path: /${first} is for ${owner[0]}, not '${path}'`);
  return path;
}

function readOrigins(read: OptionReader): AddressOptions['cors'] {
  const text = read.text('rest-cors', "origins such as https://wallet.example, separated by commas, or '*'", (value) =>
    value === '*' ? true : value.split(',').every(isOrigin)
  );
  return text === '' ? undefined : text === '*' ? text : text.split(',');
}

/** The system has this many bytes for it, and a zero behind; a longer path would be cut. */
const MOST_SOCKET_PATH = 103;

function readSocket(read: OptionReader, config: HostConfig): AddressOptions['socket'] {
  const path = readPath(config, 'rest-addresses-socket', 'file');
  const digits = read.text('rest-addresses-socket-mode', 'three octal digits such as 660', (value) => /^[0-7]{3}$/.test(value));
  if (path === undefined) {
    if (config.has('rest-addresses-socket-mode'))
      throw new OptionError('--rest-addresses-socket-mode has no effect without --rest-addresses-socket');
    return undefined;
  }
  if (Buffer.byteLength(path) > MOST_SOCKET_PATH)
    throw new OptionError(`--rest-addresses-socket must be a path of at most ${MOST_SOCKET_PATH} bytes, not '${path}'`);
  return { path, mode: Number.parseInt(digits, 8) };
}
