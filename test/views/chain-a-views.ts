// What a node that holds chain A knows about each block beside its bytes, computed from the
// blocks alone: the context that the views need.

import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanBlock } from '../../lib/bitcoin/block';
import { bitsOf, medianTimePast, MEDIAN_TIME_SPAN, previousHashOf, timeOf } from '../../lib/bitcoin/header';
import { proofOf } from '../../lib/bitcoin/work';
import { chainAActiveBlocks, chainABlocks, coreStyles, type ChainABlock } from '../support/chain/chain-a';
import type { BlockContext } from '../../lib/views/block';

export interface ChainAView extends BlockContext {
  readonly raw: Buffer;
  /** 32 bytes in wire order. */
  readonly hash: Buffer;
  /** The 80 bytes. */
  readonly header: Buffer;
  readonly chainwork: bigint;
  readonly transactionCount: number;
}

function viewOf({ raw, height, stale }: ChainABlock, views: ReadonlyMap<string, ChainAView>): ChainAView {
  const { hash, header, transactions } = scanBlock(raw);
  const parent = views.get(toDisplayHex(previousHashOf(header)));
  const times = [timeOf(header)];
  for (
    let before = parent;
    before !== undefined && times.length < MEDIAN_TIME_SPAN;
    before = views.get(toDisplayHex(previousHashOf(before.raw)))
  )
    times.push(timeOf(before.header));
  const active = chainAActiveBlocks();
  const next = stale ? undefined : active[height + 1];
  return {
    raw,
    hash,
    height,
    header,
    transactionCount: transactions.length,
    chainwork: (parent?.chainwork ?? 0n) + proofOf(bitsOf(header)),
    medianTime: medianTimePast(times),
    confirmations: stale ? -1 : active.length - height,
    ...(next === undefined ? {} : { nextHash: scanBlock(next.raw).hash }),
    ...coreStyles['0.17'],
    hexWithWitness: true
  };
}

let made: ReadonlyMap<string, ChainAView> | undefined;

/** Every block of chain A, genesis and stale ones included, by its hash as displayed. */
function chainAViews(): ReadonlyMap<string, ChainAView> {
  if (made === undefined) {
    const views = new Map<string, ChainAView>();
    for (const block of [...chainAActiveBlocks().slice(0, 1), ...chainABlocks()]) views.set(block.hash, viewOf(block, views));
    made = views;
  }
  return made;
}

/** A block of chain A by its hash as displayed, in either case. @throws Error when it has none. */
export function chainAView(hash: string): ChainAView {
  const view = chainAViews().get(hash.toLowerCase());
  if (view === undefined) throw new Error(`expected the hash of a block of chain A, got ${hash}`);
  return view;
}
