// The network that a reader, or a tool for a fleet, is of.

import { networkNamed, type ReaderNetwork } from '../../lib/fleet/reader/networks';
import { OptionError } from '../options/errors';
import type { ReaderConfig } from './config';

/** @throws OptionError */
export function readNetwork(config: ReaderConfig): ReaderNetwork {
  const name = String(config.get('network') ?? 'main');
  const network = networkNamed(name);
  if (network === undefined) throw new OptionError(`--network must be main, testnet, regtest or simnet, not '${name}'`);
  return network;
}
