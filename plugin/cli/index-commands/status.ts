// `index status`: the state of the index and of the index by script, and their sizes.

import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { folderBytes, megabytes } from './folder-size';
import { blockJson, blockText, withIndex } from './open-index';
import { scriptsStatus } from './status-scripts';
import type { FilterCoverage } from '../../../lib/index/read/closed-index';

/** Exit code 1 means that one of the indexes is not on the node's chain. */
export function indexStatus(context: CommandContext): Promise<CommandResult> {
  const { node, network, indexFolder: folder } = context.stopped;
  return withIndex(context, async ({ index, tip, forkHeight }) => {
    const base = index.base();
    const filters = index.filters();
    const onNodeChain = forkHeight === (tip?.height ?? -1);
    const blocksBehind = node.tip().height - forkHeight;
    const undoableBlocks = tip === undefined ? 0 : index.undoableBlocks(tip);
    const bytesOnDisk = await folderBytes(folder);
    const scripts = await scriptsStatus(context);
    const lag = blocksBehind === 0 ? 'in step' : `the index is ${blocksBehind} block${blocksBehind === 1 ? '' : 's'} behind`;
    const lines = [
      ['Index', tip ? blockText(tip) : 'empty'],
      ['Node', blockText(node.tip())],
      ['', onNodeChain ? lag : `the index is not on the node's chain: they fork after block ${forkHeight}`],
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
      ['On disk', `${megabytes(bytesOnDisk)} in ${folder}`],
      ...(scripts?.lines ?? [])
    ] as const;
    return {
      exit: onNodeChain && scripts?.onNodeChain !== false ? EXIT.done : EXIT.different,
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
        bytesOnDisk,
        ...(scripts && { scripts: scripts.json })
      }
    };
  });
}

function filtersText({ from, upTo, headers }: FilterCoverage, tipHeight: number): string {
  const end = upTo < tipHeight ? ` up to ${upTo}` : '';
  if (from === 0) return `of all blocks${end}${headers ? '' : ', without their headers'}`;
  return `of the blocks from ${from}${end === '' ? ' up' : end}; the others are made while the node runs with --rest-filters`;
}
