// The index beside a stopped node, opened as it is: nothing is made, migrated or repaired.

import { existsSync } from 'node:fs';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { DiskStore } from '../../../lib/store/disk-store';
import { ImpossibleError } from './command';
import { progressDisplay } from './progress-display';
import type { BlockPoint, NodeSource } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';
import type { StoppedNode } from './stopped-node';

/** Opens the store of the node's index, every byte of its files checked, and closes it when `use` is done. @throws ImpossibleError when there is none, StoreError. */
export async function withIndex<T>({ indexFolder }: StoppedNode, use: (store: Store) => Promise<T>): Promise<T> {
  if (!existsSync(indexFolder))
    throw new ImpossibleError(`there is no index in ${indexFolder}; the node builds it when it runs with the plugin, \`bcoin-rest index rebuild\` without it`);
  const store = new DiskStore(indexFolder);
  const display = progressDisplay(process.stderr);
  try {
    await store.open((progress) => { display.checked(progress); }).finally(() => { display.end(); });
    return await use(store);
  } finally {
    await store.close();
  }
}

/** @throws ImpossibleError when the index is not of the layout and network at hand, DamagedIndexError, LayoutVersionError. */
export async function requireOurs(index: ClosedIndex, { node, network }: StoppedNode): Promise<void> {
  const layout = await index.layout() ?? LAYOUT_VERSION;
  if (layout > LAYOUT_VERSION)
    throw new ImpossibleError(`the index has layout ${layout}, made by a newer version of this program, which reads layout ${LAYOUT_VERSION}`);
  if (layout < LAYOUT_VERSION)
    throw new ImpossibleError(`the index has layout ${layout}; the node brings it to layout ${LAYOUT_VERSION} when it next starts with the plugin`);
  requireNetwork(index, node, network);
}

/** @throws ImpossibleError for another network's index, DamagedIndexError. */
export function requireNetwork(index: ClosedIndex, node: NodeSource, network: string): void {
  const [expected, genesisHash] = [node.network.genesisHash, index.genesisHash()];
  if (genesisHash !== undefined && !genesisHash.equals(expected))
    throw new ImpossibleError(`the index is of another network: expected ${network} with genesis block ${toDisplayHex(expected)}, got one with ${toDisplayHex(genesisHash)}`);
}

/** `block 7 (00ab…)`. */
export const blockText = ({ height, hash }: BlockPoint): string => `block ${height} (${toDisplayHex(hash)})`;

export const blockJson = ({ height, hash }: BlockPoint): { readonly height: number; readonly hash: string } => ({ height, hash: toDisplayHex(hash) });
