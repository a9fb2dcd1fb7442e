// An index that is built from the blocks of a stopped node: by `rebuild`, and by `verify`, which builds it in a separate folder and compares the
// two record by record. How many blocks can be undone depends on --rest-undo and on the past, so it is only reported; a gap in undo
// records is a difference.

import { rm } from 'node:fs/promises';
import { filter, firstValueFrom, fromEvent, map, merge, tap } from 'rxjs';
import { ChainIndexer, type ChainIndexerOptions } from '../../../lib/index/chain-index';
import { ClosedIndex } from '../../../lib/index/read/closed-index';
import { FILTERS_KEY, FILTER_RECORDS } from '../../../lib/index/records/filter';
import { LAYOUT_VERSION } from '../../../lib/index/records/layout';
import { SPENT_HASHES } from '../../../lib/index/records/spent-hash';
import { sameSecret } from '../../../lib/index/records/txid-hash';
import { firstDifference, type StoreDifference } from '../../../lib/store/compare';
import { DiskStore } from '../../../lib/store/disk-store';
import { versionRecord } from '../../../lib/store/migrate';
import { migrations } from '../../../migrations';
import { ImpossibleError } from './errors';
import { blockText, MAIN, verdict, type Report } from './report';
import { differentFilter } from './verify/filters';
import { differentSpentHash } from './verify/spent-hashes';
import type { BlockPoint } from '../../../lib/node/types/chain';
import type { NodeSource } from '../../../lib/node/types/source';
import type { Store, StoreRange } from '../../../lib/store/store';
import type { CommandContext } from './stopped-index';

/** All records that every index has, whatever its options. */
const USUAL_RECORDS: readonly StoreRange[] = [
  { gte: Buffer.alloc(0), lt: FILTERS_KEY },
  { gte: Buffer.from('G'), lt: FILTER_RECORDS.gte },
  { gte: FILTER_RECORDS.lt, lt: SPENT_HASHES.gte },
  { gte: SPENT_HASHES.lt, lt: Buffer.from([0xff]) }
];

/**
 * Builds an index up to the tip of a stopped node, as the plugin does in a running one. The store is closed before and afterwards.
 * @throws ImpossibleError when the index cannot be built, and the reason of an abort, after which the store has a complete index of
 * fewer blocks.
 */
export async function buildIndex(
  options: Omit<ChainIndexerOptions, 'logger' | 'migrations'>,
  { display, signal }: CommandContext
): Promise<void> {
  const index = new ChainIndexer({ ...options, migrations, logger: display.logger });
  const states$ = index.state$.pipe(
    tap((state) => {
      display.note(state);
    }),
    filter(({ phase }) => phase === 'live' || phase === 'failed')
  );
  const aborted$ = fromEvent(signal, 'abort').pipe(map(() => undefined));
  signal.throwIfAborted();
  await index.open();
  try {
    signal.throwIfAborted();
    const end = await firstValueFrom(merge(states$, aborted$));
    signal.throwIfAborted();
    if (end?.phase === 'failed') throw new ImpossibleError(`the index could not be built: ${end.message}`);
  } finally {
    await index.close();
    display.end();
  }
}

/** @throws the reason of an abort, ImpossibleError, StoreError */
export async function compareWithFresh(context: CommandContext, store: Store, tip: BlockPoint): Promise<Report> {
  const { node, indexFolder, options } = context.stopped;
  const folder = `${indexFolder}-verify`;
  // The node's lock keeps other runs out, so an existing folder was left by a run that was killed.
  await rm(folder, { recursive: true, force: true });
  const fresh = new DiskStore(folder);
  try {
    // Fewer than --rest-undo if the index was rewound or the option was raised.
    const undoDepth = tip.height + 1 - ((await new ClosedIndex(store).lowestUndo()) ?? tip.height + 1);
    await fresh.open();
    await fresh.batch([versionRecord(LAYOUT_VERSION), sameSecret(store)], { durable: false }).finally(() => fresh.close());
    const { catchUpCacheBytes: cacheBytes } = options;
    await buildIndex({ store: fresh, node: nodeAt(node, tip), undoDepth, cacheBytes, spentHashes: true }, context);
    await fresh.open();
    const { difference, records } = await firstDifferent(fresh, store, tip, context);
    return verdict(MAIN, {
      tip,
      difference,
      counts: { records, undoableBlocks: undoDepth },
      right: `all its ${records} records up to ${blockText(tip)}.\n${undoText(undoDepth, tip, options.undoDepth)}`,
      wrong: ` after ${records} right records`
    });
  } finally {
    await fresh.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** `records`: how many are the same. */
async function firstDifferent(
  fresh: Store,
  store: Store,
  tip: BlockPoint,
  { stopped: { node }, display, signal }: CommandContext
): Promise<{ readonly difference: StoreDifference | undefined; readonly records: number }> {
  let [difference, records]: [StoreDifference | undefined, number] = [undefined, 0];
  const note = (part: number): void => {
    signal.throwIfAborted();
    display.compared(records, part);
  };
  const onRecord = (key: Buffer): void => {
    records++;
    note(comparedPart(key, tip.height));
  };
  const onBlock = (height: number): void => {
    note(height / (tip.height + 1));
  };
  try {
    for (const range of USUAL_RECORDS) difference ??= await firstDifference(fresh, store, { range, onRecord });
    difference ??= await differentSpentHash(fresh, store, () => {
      records++;
      note(1);
    });
    difference ??= await differentFilter(tip, { node, store, onBlock });
    return { difference, records };
  } finally {
    display.end();
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

/** Letters that records begin with, in their order, and the rough shares of these records in the work on a long chain. */
const SHARES = Object.entries({ b: 0.02, d: 0.03, h: 0.02, l: 0.03, o: 0.3, p: 0.6 });
/** After these letters comes a hash, after the others a height. */
const BEFORE_HASH = 'bp';

/** Estimates how far a comparison in key order is, 0 to 1: hashes are spread evenly, and so are heights up to the tip's. */
export function comparedPart(key: Buffer, tipHeight: number): number {
  const own = key.toString('latin1', 0, 1);
  let part = 0;
  for (const [letter, share] of SHARES) {
    if (own < letter) break;
    const within = BEFORE_HASH.includes(letter) ? key.readUInt16BE(1) / 0x1_0000 : key.readUInt32BE(1) / (tipHeight + 1);
    part += share * (own === letter ? within : 1);
  }
  return Math.min(part, 1);
}

function undoText(blocks: number, { height }: BlockPoint, depth: number): string {
  const asked = Math.min(depth, height);
  return `Its last ${blocks} blocks can be undone without the node${blocks < asked ? `; --rest-undo asks for ${asked}, and each new block adds one` : ''}.`;
}
