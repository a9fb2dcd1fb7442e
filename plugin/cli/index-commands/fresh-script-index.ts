// An index by script that is filled from the blocks of a stopped node.

import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { consecutiveBlocks } from '../../../lib/follow/consecutive';
import { fillScripts } from '../../../lib/scripts/fill/fill-scripts';
import { removeFillingFiles } from '../../../lib/scripts/fill/partition-files';
import { STATE_KEYS } from '../../../lib/scripts/records/layout';
import { scriptBlock } from '../../../lib/scripts/scan/node-blocks';
import { ScriptWriter } from '../../../lib/scripts/write/script-writer';
import { DiskStore } from '../../../lib/store/disk-store';
import { fillingFolder } from '../../places';
import { ImpossibleError } from './errors';
import type { NodeSource } from '../../../lib/node/types/source';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';
import type { CommandContext } from './stopped-index';

/**
 * Fills the index by script up to the node's tip, as the plugin does in a running node.
 * @throws MissingBlocksError, FillingError, ImpossibleError; the reason of an abort, after which the node continues the filling.
 */
export async function fillIndex(context: CommandContext): Promise<void> {
  const { stopped, display, signal } = context;
  const { node, scriptsFolder: path } = stopped;
  const filesPath = fillingFolder(path);
  removeFillingFiles(filesPath);
  try {
    const target = node.tip().height - stopped.options.undoDepth;
    const onState = display.noteScripts.bind(display);
    if (target > 0) await fillScripts({ path, filesPath, node, target, onState, logger: display.logger, signal });
    await takeInLast(context);
  } finally {
    display.end();
  }
}

/** Takes in the blocks above those from which the index was filled, with undo records. */
async function takeInLast({ stopped, display, signal }: CommandContext): Promise<void> {
  const { node, scriptsFolder, options } = stopped;
  const store = new DiskStore(scriptsFolder, { checkedFirst: STATE_KEYS });
  await store.open();
  try {
    const writer = new ScriptWriter({ store, genesisHash: node.network.genesisHash, undoDepth: options.undoDepth });
    await writer.load();
    const target = node.tip().height;
    for (let height = (writer.tip?.height ?? -1) + 1; height <= target;) {
      const blocks = await consecutiveBlocks(height, target, undefined, signal, (next) => scriptBlockAt(node, next));
      signal.throwIfAborted();
      await writer.connect(blocks);
      height += blocks.length;
      display.noteScripts({ phase: 'catching-up', height: height - 1, target });
    }
  } finally {
    await store.close();
  }
}

/** The block at a height of the node's chain. @throws ImpossibleError when the node has not kept the block or its undo data. */
export async function scriptBlockAt(node: NodeSource, height: number): Promise<ScriptBlock> {
  const hash = await node.activeHash(height);
  const block = hash && (await scriptBlock({ height, hash }, node));
  if (block !== undefined && typeof block !== 'string') return block;
  throw new ImpossibleError(
    `the node has not kept ${block === 'undo data' ? 'the undo data of ' : ''}block ${height}${hash === undefined ? '' : ` (${toDisplayHex(hash)})`}, ` +
      'and an index by script can only be computed from all blocks and what they spend'
  );
}
