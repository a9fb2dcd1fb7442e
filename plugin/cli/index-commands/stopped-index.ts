// An index of a stopped node, as the commands see it: they open it as it is, or empty it and build it again.

import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { DamagedIndexError, isDamage } from '../../../lib/follow/errors';
import { megabytes } from '../../../lib/follow/state-text';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { DiskStore, type DiskStoreOptions } from '../../../lib/store/disk-store';
import { StoreError } from '../../../lib/store/errors';
import { ImpossibleError } from './errors';
import type { BlockPoint } from '../../../lib/node/types/chain';
import type { Store } from '../../../lib/store/store';
import type { ProgressDisplay } from '../../progress';
import type { IndexNames, Report } from './report';
import type { StoppedNode } from './stopped-node';

export interface CommandContext {
  readonly stopped: StoppedNode;
  readonly display: ProgressDisplay;
  /** Aborted when the operator interrupts. */
  readonly signal: AbortSignal;
}

export interface StoppedIndex extends IndexNames {
  /** Who makes it where there is none. */
  readonly maker: string;
  readonly rebuilt: string;
  /** What `verify` counts in an empty index. */
  readonly nothing: object;
  /** Its folder, which may not exist. */
  folder(stopped: StoppedNode): string;
  /** Which files are checked before it is opened; absent: all, and the progress is shown. */
  readonly checks?: DiskStoreOptions;
  /** Stands before texts of damage, since those of both indexes are the same. */
  readonly damage?: string;
  /** @throws ImpossibleError for a layout of another version of this program. */
  requireLayout(layout: number | undefined): void;
  read(store: Store, context: CommandContext): Promise<OpenIndex>;
  /** @throws ImpossibleError, MissingBlocksError when the node does not have what the index is built from. */
  requireBuildable(stopped: StoppedNode): Promise<void>;
  /** Builds it up to the node's tip, in a folder that is empty or does not exist. @throws the reason of an abort, and others. */
  build(context: CommandContext): Promise<void>;
}

/** All methods throw DamagedIndexError and StoreError. */
export interface OpenIndex {
  /** Undefined if the index is empty or being filled. */
  readonly tip: BlockPoint | undefined;
  /** Whether the tip, if there is one, is a block of the node's chain. */
  readonly onNodeChain: boolean;
  /** Height of the last block that index and node have in common, -1 if there is none; absent where that is not known. */
  readonly forkHeight?: number;
  /** How far it is filled, in words; undefined if it is not being filled. */
  readonly filling?: string | undefined;
  status(): Promise<IndexStatus>;
  /** Compares the index up to its tip with what the node has. @throws ImpossibleError when the node does not have enough. */
  verify(tip: BlockPoint): Promise<Report>;
}

export interface IndexStatus {
  /** Name and value; a line without a name belongs to the one before it. Other values are no lines. */
  readonly lines: readonly (readonly [name: string, value: string] | false | undefined)[];
  readonly json: object;
}

/**
 * Opens the index after checking its files, and closes it when `use` is done. Nothing is created, migrated or repaired.
 * @throws ImpossibleError when there is no index, or it has another layout or network; DamagedIndexError, LayoutVersionError, StoreError.
 */
export async function withIndex<T>(context: CommandContext, index: StoppedIndex, use: (open: OpenIndex) => Promise<T>): Promise<T> {
  const { stopped, display } = context;
  const folder = index.folder(stopped);
  if (!existsSync(folder)) throw new ImpossibleError(missingText(stopped, index));
  const store = new DiskStore(folder, index.checks);
  try {
    await store
      .open((progress) => {
        if (index.checks === undefined) display.checked(progress);
      })
      .finally(() => {
        display.end();
      });
    const closed = new ClosedIndex(store);
    index.requireLayout(await closed.layout());
    requireNetwork(closed, stopped);
    return await use(await index.read(store, context));
  } catch (error) {
    throw isDamage(error) && index.damage !== undefined ? new DamagedIndexError(index.damage + error.message, { cause: error }) : error;
  } finally {
    await store.close();
  }
}

/** Of an index that does not exist. */
export function missingText(stopped: StoppedNode, index: StoppedIndex): string {
  return `there is no ${index.name} in ${index.folder(stopped)}; ${index.maker}`;
}

/** Empties the index, however damaged it is, unless it is of another network. @throws ImpossibleError, StoreError */
export async function emptyIndex({ stopped }: CommandContext, index: StoppedIndex): Promise<void> {
  const folder = index.folder(stopped);
  if (!existsSync(folder)) return;
  const store = new DiskStore(folder, index.checks);
  try {
    await store.open();
    requireNetwork(new ClosedIndex(store), stopped);
  } catch (error) {
    const isInUse = error instanceof StoreError && (error.reason === 'locked' || error.reason === 'denied');
    if (isInUse || error instanceof ImpossibleError) {
      await store.close();
      throw error;
    }
  }
  await store.clear();
  await store.close();
}

/** @throws ImpossibleError for an index of another network, DamagedIndexError. */
function requireNetwork(index: ClosedIndex, { node, network }: StoppedNode): void {
  const [expected, genesisHash] = [node.network.genesisHash, index.genesisHash()];
  if (genesisHash !== undefined && !genesisHash.equals(expected))
    throw new ImpossibleError(
      `the index is of another network: expected ${network} with genesis block ${toDisplayHex(expected)}, got one with ${toDisplayHex(genesisHash)}`
    );
}

/** `what`: which bytes of the folder these are. */
export async function diskUse(folder: string, what = ''): Promise<{ readonly bytes: number; readonly text: string }> {
  const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { bytes, text: `${megabytes(bytes)}${what} in ${folder}` };
}

/** For example `2 blocks behind`. */
export function behindText(blocks: number): string {
  return blocks === 0 ? 'in step' : `${blocks} block${blocks === 1 ? '' : 's'} behind`;
}
