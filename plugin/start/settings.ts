// What `npm start` sets before flags, environment and bcoin.conf have their say.

import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { apiKeyIn, type ApiKey } from './api-key';
import type { Bcoin, HostSettings } from '../bcoin';

/** From dist/plugin/start to the project's folder. */
const DEMONSTRATION_FOLDER = join(resolve(__dirname, '../../..'), '.demo');

/** Options that say which chain is meant. */
const CHAIN_OPTIONS = ['network', 'prefix', 'config'];

/** What bcoin's own program sets. */
const OPERATION = { config: true, argv: true, env: true, logFile: true, logConsole: true, memory: false, workers: true };

export interface StartSettings {
  /** For the node's constructor. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The node's folder, with that of the network. */
  readonly folder: string;
  /** Whether it is the node with the demonstration chain: neither a network nor a folder was named. */
  readonly isDemonstration: boolean;
  /** The key that was made for RPC and wallet; none when the operator has one, or wants none. */
  readonly apiKey: Omit<ApiKey, 'file'> & { readonly file?: string } | undefined;
}

/** Makes the key in the node's folder when there is none. */
export async function startSettings(bcoin: Bcoin): Promise<StartSettings> {
  const given = configOf(bcoin, { argv: true, env: true });
  const isDemonstration = !CHAIN_OPTIONS.some((name) => given.has(name));
  const basic = {
    ...OPERATION,
    ...isDemonstration
      ? { network: 'regtest', prefix: DEMONSTRATION_FOLDER, logLevel: 'error', listen: false }
      : { logLevel: 'info', listen: true }
  };
  const config = configOf(bcoin, basic);
  const apiKey = await apiKeyOf(config);
  return {
    options: {
      ...basic,
      // bcoin 1.0.2 has its wallet in ~/.bcoin, whatever the network is, unless told.
      walletPrefix: config.get('wallet-prefix') ?? config.prefix,
      // The wallet takes the node's.
      ...apiKey && { apiKey: apiKey.key }
    },
    folder: config.prefix,
    isDemonstration,
    apiKey
  };
}

function configOf(bcoin: Bcoin, options: Readonly<Record<string, unknown>>): HostSettings {
  return new bcoin.Node('bcoin', 'bcoin.conf', 'debug.log', options).config;
}

async function apiKeyOf(config: HostSettings): Promise<StartSettings['apiKey']> {
  if (config.has('api-key') || config.bool('no-auth') === true) return undefined;
  // What is in memory leaves nothing behind.
  if (config.bool('memory') === true) return { key: randomBytes(32).toString('hex'), isNew: true };
  return await apiKeyIn(config.prefix);
}
