// The index by script of a stopped node, opened as it is: nothing is created or repaired.

import { existsSync } from 'node:fs';
import { DamagedIndexError, isDamage } from '../../../lib/follow/errors';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { findTip, TIP_KEY } from '../../../lib/index/records/chain';
import { findFilling, type FillingProgress } from '../../../lib/scripts/records/filling';
import { STATE_KEYS, LAYOUT_VERSION } from '../../../lib/scripts/records/layout';
import { DiskStore } from '../../../lib/store/disk-store';
import { storedVersion } from '../../../lib/store/migrate';
import { ImpossibleError } from './errors';
import { requireNetwork } from './open-index';
import type { BlockPoint } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';
import type { CommandContext } from './command';

export interface OpenScripts {
  readonly store: Store;
  /** Undefined if the index is empty or being filled. */
  readonly tip: BlockPoint | undefined;
  /** How far the filling is; undefined if it has ended or never began. */
  readonly filling: FillingProgress | undefined;
  /** Whether the tip is a block of the node's chain. */
  readonly onNodeChain: boolean;
}

/**
 * Opens the node's index by script, and closes it when `use` is done. `readsTables`: whether every byte of its files is checked first.
 * @throws ImpossibleError for another layout or network, DamagedIndexError, StoreError.
 */
export async function withScripts<T>(
  { stopped, display }: CommandContext,
  readsTables: boolean,
  use: (open: OpenScripts) => Promise<T>
): Promise<T> {
  const { scriptsFolder, node } = stopped;
  const store = new DiskStore(scriptsFolder, readsTables ? {} : { checkedFirst: STATE_KEYS });
  try {
    await store
      .open((progress) => {
        if (readsTables) display.checked(progress);
      })
      .finally(() => {
        display.end();
      });
    requireLayout((await storedVersion(store)) ?? LAYOUT_VERSION);
    requireNetwork(new ClosedIndex(store), stopped);
    const filling = store.get(TIP_KEY) === undefined ? findFilling(store) : undefined;
    const tip = filling === undefined ? await findTip(store) : undefined;
    const onNodeChain = tip === undefined || (await node.activeHash(tip.height))?.equals(tip.hash) === true;
    return await use({ store, tip, filling, onNodeChain });
  } catch (error) {
    // Errors of both indexes have the same words, so this one names the index.
    throw isDamage(error) ? new DamagedIndexError(`in the index by script: ${error.message}`, { cause: error }) : error;
  } finally {
    await store.close();
  }
}

export const hasScripts = ({ stopped }: CommandContext): boolean => existsSync(stopped.scriptsFolder);

function requireLayout(layout: number): void {
  if (layout !== LAYOUT_VERSION)
    throw new ImpossibleError(
      `the index by script has layout ${layout}, and this program reads layout ${LAYOUT_VERSION}; ` +
        'the node fills it again when it next starts with --rest-addresses'
    );
}

/** For example `step 1 of 2, rows of blocks up to 412000`. */
export function fillingText({ step, at, loaded, lengths }: FillingProgress): string {
  if (step === 'partitioning') return `step 1 of 2, rows of blocks up to ${at === undefined ? 'none yet' : at.height}`;
  return `step 2 of 2, ${loaded} of ${lengths.length} files sorted`;
}
