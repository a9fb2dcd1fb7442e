// Options for building the indexes. The tools for a stopped node read only these.

import { refuseEmpty } from './empty';
import { OptionReader } from './option-reader';
import { refuseUnknown } from './unknown';
import type { BootstrapFrom } from '../../lib/index/types';
import type { HostConfig } from '../../lib/node/host';
import type { Role } from './table';

/** How the bytes of `--rest-cache` are divided. */
interface CacheShares {
  /** Memory for the coin cache once the index follows the chain. */
  readonly cacheBytes: number;
  /** Memory for the coin cache while the index catches up: all of `--rest-cache`, since no requests are answered then. */
  readonly catchUpCacheBytes: number;
  /** Memory for replies and the blocks they are made from. */
  readonly answerCacheBytes: number;
}

export interface IndexOptions extends CacheShares {
  /** How many blocks can be undone without the node. */
  readonly undoDepth: number;
  /** What an empty index is built from. */
  readonly bootstrap: BootstrapFrom;
  /** Whether blocks have basic filters (BIP158). */
  readonly filters: boolean;
  /**
   * Whether hashes over what blocks spend are kept. A reader checks by them what nodes say that blocks spend; so does one that begins with
   * a snapshot of a node that feeds.
   */
  readonly spentHashes: boolean;
}

const MIB = 1_024 * 1_024;

/** The coin cache's share of `--rest-cache` once the index follows; the rest is for answers. */
const COINS_SHARE = 0.75;

export function cacheShares(bytes: number): CacheShares {
  return { cacheBytes: bytes * COINS_SHARE, catchUpCacheBytes: bytes, answerCacheBytes: bytes * (1 - COINS_SHARE) };
}

/** @throws OptionError */
export function readIndexOptions(read: OptionReader, config: HostConfig, role: Role): IndexOptions {
  return {
    ...cacheShares(MIB * read.integer('rest-cache')),
    undoDepth: read.integer('rest-undo'),
    bootstrap: read.choice('rest-bootstrap'),
    filters: read.flag('rest-filters'),
    spentHashes: role === 'reader' || config.has('rest-feed')
  };
}

export interface StoppedNodeOptions extends IndexOptions {
  /** Whether the node keeps an index by script. */
  readonly addresses: boolean;
}

/** Of a node that does not run: what only serving needs, as a key or files, need not be there. @throws OptionError, also for an unknown or an empty option */
export function readStoppedNodeOptions(config: HostConfig): StoppedNodeOptions {
  refuseUnknown(config);
  refuseEmpty(config);
  const read = new OptionReader(config);
  return { ...readIndexOptions(read, config, 'node'), addresses: read.flag('rest-addresses') };
}
