// The defaults of `npm start`, which flags, environment and bcoin.conf override; and the key of bcoin's RPC and wallet. Without a key
// bcoin trusts every program on this machine, so any web page that is open in a browser here could stop the node or send coins.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writePrivate } from '../../lib/system/private-file';
import { isMissingFile } from '../../lib/system/system-errors';
import { readOptions } from '../options/rest-options';
import { resetDemonstration } from './reset';
import type { Bcoin, HostSettings } from '../bcoin';

/** From dist/plugin/start to the project's folder. */
const DEMONSTRATION_FOLDER = join(resolve(__dirname, '../../..'), '.demo');

/** Options that select a chain. */
const CHAIN_OPTIONS = ['network', 'prefix', 'config'];

/** The settings of bcoin's own program. */
const OPERATION = { config: true, argv: true, env: true, logFile: true, logConsole: true, memory: false, workers: true };

/** Ours: today's pool, and the explorer. */
const MODERN = { 'rest-pool': 'modern', 'rest-explorer': true };

const KEY_BYTES = 32;

const UNKNOWN_NETWORK = /unknown network/i;

export interface ApiKey {
  readonly key: string;
  /** The file with the key, readable by its owner alone; none for a node in memory. */
  readonly file?: string;
  /** Whether the key was made just now. */
  readonly isNew: boolean;
}

export interface StartSettings {
  /** Options for the node's constructor. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The node's folder, including the network's folder. */
  readonly folder: string;
  /** Whether the node has the demonstration chain, because neither a network nor a folder was named. */
  readonly isDemonstration: boolean;
  /** The key that was made for RPC and wallet; undefined if the operator has set one or wants none. */
  readonly apiKey: ApiKey | undefined;
}

/** The settings. Makes the key in the node's folder if there is none. @throws Error with a sentence about a wrong setting */
export async function startSettings(bcoin: Bcoin): Promise<StartSettings> {
  const configOf = (options: Readonly<Record<string, unknown>>): HostSettings => {
    try {
      return new bcoin.Node('bcoin', 'bcoin.conf', 'debug.log', options).config;
    } catch (error) {
      if (!(error instanceof Error && UNKNOWN_NETWORK.test(error.message))) throw error;
      throw new Error(`--network must be one of ${bcoin.networks.types.join(', ')}`, { cause: error });
    }
  };
  const given = configOf({ argv: true, env: true });
  const isDemonstration = !CHAIN_OPTIONS.some((name) => given.has(name));
  if (given.bool('reset') === true) {
    if (!isDemonstration) throw new Error('--reset makes a new demonstration: it has no effect with --network, --prefix or --config');
    await resetDemonstration(DEMONSTRATION_FOLDER);
  }
  // A pruned node cannot have an index by script.
  const hasAddresses = isDemonstration && given.bool('prune') !== true;
  const basic = {
    ...OPERATION,
    ...MODERN,
    ...(hasAddresses && { 'rest-addresses': true }),
    ...(isDemonstration
      ? { network: 'regtest', prefix: DEMONSTRATION_FOLDER, logLevel: 'error', listen: false }
      : { logLevel: 'info', listen: true })
  };
  const config = configOf(basic);
  // Before a key is made: it is shown only once.
  readOptions(configOf({ ...basic, apiKey: config.get('api-key') ?? 'to be made' }));
  const apiKey = await apiKeyOf(config);
  return {
    options: {
      ...basic,
      // By default bcoin 1.0.2 has its wallet in ~/.bcoin for every network.
      walletPrefix: config.get('wallet-prefix') ?? config.prefix,
      // The wallet uses the node's key.
      ...(apiKey && { apiKey: apiKey.key })
    },
    folder: config.prefix,
    isDemonstration,
    apiKey
  };
}

/** @throws Error when the file of the key is empty */
async function apiKeyOf(config: HostSettings): Promise<ApiKey | undefined> {
  if (config.has('api-key') || config.bool('no-auth') === true) return undefined;
  const newKey = { key: randomBytes(KEY_BYTES).toString('hex'), isNew: true };
  // A node in memory leaves nothing behind.
  if (config.bool('memory') === true) return newKey;
  const folder = config.prefix;
  const file = join(folder, 'api-key');
  const key = await keyIn(file);
  if (key !== undefined) return { key, file, isNew: false };
  await mkdir(folder, { recursive: true });
  await writePrivate(file, `${newKey.key}\n`);
  return { ...newKey, file };
}

/** Undefined: there is no such file. @throws Error for an empty one: with an empty key bcoin would ask nobody for a key */
async function keyIn(file: string): Promise<string | undefined> {
  let key: string;
  try {
    key = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
  if (key === '') throw new Error(`${file} is empty: write the key of bcoin's RPC and wallet into it, or delete it to have a new one made`);
  return key;
}
