// The index of the chain.

import { whyNotRebuildable } from '../../../lib/index/chain-index';
import { ClosedIndex, type FilterCoverage } from '../../../lib/index/read/closed-index';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { DiskStore } from '../../../lib/store/disk-store';
import { ImpossibleError } from './errors';
import { buildIndex, compareWithFresh } from './fresh-index';
import { blockJson, blockText, MAIN } from './report';
import { behindText, diskUse, type IndexStatus, type OpenIndex, type StoppedIndex } from './stopped-index';
import { compareWithNode } from './verify/node-coins';
import { hashCoins } from './verify/utxo-hash';
import type { StoppedNode } from './stopped-node';

export const mainIndex: StoppedIndex = {
  ...MAIN,
  maker: 'the node builds it when it runs with the plugin, `bcoin-rest index rebuild` without it',
  rebuilt: 'rebuilt',
  nothing: { records: 0 },
  folder: ({ indexFolder }) => indexFolder,

  requireLayout(layout = LAYOUT_VERSION) {
    if (layout > LAYOUT_VERSION)
      throw new ImpossibleError(
        `the index has layout ${layout}, made by a newer version of this program, which reads layout ${LAYOUT_VERSION}`
      );
    if (layout < LAYOUT_VERSION)
      throw new ImpossibleError(
        `the index has layout ${layout}; the node brings it to layout ${LAYOUT_VERSION} when it next starts with the plugin`
      );
  },

  async read(store, context) {
    const { stopped } = context;
    const index = new ClosedIndex(store);
    const tip = await index.tip();
    const forkHeight = tip === undefined ? -1 : await index.forkHeight(tip, stopped.node);
    const place = { tip, forkHeight, onNodeChain: forkHeight === (tip?.height ?? -1) };
    return {
      ...place,
      status: () => statusOf(index, place, stopped),
      verify: async (at) => {
        const base = index.base();
        if (base !== undefined) return await compareWithNode(context, store, base, at);
        await requireAllBlocks(stopped);
        return await compareWithFresh(context, store, at);
      }
    };
  },

  async requireBuildable({ node, options }) {
    const why = await whyNotRebuildable(node, options.bootstrap);
    if (why !== undefined)
      throw new ImpossibleError(`${why} (for this command: rest-bootstrap in bcoin.conf, or BCOIN_REST_BOOTSTRAP=coins)`);
  },

  build(context) {
    const { node, indexFolder, options } = context.stopped;
    return buildIndex({ ...options, store: new DiskStore(indexFolder), node }, context);
  }
};

/** `verify` then makes the hash of its coins instead. */
export const coinsToHash: StoppedIndex = {
  ...mainIndex,
  nothing: { muhash: null, coins: 0 },
  read: async (store, context) => ({ ...(await mainIndex.read(store, context)), verify: (at) => hashCoins(context, store, at) })
};

async function requireAllBlocks({ node }: StoppedNode): Promise<void> {
  if (!(await node.hasAllBlocks()))
    throw new ImpossibleError(
      `the node has not kept all its blocks${node.pruned ? ' (--prune)' : ''}, and an index can only be computed from all of them`
    );
}

async function statusOf(
  index: ClosedIndex,
  { tip, forkHeight, onNodeChain }: Required<Pick<OpenIndex, 'tip' | 'forkHeight' | 'onNodeChain'>>,
  { node, network, indexFolder: folder }: StoppedNode
): Promise<IndexStatus> {
  const [base, filters] = [tip && index.base(), index.filters()];
  const behind = node.tip().height - forkHeight;
  const undoable = tip === undefined ? 0 : index.undoableBlocks(tip);
  const disk = await diskUse(folder);
  const lag = `${behind === 0 ? '' : 'the index is '}${behindText(behind)}`;
  return {
    lines: [
      ['Index', tip ? blockText(tip) : 'empty'],
      ['Node', blockText(node.tip())],
      ['', onNodeChain ? lag : `the index is not on the node's chain: they fork after block ${forkHeight}`],
      ['Network', network],
      ['Layout', `${LAYOUT_VERSION}`],
      base &&
        base.positionsFrom > 0 && [
          'Known',
          `transactions from block ${base.positionsFrom} up${base.ended ? ', the node has thrown the earlier blocks away' : ''}`
        ],
      filters && ['Filters', filtersText(filters, tip?.height ?? 0)],
      ['Undo', `the last ${undoable} blocks`],
      ['On disk', disk.text]
    ],
    json: {
      folder,
      network,
      layout: LAYOUT_VERSION,
      index: tip ? blockJson(tip) : null,
      node: blockJson(node.tip()),
      onNodeChain,
      forkHeight,
      blocksBehind: behind,
      undoableBlocks: undoable,
      transactionsFrom: base?.positionsFrom,
      filters,
      bytesOnDisk: disk.bytes
    }
  };
}

function filtersText({ from, upTo, headers }: FilterCoverage, tipHeight: number): string {
  const end = upTo < tipHeight ? ` up to ${upTo}` : '';
  if (from === 0) return `of all blocks${end}${headers ? '' : ', without their headers'}`;
  return `of the blocks from ${from}${end === '' ? ' up' : end}; the others are made while the node runs with --rest-filters`;
}
