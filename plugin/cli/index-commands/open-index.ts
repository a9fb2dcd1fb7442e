// The index of a stopped node, opened as it is: nothing is created, migrated or repaired.

import { existsSync } from 'node:fs';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { DiskStore } from '../../../lib/store/disk-store';
import { ImpossibleError } from './errors';
import type { BlockPoint } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';
import type { CommandContext } from './command';
import type { StoppedNode } from './stopped-node';

export interface OpenIndex {
  readonly store: Store;
  readonly index: ClosedIndex;
  /** Undefined if the index is empty. */
  readonly tip: BlockPoint | undefined;
  /** Height of the last block that index and node have in common; -1 if there is none. */
  readonly forkHeight: number;
}

/**
 * Opens the node's index after checking every byte of its files, and closes it when `use` is done.
 * @throws ImpossibleError when there is no index, or it has another layout or network; DamagedIndexError, LayoutVersionError, StoreError.
 */
export async function withIndex<T>({ stopped, display }: CommandContext, use: (open: OpenIndex) => Promise<T>): Promise<T> {
  const { indexFolder, node } = stopped;
  if (!existsSync(indexFolder))
    throw new ImpossibleError(
      `there is no index in ${indexFolder}; the node builds it when it runs with the plugin, \`bcoin-rest index rebuild\` without it`
    );
  const store = new DiskStore(indexFolder);
  try {
    await store
      .open((progress) => {
        display.checked(progress);
      })
      .finally(() => {
        display.end();
      });
    const index = new ClosedIndex(store);
    requireLayout((await index.layout()) ?? LAYOUT_VERSION);
    requireNetwork(index, stopped);
    const tip = await index.tip();
    return await use({ store, index, tip, forkHeight: tip === undefined ? -1 : await index.forkHeight(tip, node) });
  } finally {
    await store.close();
  }
}

function requireLayout(layout: number): void {
  if (layout > LAYOUT_VERSION)
    throw new ImpossibleError(
      `the index has layout ${layout}, made by a newer version of this program, which reads layout ${LAYOUT_VERSION}`
    );
  if (layout < LAYOUT_VERSION)
    throw new ImpossibleError(
      `the index has layout ${layout}; the node brings it to layout ${LAYOUT_VERSION} when it next starts with the plugin`
    );
}

/** @throws ImpossibleError for an index of another network, DamagedIndexError. */
export function requireNetwork(index: ClosedIndex, { node, network }: StoppedNode): void {
  const [expected, genesisHash] = [node.network.genesisHash, index.genesisHash()];
  if (genesisHash !== undefined && !genesisHash.equals(expected))
    throw new ImpossibleError(
      `the index is of another network: expected ${network} with genesis block ${toDisplayHex(expected)}, got one with ${toDisplayHex(genesisHash)}`
    );
}

/** `block 7 (00ab…)`. */
export const blockText = ({ height, hash }: BlockPoint): string => `block ${height} (${toDisplayHex(hash)})`;

export const blockJson = ({ height, hash }: BlockPoint): { readonly height: number; readonly hash: string } => ({
  height,
  hash: toDisplayHex(hash)
});
