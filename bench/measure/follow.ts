// How the index follows: one large block at a time, with a pause in between as on any chain.

import { setTimeout as pause } from 'node:timers/promises';
import { scanBlock } from '../../lib/bitcoin/block';
import { LoopProbe } from './loop-probe';
import { cpuMilliseconds, ownMemory, untilAtRest, withPeakMemory } from './process-load';
import { blockAt, type HeldBackNode } from './held-back-node';
import type { ChainIndex } from '../../lib/index/types';
import type { BlockPoint } from '../../lib/node/types/chain';
import type { NodeSource } from '../../lib/node/types/source';
import type { WatchedStore } from './watched-store';

export interface Following {
  /** For each block, in milliseconds: the longest turn of the event loop, and the time until the block was acknowledged. */
  readonly held: readonly number[];
  readonly acknowledged: readonly number[];
  /** Processor time of all threads in milliseconds, including later work of the store. */
  readonly cpuPerBlock: number;
  /** Peak memory of the process, without the blocks that wait for their turn. */
  readonly peakBytes: number;
  /** Time that readers waited for an answer while further blocks were added, in milliseconds. */
  readonly readerWaits: readonly number[];
  /** Blocks that were on the disk itself when they were acknowledged. */
  readonly durable: number;
}

export interface FollowOptions {
  /** The node with the whole chain, and the node as the index sees it. */
  readonly node: NodeSource;
  readonly heldBack: HeldBackNode;
  readonly index: ChainIndex;
  readonly store: WatchedStore;
  readonly toHeight: number;
}

const PAUSE_MS = 100;
const CALIBRATION_MS = 2_000;
/** The last blocks are added while somebody reads; the others are measured alone. */
const READ_BLOCKS = 20;
const READ_INTERVAL_MS = 2;

export async function follow({ node, heldBack, index, store, toHeight }: FollowOptions): Promise<Following> {
  const memoryBefore = ownMemory();
  const blocks = await loadBlocks(node, heldBack.source.tip().height + 1, toHeight);
  const waitingBytes = ownMemory() - memoryBefore;
  await untilAtRest();
  const probe = new LoopProbe();
  const idle = await idleCpuShare();
  const held: number[] = [];
  const acknowledged: number[] = [];
  let durable = 0;
  const started = { cpu: cpuMilliseconds(), time: performance.now() };
  const { peakBytes } = await withPeakMemory(async () => {
    for (const block of blocks.slice(0, -READ_BLOCKS)) {
      await pause(PAUSE_MS);
      probe.start();
      const before = performance.now();
      await heldBack.connect(block.point, block.raw);
      held.push(probe.longest());
      acknowledged.push(performance.now() - before);
      if (store.lastDurable) durable++;
      check(index, block);
    }
  });
  probe.close();
  const probed = performance.now() - started.time;
  await untilAtRest();
  const cpu = cpuMilliseconds() - started.cpu - idle * probed;
  const readerWaits: number[] = [];
  for (const block of blocks.slice(-READ_BLOCKS))
    readerWaits.push(...(await readDuring(index, block, () => heldBack.connect(block.point, block.raw))));
  return { held, acknowledged, cpuPerBlock: cpu / held.length, peakBytes: peakBytes - waitingBytes, readerWaits, durable };
}

interface LiveBlock {
  readonly point: BlockPoint;
  readonly raw: Buffer;
  /** A transaction that the index must know afterwards. */
  readonly last: { readonly txid: Buffer; readonly offset: number };
}

async function loadBlocks(node: NodeSource, from: number, to: number): Promise<LiveBlock[]> {
  const blocks: LiveBlock[] = [];
  for (let height = from; height <= to; height++) {
    const { point, raw } = await blockAt(node, height);
    const last = scanBlock(raw).transactions.at(-1);
    if (last === undefined) throw new Error(`expected transactions in the block at height ${height}, got none`);
    blocks.push({ point, raw, last: { txid: last.txid, offset: last.offset } });
  }
  return blocks;
}

/** Processor time of the process at rest, including the probe, as a share of the time. */
async function idleCpuShare(): Promise<number> {
  const before = cpuMilliseconds();
  await pause(CALIBRATION_MS);
  return (cpuMilliseconds() - before) / CALIBRATION_MS;
}

/** Reads the location of a transaction again and again while a block is added: delay of each answer after it was due. */
async function readDuring(index: ChainIndex, block: LiveBlock, connect: () => Promise<void>): Promise<number[]> {
  await pause(PAUSE_MS);
  const waits: number[] = [];
  let due = performance.now() + READ_INTERVAL_MS;
  const timer = setInterval(() => {
    index.reader.read((snapshot) => snapshot.location(block.last.txid));
    const now = performance.now();
    waits.push(Math.max(0, now - due));
    due = now + READ_INTERVAL_MS;
  }, READ_INTERVAL_MS);
  await connect();
  clearInterval(timer);
  check(index, block);
  return waits;
}

/** @throws Error when the index does not hold the block. */
function check(index: ChainIndex, { point: { height, hash }, last }: LiveBlock): void {
  index.reader.read((snapshot) => {
    if (!snapshot.tip.hash.equals(hash)) throw new Error(`expected the index at height ${height}, got ${snapshot.tip.height}`);
    const location = snapshot.location(last.txid);
    if (location?.offset !== last.offset)
      throw new Error(`height ${height}: expected the last transaction at byte ${last.offset}, got ${String(location?.offset)}`);
  });
}
