// The index by script.

import { existsSync } from 'node:fs';
import { findTip, TIP_KEY } from '../../../lib/index/records/chain';
import { requireAllBlocks } from '../../../lib/scripts/fill/fill-scripts';
import { findFilling, type FillingProgress } from '../../../lib/scripts/records/filling';
import { LAYOUT_VERSION, STATE_KEYS } from '../../../lib/scripts/records/layout';
import { TxidTable } from '../../../lib/scripts/txids/txid-table';
import { fillingFolder } from '../../places';
import { fillIndex } from './fresh-script-index';
import { ImpossibleError } from './errors';
import { blockJson, blockText, BY_SCRIPT } from './report';
import { behindText, diskUse, type IndexStatus, type OpenIndex, type StoppedIndex } from './stopped-index';
import { compareRows } from './verify/script-rows';
import type { Store } from '../../../lib/store/store';
import type { StoppedNode } from './stopped-node';

/** `percent`: of the blocks that `verify` compares. Unless it compares all of them, most tables are not checked when the index is opened. */
export const scriptIndex = (percent = 0): StoppedIndex => ({
  ...BY_SCRIPT,
  maker: 'the node fills it when it runs with --rest-addresses',
  rebuilt: 'filled again',
  nothing: { blocks: 0, rows: 0 },
  folder: ({ scriptsFolder }) => scriptsFolder,
  ...(percent < 100 && { checks: { checkedFirst: STATE_KEYS } }),
  damage: 'in the index by script: ',

  requireLayout(layout = LAYOUT_VERSION) {
    if (layout !== LAYOUT_VERSION)
      throw new ImpossibleError(
        `the index by script has layout ${layout}, and this program reads layout ${LAYOUT_VERSION}; ` +
          'the node fills it again when it next starts with --rest-addresses'
      );
  },

  async read(store, context) {
    const { stopped } = context;
    const filling = store.get(TIP_KEY) === undefined ? findFilling(store) : undefined;
    const tip = filling === undefined ? await findTip(store) : undefined;
    const onNodeChain = tip === undefined || (await stopped.node.activeHash(tip.height))?.equals(tip.hash) === true;
    return {
      tip,
      onNodeChain,
      filling: filling && fillingText(filling),
      status: () => statusOf(store, { tip, onNodeChain, filling }, stopped),
      verify: (at) => compareRows(context, store, at, percent)
    };
  },

  requireBuildable: ({ node }) => requireAllBlocks(node),
  build: fillIndex
});

async function statusOf(
  store: Store,
  { tip, onNodeChain, filling }: Pick<OpenIndex, 'tip' | 'onNodeChain'> & { readonly filling: FillingProgress | undefined },
  { node, scriptsFolder: folder, options }: StoppedNode
): Promise<IndexStatus> {
  const toSort = fillingFolder(folder);
  const disk = await diskUse(folder);
  const sorting = existsSync(toSort) ? await diskUse(toSort, ' to be sorted') : undefined;
  const txids = tip && (await TxidTable.load(store, tip.height + 1));
  await txids?.check();
  const blocksBehind = tip && onNodeChain ? node.tip().height - tip.height : undefined;
  return {
    lines: [
      ['Scripts', filling ? `being filled: ${fillingText(filling)}` : tip ? blockText(tip) : 'empty'],
      blocksBehind !== undefined && ['', behindText(blocksBehind)],
      !onNodeChain && ['', "the index by script is not on the node's chain"],
      txids && ['', `txids of ${txids.transactions} transactions`],
      ['', disk.text],
      sorting && sorting.bytes > 0 && ['', sorting.text],
      !options.addresses && ['', 'not switched on in bcoin.conf or the environment (rest-addresses); it stays as it is']
    ],
    json: {
      folder,
      block: tip ? blockJson(tip) : null,
      transactions: txids?.transactions,
      filling: filling && {
        step: filling.step,
        height: filling.at?.height ?? null,
        sortedFiles: filling.loaded,
        files: filling.lengths.length,
        bytesOnDisk: sorting?.bytes ?? 0
      },
      onNodeChain,
      blocksBehind,
      switchedOn: options.addresses,
      bytesOnDisk: disk.bytes
    }
  };
}

/** For example `step 1 of 2, rows of blocks up to 412000`. */
function fillingText({ step, at, loaded, lengths }: FillingProgress): string {
  if (step === 'partitioning') return `step 1 of 2, rows of blocks up to ${at === undefined ? 'none yet' : at.height}`;
  return `step 2 of 2, ${loaded} of ${lengths.length} files sorted`;
}
