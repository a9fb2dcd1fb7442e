// `index verify`: computes the index again from the node's blocks, in a folder of its own, and
// holds the two against each other record by record. How many blocks can be undone is a
// matter of --rest-undo and of the past, and is said; a gap in undo records is a difference.

import { rm } from 'node:fs/promises';
import { describeRecord } from '../../../lib/index/records/describe-record';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { sameSecret } from '../../../lib/index/records/txid-hash';
import { firstDifference, type StoreDifference } from '../../../lib/store/compare';
import { DiskStore } from '../../../lib/store/disk-store';
import { versionRecord } from '../../../lib/store/migrate';
import { buildIndex } from './build';
import { comparedPart } from './compared-part';
import { EXIT, type CommandContext, type ExitCode } from './command';
import { compareWithNode } from './verify-base';
import { blockJson, blockText, requireOurs, withIndex } from './open-index';
import { progressDisplay } from './progress-display';
import { requireBlocks } from './stopped-node';
import type { BlockPoint, NodeSource } from '../../../lib/node/types';
import type { Store } from '../../../lib/store/store';

/** So many bytes of two records are shown from where they part. */
const SHOWN_BYTES = 16;

/** Exit code 1: there is a difference, or the index is not on the node's chain. */
export function verifyIndex(context: CommandContext): Promise<ExitCode> {
  const { stopped, json, out } = context;
  return withIndex(stopped, async (store) => {
    const index = new ClosedIndex(store);
    await requireOurs(index, stopped);
    const tip = await index.tip();
    if (tip === undefined) {
      out(json ? `${JSON.stringify({ verified: true, index: null, records: 0 })}\n` : 'The index is empty.\n');
      return EXIT.done;
    }
    const forkHeight = await index.forkHeight(tip, stopped.node);
    if (forkHeight !== tip.height) {
      out(json
        ? `${JSON.stringify({ verified: false, index: blockJson(tip), onNodeChain: false, forkHeight })}\n`
        : `The index, at ${blockText(tip)}, is not on the node's chain: they part after block ${forkHeight}. Nothing more was compared.\n`);
      return EXIT.different;
    }
    const base = index.base();
    if (base !== undefined) return await compareWithNode(context, store, base, tip);
    await requireBlocks(stopped.node);
    return await compareWithFresh(context, store, index, tip);
  });
}

async function compareWithFresh(context: CommandContext, store: Store, index: ClosedIndex, tip: BlockPoint): Promise<ExitCode> {
  const { stopped, signal, json, out } = context;
  const folder = `${stopped.indexFolder}-verify`;
  // The node's lock keeps others out: what lies there is of a run that was killed.
  await rm(folder, { recursive: true, force: true });
  try {
    const display = progressDisplay(process.stderr);
    // Fewer than --rest-undo when the index was rewound, or the option raised.
    const undoableBlocks = tip.height + 1 - (await index.lowestUndo() ?? tip.height + 1);
    const fresh = new DiskStore(folder);
    await fresh.open();
    await fresh.batch([versionRecord(LAYOUT_VERSION), sameSecret(store)], { durable: false }).finally(() => fresh.close());
    await buildIndex({ store: fresh, node: nodeAt(stopped.node, tip), undoDepth: undoableBlocks, cacheBytes: stopped.options.catchUpCacheBytes, signal, display });
    let records = 0;
    await fresh.open();
    const difference = await firstDifference(fresh, store, {
      onRecord: (key) => {
        signal.throwIfAborted();
        display.compared(++records, comparedPart(key, tip.height));
      }
    }).finally(async () => {
      display.end();
      await fresh.close();
    });
    out(json
      ? `${JSON.stringify({ verified: difference === undefined, index: blockJson(tip), records, undoableBlocks, ...difference && { difference: differenceJson(difference) } })}\n`
      : difference === undefined
        ? `The index is right: all its ${records} records up to ${blockText(tip)}.\n${undoText(undoableBlocks, tip, stopped.options.undoDepth)}\n`
        : `The index is wrong after ${records} right records: ${differenceText(difference)}.\n`);
    return difference === undefined ? EXIT.done : EXIT.different;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The node as it was when its tip was this block of its chain. */
function nodeAt(node: NodeSource, tip: BlockPoint): NodeSource {
  return Object.assign(Object.create(node) as NodeSource, { tip: () => tip });
}

function undoText(blocks: number, { height }: BlockPoint, depth: number): string {
  const asked = Math.min(depth, height);
  return `Its last ${blocks} blocks can be undone without the node${blocks < asked ? `; --rest-undo asks for ${asked}, and each new block adds one` : ''}.`;
}

function differenceText({ key, expected, found }: StoreDifference): string {
  const what = describeRecord(key, expected ?? found);
  if (found === undefined) return `${what}: missing`;
  if (expected === undefined) return `${what}: expected no such record`;
  const at = firstDifferentByte(expected, found);
  const shown = (value: Buffer): string => value.toString('hex', at, at + SHOWN_BYTES) || 'its end';
  return `${what}: expected ${expected.length} bytes, got ${found.length}; at byte ${at}: expected ${shown(expected)}, got ${shown(found)}`;
}

function differenceJson({ key, expected, found }: StoreDifference): object {
  return {
    record: describeRecord(key, expected ?? found),
    key: key.toString('hex'),
    kind: found === undefined ? 'missing' : expected === undefined ? 'extra' : 'different',
    ...expected && found && { byte: firstDifferentByte(expected, found) }
  };
}

function firstDifferentByte(a: Buffer, b: Buffer): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
