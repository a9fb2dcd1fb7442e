// The nodes of the fleet, in this process, each with a copy of the chain.

import { cpSync, rmSync } from 'node:fs';
import { runFleetCommand } from '../../plugin/fleet/command';
import { FeedingNode } from '../../test/support/fleet/feeding-node';
import { openRegtestNode } from '../../test/support/bcoin/regtest-node';
import { addBlock, trustBlocks } from '../chain/generate';
import type { Io } from '../../plugin/cli/io';
import type { TestFullNode } from '../../test/support/bcoin/bcoin';
import type { Nats } from '../../test/support/fleet/nats';
import type { BlockMaker } from '../chain/block-maker';

/** What each part of the benchmark begins with. */
export interface Setup {
  readonly nats: Nats;
  readonly folder: string;
  readonly rounds: number;
  /** Of a node with the first blocks. */
  readonly chain: string;
  readonly maker: BlockMaker;
  readonly blocks: readonly Buffer[];
}

/** In the place of what an earlier round left. */
export function copyChain(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
}

export async function withNode<T>(prefix: string, chain: string, use: (node: TestFullNode) => Promise<T>): Promise<T> {
  copyChain(chain, prefix);
  const node = await openRegtestNode({ prefix });
  const distrust = trustBlocks(node);
  try {
    return await use(node);
  } finally {
    distrust();
    await node.close();
  }
}

export async function withFeed<T>(nats: Nats, prefix: string, chain: string, use: (feeding: FeedingNode) => Promise<T>): Promise<T> {
  copyChain(chain, prefix);
  // The log of another node's blocks has more work than this node, which would not lead.
  await runQuietly(runFleetCommand, ['reset-log', '--yes', '--network', 'regtest', `--rest-nats=${nats.url}`]);
  const feeding = await FeedingNode.open(nats.url, { prefix });
  const distrust = trustBlocks(feeding.node);
  feeding.start();
  await feeding.feed.settled();
  try {
    return await use(feeding);
  } finally {
    distrust();
    await feeding.feed.close();
    await feeding.node.close();
  }
}

export async function addAll(node: TestFullNode, blocks: readonly Buffer[]): Promise<void> {
  for (const block of blocks) await addBlock(node, block);
}

/** What a command prints. */
export async function runQuietly(command: (args: readonly string[], io: Io) => Promise<number>, args: readonly string[]): Promise<string> {
  let said = '';
  const code = await command(args, {
    out: (text) => (said += text),
    err: (text) => (said += text),
    now: () => new Date()
  });
  if (code !== 0) throw new Error(said);
  return said;
}
