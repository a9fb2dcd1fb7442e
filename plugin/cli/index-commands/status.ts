// `index status`: where the index stands and how large it is.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { blockJson, blockText, withIndex } from './open-index';
import type { FilterCoverage } from '../../../lib/index/read/closed-index';

/** Exit code 1: the index is not on the node's chain. */
export function indexStatus(context: CommandContext): Promise<CommandResult> {
  const { node, network, indexFolder: folder } = context.stopped;
  return withIndex(context, async ({ index, tip, forkHeight }) => {
    const base = index.base();
    const filters = index.filters();
    const onNodeChain = forkHeight === (tip?.height ?? -1);
    const blocksBehind = node.tip().height - forkHeight;
    const undoableBlocks = tip === undefined ? 0 : index.undoableBlocks(tip);
    const bytesOnDisk = await folderBytes(folder);
    const lag = blocksBehind === 0 ? 'in step' : `the index is ${blocksBehind} block${blocksBehind === 1 ? '' : 's'} behind`;
    const lines = [
      ['Index', tip ? blockText(tip) : 'empty'],
      ['Node', blockText(node.tip())],
      ['', onNodeChain ? lag : `the index is not on the node's chain: they part after block ${forkHeight}`],
      ['Network', network],
      ['Layout', `${LAYOUT_VERSION}`],
      ...(base === undefined || base.positionsFrom === 0
        ? []
        : [
            [
              'Known',
              `transactions from block ${base.positionsFrom} up${base.ended ? ', the node has thrown the earlier blocks away' : ''}`
            ] as const
          ]),
      ...(filters === undefined ? [] : [['Filters', filtersText(filters, tip?.height ?? 0)] as const]),
      ['Undo', `the last ${undoableBlocks} blocks`],
      ['On disk', `${(bytesOnDisk / 1_000_000).toFixed(1)} MB in ${folder}`]
    ] as const;
    return {
      exit: onNodeChain ? EXIT.done : EXIT.different,
      text: lines.map(([name, value]) => `${name.padEnd(9)}${value}`).join('\n'),
      json: {
        folder,
        network,
        layout: LAYOUT_VERSION,
        index: tip ? blockJson(tip) : null,
        node: blockJson(node.tip()),
        onNodeChain,
        forkHeight,
        blocksBehind,
        undoableBlocks,
        ...(base && { transactionsFrom: base.positionsFrom }),
        ...(filters && { filters }),
        bytesOnDisk
      }
    };
  });
}

function filtersText({ from, upTo, headers }: FilterCoverage, tipHeight: number): string {
  const end = upTo < tipHeight ? ` up to ${upTo}` : '';
  if (from === 0) return `of all blocks${end}${headers ? '' : ', without their headers'}`;
  return `of the blocks from ${from}${end === '' ? ' up' : end}; the others are made while the node runs with --rest-filters`;
}

async function folderBytes(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
