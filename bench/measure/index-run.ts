// One run over the index: bare pass, catching up from nothing, bare pass again, following.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ChainIndexer } from '../../lib/index/chain-index';
import { DEFAULT_CACHE_BYTES } from '../../lib/index/write/index-writer';
import { BcoinNode } from '../../lib/node/bcoin';
import { migrations } from '../../migrations';
import { cacheShares } from '../../plugin/options/indexes';
import { DATA_FOLDER, openNodeOn, type SyntheticChain } from '../chain/synthetic-chain';
import { barePass } from './bare-pass';
import { catchUp, type CatchUp } from './catch-up';
import { follow, type Following } from './follow';
import { holdBack, type HeldBackNode } from './held-back-node';
import { folderBytes, ownMemory, untilAtRest } from './process-load';
import { WatchedStore } from './watched-store';
import type { ChainManifest } from '../chain/manifest';

export interface IndexRun {
  readonly chain: ChainManifest;
  /** Bytes of the blocks that catching up reads. */
  readonly bytes: number;
  /** Before and after catching up. */
  readonly bareSeconds: readonly [number, number];
  readonly bareCpuSeconds: readonly [number, number];
  readonly catchUp: CatchUp;
  /** Memory of the open node, before anything else. */
  readonly nodeBytes: number;
  readonly indexBytes: number;
  readonly following: Following;
}

export async function runIndex(chain: SyntheticChain, report: (line: string) => void): Promise<IndexRun> {
  const { manifest } = chain;
  const host = await openNodeOn(chain);
  try {
    const node = new BcoinNode(host);
    const nodeBytes = ownMemory();
    report('bare pass');
    const before = await barePass(node, manifest.height);
    return await withIndex(node, manifest, async ({ heldBack, index, store, folder }) => {
      report('catching up');
      const built = await catchUp(index, before.bytesTo);
      await untilAtRest();
      const indexBytes = folderBytes(folder);
      report('bare pass again');
      const after = await barePass(node, manifest.height);
      report('following');
      const following = await follow({ node, heldBack, index, store, toHeight: manifest.tipHeight });
      const bytes = before.bytesTo.at(-1) ?? 0;
      return {
        chain: manifest,
        bytes,
        bareSeconds: [before.seconds, after.seconds],
        bareCpuSeconds: [before.cpuSeconds, after.cpuSeconds],
        catchUp: built,
        nodeBytes,
        indexBytes,
        following
      };
    });
  } finally {
    await host.close();
  }
}

interface FreshIndex {
  readonly heldBack: HeldBackNode;
  readonly index: ChainIndexer;
  readonly store: WatchedStore;
  readonly folder: string;
}

/** Uses an unopened index of the chain without the blocks for following, and removes it afterwards. */
async function withIndex<T>(node: BcoinNode, { height }: ChainManifest, use: (fresh: FreshIndex) => Promise<T>): Promise<T> {
  const folder = join(DATA_FOLDER, `index-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const heldBack = await holdBack(node, height);
  // The values of an operator's node.
  const { cacheBytes, catchUpCacheBytes } = cacheShares(DEFAULT_CACHE_BYTES);
  const store = new WatchedStore(folder, { latestBytes: cacheBytes });
  const index = new ChainIndexer({ store, node: heldBack.source, migrations, cacheBytes, catchUpCacheBytes, logger: quiet });
  try {
    return await use({ heldBack, index, store, folder });
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Progress would disturb the measurement; warnings and errors are shown. */
const quiet = {
  error: (message: string) => {
    console.error(message);
  },
  warning: (message: string) => {
    console.error(message);
  },
  info: () => undefined
};
