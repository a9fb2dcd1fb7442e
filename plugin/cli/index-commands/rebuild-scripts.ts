// `index rebuild --scripts`: empties the index by script and fills it again at once, as a running node does.

import { STATE_KEYS } from '../../../lib/scripts/records/layout';
import { existsSync } from 'node:fs';
import { duration } from '../../../lib/index/progress/text';
import { fillScripts, requireAllBlocks } from '../../../lib/scripts/fill/fill-scripts';
import { removeFillingFiles } from '../../../lib/scripts/fill/partition-files';
import { ScriptWriter } from '../../../lib/scripts/write/script-writer';
import { DiskStore } from '../../../lib/store/disk-store';
import { fillingFolder } from '../../options';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { blockJson, blockText } from './open-index';
import { emptyStore } from './rebuild';
import { scriptBlockAt } from './script-blocks';
import type { ScriptBlock } from '../../../lib/scripts/scan/rows';

/** The most bytes of blocks, and the most blocks, that are written together. */
const BATCH_BYTES = 8_000_000;
const BATCH_BLOCKS = 500;

/** @throws MissingBlocksError before anything is emptied; the reason of an abort, after which the node continues the filling. */
export async function rebuildScripts(context: CommandContext): Promise<CommandResult> {
  const { stopped, display, signal } = context;
  const { node, scriptsFolder: path } = stopped;
  await requireAllBlocks(node);
  // Most tables are not checked first, because they are thrown away.
  if (existsSync(path)) await emptyStore(new DiskStore(path, { checkedFirst: STATE_KEYS }), stopped);
  const filesPath = fillingFolder(path);
  removeFillingFiles(filesPath);
  const start = performance.now();
  try {
    const target = node.tip().height - stopped.options.undoDepth;
    const onState = display.noteScripts.bind(display);
    if (target > 0) await fillScripts({ path, filesPath, node, target, onState, logger: display.logger, signal });
    await takeInLast(context);
  } finally {
    display.end();
  }
  const seconds = Math.ceil((performance.now() - start) / 1_000);
  const tip = node.tip();
  return {
    exit: EXIT.done,
    json: { scripts: blockJson(tip), seconds },
    text: `The index by script was filled again up to ${blockText(tip)}, in ${duration(seconds)}.`
  };
}

/** Takes in the blocks above those from which the index was filled, with undo records. */
async function takeInLast({ stopped, display, signal }: CommandContext): Promise<void> {
  const { node, scriptsFolder, options } = stopped;
  const store = new DiskStore(scriptsFolder, { checkedFirst: STATE_KEYS });
  await store.open();
  try {
    const writer = new ScriptWriter({
      store,
      genesisHash: node.network.genesisHash,
      undoDepth: options.undoDepth
    });
    await writer.load();
    const target = node.tip().height;
    for (let height = (writer.tip?.height ?? -1) + 1; height <= target;) {
      const blocks: ScriptBlock[] = [];
      for (let bytes = 0; height <= target && bytes < BATCH_BYTES && blocks.length < BATCH_BLOCKS; height++) {
        signal.throwIfAborted();
        const block = await scriptBlockAt(node, height);
        bytes += block.raw.length;
        blocks.push(block);
      }
      await writer.connect(blocks);
      display.noteScripts({ phase: 'catching-up', height: height - 1, target });
    }
  } finally {
    await store.close();
  }
}
