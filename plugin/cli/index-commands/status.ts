// `index status`: where the index stands and what it takes up.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { EXIT, type CommandContext, type ExitCode } from './command';
import { blockJson, blockText, requireOurs, withIndex } from './open-index';
import type { Base } from '../../../lib/index/records/base';
import type { BlockPoint } from '../../../lib/node/types';
import type { StoppedNode } from './stopped-node';

interface Status {
  readonly tip: BlockPoint | undefined;
  /** Height of the last block that index and node have in common; -1: there is none. */
  readonly forkHeight: number;
  /** Only of an index that began with the node's coins. */
  readonly base: Base | undefined;
  readonly undoableBlocks: number;
  readonly bytesOnDisk: number;
}

/** Exit code 1: the index is not on the node's chain. */
export async function indexStatus({ stopped, json, out }: CommandContext): Promise<ExitCode> {
  const status = await readStatus(stopped);
  const { tip, forkHeight } = status;
  const onNodeChain = forkHeight === (tip?.height ?? -1);
  out(json ? `${JSON.stringify(statusJson(status, stopped, onNodeChain))}\n` : statusText(status, stopped, onNodeChain));
  return onNodeChain ? EXIT.done : EXIT.different;
}

function readStatus(stopped: StoppedNode): Promise<Status> {
  return withIndex(stopped, async (store) => {
    const index = new ClosedIndex(store);
    await requireOurs(index, stopped);
    const tip = await index.tip();
    return {
      tip,
      forkHeight: tip === undefined ? -1 : await index.forkHeight(tip, stopped.node),
      base: index.base(),
      undoableBlocks: tip === undefined ? 0 : index.undoableBlocks(tip),
      bytesOnDisk: await folderBytes(stopped.indexFolder)
    };
  });
}

async function folderBytes(folder: string): Promise<number> {
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function statusJson({ tip, base, forkHeight, undoableBlocks, bytesOnDisk }: Status, { node, network, indexFolder }: StoppedNode, onNodeChain: boolean): object {
  return {
    folder: indexFolder,
    network,
    layout: LAYOUT_VERSION,
    index: tip ? blockJson(tip) : null,
    node: blockJson(node.tip()),
    onNodeChain,
    forkHeight,
    blocksBehind: node.tip().height - forkHeight,
    undoableBlocks,
    ...base && { transactionsFrom: base.positionsFrom },
    bytesOnDisk
  };
}

function statusText({ tip, base, forkHeight, undoableBlocks, bytesOnDisk }: Status, { node, network, indexFolder }: StoppedNode, onNodeChain: boolean): string {
  const behind = node.tip().height - forkHeight;
  const lines = [
    ['Index', tip ? blockText(tip) : 'empty'],
    ['Node', blockText(node.tip())],
    ['', onNodeChain ? lagText(behind) : `the index is not on the node's chain: they part after block ${forkHeight}`],
    ['Network', network],
    ['Layout', `${LAYOUT_VERSION}`],
    ...base === undefined || base.positionsFrom === 0 ? [] : [['Known', `transactions from block ${base.positionsFrom} up${base.ended ? ', the node has thrown the earlier blocks away' : ''}`] as const],
    ['Undo', `the last ${undoableBlocks} blocks`],
    ['On disk', `${(bytesOnDisk / 1_000_000).toFixed(1)} MB in ${indexFolder}`]
  ] as const;
  return lines.map(([name, value]) => `${name.padEnd(9)}${value}\n`).join('');
}

function lagText(behind: number): string {
  return behind === 0 ? 'in step' : `the index is ${behind} block${behind === 1 ? '' : 's'} behind`;
}
