// `index verify`: computes the index again from the node's blocks, in a separate folder, and compares the two record by record. How many
// blocks can be undone depends on --rest-undo and on the past, so it is only reported; a gap in undo records is a difference.

import { rm } from 'node:fs/promises';
import { BESIDE_FILTERS } from '../../../lib/index/records/filter';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { sameSecret } from '../../../lib/index/records/txid-hash';
import { firstDifference, type StoreDifference } from '../../../lib/store/compare';
import { DiskStore } from '../../../lib/store/disk-store';
import { versionRecord } from '../../../lib/store/migrate';
import { EXIT, type CommandContext, type CommandResult } from './command';
import { differenceJson, differenceText } from './difference';
import { ImpossibleError } from './errors';
import { blockJson, blockText, withIndex, type OpenIndex } from './open-index';
import { buildIndex } from './rebuild';
import { compareWithNode } from './verify-base';
import { differentFilter } from './verify-filters';
import type { BlockPoint, NodeSource } from '../../../lib/node/types';

/** Kinds of records in the order of their letters, and their rough shares of the work on a long chain. */
const KINDS: readonly { readonly letter: string; readonly share: number; readonly next: 'hash' | 'height' }[] = [
  { letter: 'b', share: 0.02, next: 'hash' },
  { letter: 'd', share: 0.03, next: 'height' },
  { letter: 'h', share: 0.02, next: 'height' },
  { letter: 'l', share: 0.03, next: 'height' },
  { letter: 'o', share: 0.3, next: 'height' },
  { letter: 'p', share: 0.6, next: 'hash' }
];

/** Exit code 1 means that there is a difference, or that the index is not on the node's chain. */
export function verifyIndex(context: CommandContext): Promise<CommandResult> {
  const { node } = context.stopped;
  return withIndex(context, async (open) => {
    const { index, store, tip, forkHeight } = open;
    if (tip === undefined) return { exit: EXIT.done, json: { verified: true, index: null, records: 0 }, text: 'The index is empty.' };
    if (forkHeight !== tip.height)
      return {
        exit: EXIT.different,
        json: { verified: false, index: blockJson(tip), onNodeChain: false, forkHeight },
        text: `The index, at ${blockText(tip)}, is not on the node's chain: they fork after block ${forkHeight}. Nothing more was compared.`
      };
    const base = index.base();
    if (base !== undefined) return await compareWithNode(context, store, base, tip);
    if (!(await node.hasAllBlocks()))
      throw new ImpossibleError(
        `the node has not kept all its blocks${node.pruned ? ' (--prune)' : ''}, and an index can only be computed from all of them`
      );
    return await compareWithFresh(context, open, tip);
  });
}

async function compareWithFresh(context: CommandContext, { store, index }: OpenIndex, tip: BlockPoint): Promise<CommandResult> {
  const {
    stopped: { node, indexFolder, options },
    signal,
    display
  } = context;
  const folder = `${indexFolder}-verify`;
  // The node's lock keeps other runs out, so an existing folder was left by a run that was killed.
  await rm(folder, { recursive: true, force: true });
  try {
    // Fewer than --rest-undo if the index was rewound or the option was raised.
    const undoDepth = tip.height + 1 - ((await index.lowestUndo()) ?? tip.height + 1);
    const fresh = new DiskStore(folder);
    await fresh.open();
    await fresh.batch([versionRecord(LAYOUT_VERSION), sameSecret(store)], { durable: false }).finally(() => fresh.close());
    await buildIndex({ store: fresh, node: nodeAt(node, tip), undoDepth, cacheBytes: options.catchUpCacheBytes }, context);
    let records = 0;
    await fresh.open();
    let difference: StoreDifference | undefined;
    try {
      for (const range of BESIDE_FILTERS)
        difference ??= await firstDifference(fresh, store, {
          range,
          onRecord: (key) => {
            signal.throwIfAborted();
            display.compared(++records, comparedPart(key, tip.height));
          }
        });
      difference ??= await differentFilter(tip, {
        node,
        store,
        onBlock: (height) => {
          signal.throwIfAborted();
          display.compared(records, height / (tip.height + 1));
        }
      });
    } finally {
      display.end();
      await fresh.close();
    }
    return {
      exit: difference === undefined ? EXIT.done : EXIT.different,
      json: {
        verified: difference === undefined,
        index: blockJson(tip),
        records,
        undoableBlocks: undoDepth,
        ...(difference && { difference: differenceJson(difference) })
      },
      text:
        difference === undefined
          ? `The index is right: all its ${records} records up to ${blockText(tip)}.\n${undoText(undoDepth, tip, options.undoDepth)}`
          : `The index is wrong after ${records} right records: ${differenceText(difference)}.`
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The node, with this block of its chain as its tip. */
function nodeAt(node: NodeSource, tip: BlockPoint): NodeSource {
  return new Proxy(node, {
    get: (target, name): unknown => {
      const value: unknown = name === 'tip' ? () => tip : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    }
  });
}

/** Estimates how far a comparison in key order is, 0 to 1: hashes are spread evenly, and so are heights up to the tip's. */
export function comparedPart(key: Buffer, tipHeight: number): number {
  const letter = key.toString('latin1', 0, 1);
  let part = 0;
  for (const kind of KINDS) {
    if (letter < kind.letter) break;
    const within =
      letter !== kind.letter ? 1 : kind.next === 'hash' ? key.readUInt16BE(1) / 0x1_0000 : key.readUInt32BE(1) / (tipHeight + 1);
    part += kind.share * within;
  }
  return Math.min(part, 1);
}

function undoText(blocks: number, { height }: BlockPoint, depth: number): string {
  const asked = Math.min(depth, height);
  return `Its last ${blocks} blocks can be undone without the node${blocks < asked ? `; --rest-undo asks for ${asked}, and each new block adds one` : ''}.`;
}
