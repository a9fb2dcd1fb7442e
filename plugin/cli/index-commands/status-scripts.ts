// The part of `index status` about the index by script.

import { existsSync } from 'node:fs';
import { fillingFolder } from '../../options';
import { blockJson, blockText } from './open-index';
import { folderBytes, megabytes } from './folder-size';
import { fillingText, hasScripts, withScripts } from './open-scripts';
import type { CommandContext } from './command';

export interface ScriptsStatus {
  /** Name and value; a line without a name belongs to the one before it. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly json: object;
  /** False if its tip is not a block of the node's chain. */
  readonly onNodeChain: boolean;
}

/** Undefined if there is no index by script. @throws what `withScripts` throws */
export async function scriptsStatus(context: CommandContext): Promise<ScriptsStatus | undefined> {
  if (!hasScripts(context)) return undefined;
  const { node, scriptsFolder: folder, options } = context.stopped;
  const filling = fillingFolder(folder);
  return await withScripts(context, false, async (open) => {
    const { tip, onNodeChain } = open;
    const bytesOnDisk = await folderBytes(folder);
    const fillingBytes = existsSync(filling) ? await folderBytes(filling) : 0;
    const isSwitchedOn = options.addresses !== undefined;
    const blocksBehind = tip === undefined || !onNodeChain ? undefined : node.tip().height - tip.height;
    return {
      onNodeChain,
      lines: [
        ['Scripts', open.filling ? `being filled: ${fillingText(open.filling)}` : tip === undefined ? 'empty' : blockText(tip)],
        ...(blocksBehind === undefined ? [] : [['', behindText(blocksBehind)] as const]),
        ...(onNodeChain ? [] : [['', "the index by script is not on the node's chain"] as const]),
        ['', `${megabytes(bytesOnDisk)} in ${folder}`],
        ...(fillingBytes > 0 ? [['', `${megabytes(fillingBytes)} to be sorted in ${filling}`] as const] : []),
        ...(isSwitchedOn ? [] : [['', 'not switched on in bcoin.conf or the environment (rest-addresses); it stays as it is'] as const])
      ],
      json: {
        folder,
        block: tip ? blockJson(tip) : null,
        ...(open.filling && {
          filling: {
            step: open.filling.step,
            height: open.filling.at?.height ?? null,
            sortedFiles: open.filling.loaded,
            files: open.filling.lengths.length,
            bytesOnDisk: fillingBytes
          }
        }),
        onNodeChain,
        ...(blocksBehind !== undefined && { blocksBehind }),
        switchedOn: isSwitchedOn,
        bytesOnDisk
      }
    };
  });
}

function behindText(blocks: number): string {
  return blocks === 0 ? 'in step' : `${blocks} block${blocks === 1 ? '' : 's'} behind`;
}
