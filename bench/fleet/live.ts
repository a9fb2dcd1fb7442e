import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { addBlock } from '../chain/generate';
import { percentile } from '../measure/percentile';
import { BenchReader } from './bench-reader';
import { withFeed, type Setup } from './nodes';
import type { TestFullNode } from '../../test/support/bcoin/bcoin';

const SMALL_BLOCKS = 40;

/** From the moment when the node has connected a block until a reader answers with it. */
export async function live({ nats, folder, chain, maker, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'live'), chain, async ({ node }) => {
    const reader = await BenchReader.start(nats, join(folder, 'reader'), ['--no-auth', '--rest-addresses']);
    try {
      await reader.untilAt(node.chain.height);
      const large = await latencies(node, reader, blocks);
      const small = await latencies(
        node,
        reader,
        Array.from({ length: SMALL_BLOCKS }, () => maker.nextEmpty())
      );
      for (const [name, list] of [
        ['small blocks', small],
        [`blocks of ${((blocks[0]?.length ?? 0) / 1e6).toFixed(1)} MB`, large]
      ] as const)
        console.log(
          `connect to reader-live, ${name}: p50 ${percentile(list, 0.5).toFixed(0)} ms, p99 ${percentile(list, 0.99).toFixed(0)} ms`
        );
    } finally {
      await reader.stop();
    }
  });
}

async function latencies(node: TestFullNode, reader: BenchReader, blocks: readonly Buffer[]): Promise<number[]> {
  const list: number[] = [];
  for (const block of blocks) {
    const isThere = reader.untilAt(node.chain.height + 1);
    let connected = 0;
    (node as unknown as NodeJS.EventEmitter).once('connect', () => (connected = performance.now()));
    await addBlock(node, block);
    await isThere;
    list.push(performance.now() - connected);
    await pause(200);
  }
  return list;
}
