// A real bcoin full node on regtest, on free loopback ports, in memory or in a folder.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { bcoin, type HostFullBlock, type TestFullNode } from './bcoin';
import type { HostEntry, HostTransaction } from '../../../lib/node/host';

export interface RegtestOptions {
  /** The node's folder; in memory when left out. */
  readonly prefix?: string;
  readonly plugins?: readonly unknown[];
  /** Options of the node or of plugins, by their names in the configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A node that is constructed, not open. */
export async function createRegtestNode(options: RegtestOptions = {}): Promise<TestFullNode> {
  const httpPort = await freePort();
  const node = new bcoin.FullNode({
    network: 'regtest',
    memory: options.prefix === undefined,
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    workers: false,
    listen: false,
    httpHost: '127.0.0.1',
    httpPort,
    logConsole: false,
    logFile: false,
    plugins: options.plugins ?? [],
    ...options.settings
  });
  // bcoin measures the memory of the process for its log with every block, which takes long and is not logged here.
  node.logger.logger.memory = () => undefined;
  return node;
}

const open = new Set<TestFullNode>();

/** A node that is open; its pool is connected to nobody. */
export async function openRegtestNode(options: RegtestOptions = {}): Promise<TestFullNode> {
  const node = await createRegtestNode(options);
  await node.ensure();
  await node.open();
  // Closed nodes are dropped, to free their memory.
  for (const before of open) if (!before.opened) open.delete(before);
  open.add(node);
  return node;
}

/** Closes nodes that failed tests have left open. A node that did not open completely cannot be closed completely, either. */
export async function closeLeftNodes(): Promise<void> {
  for (const node of open) if (node.opened) await node.close().catch(() => undefined);
  open.clear();
}

/** Mines `count` blocks on top of `parent` (default: the tip) and adds them to the chain. */
export async function mine(node: TestFullNode, count: number, parent?: HostEntry, address?: unknown): Promise<HostFullBlock[]> {
  const blocks: HostFullBlock[] = [];
  let tip = parent ?? node.chain.tip;
  for (let i = 0; i < count; i++) {
    const block = await node.miner.cpu.mineBlock(tip, address);
    if (block === null) throw new Error('the miner was stopped');
    await node.chain.add(block);
    blocks.push(block);
    tip = await entryOf(node, block);
  }
  return blocks;
}

/** Mines a block on `parent` (default: the tip) with nothing but these transactions. */
export async function mineOnly(node: TestFullNode, transactions: readonly HostTransaction[], parent?: HostEntry): Promise<HostEntry> {
  const block = await blockWith(node, transactions, parent);
  await node.chain.add(block);
  return entryOf(node, block);
}

/** The same block, which the node does not get. */
export async function blockWith(
  node: TestFullNode,
  transactions: readonly HostTransaction[],
  parent = node.chain.tip,
  address?: unknown
): Promise<HostFullBlock> {
  const { miner } = node;
  const { mempool } = miner;
  // The pool is not asked for the block: bcoin 1.0.2 miscounts descendants after some reorganizations, and its miner fails over it.
  miner.mempool = null;
  const job = await miner.cpu.createJob(parent, address).finally(() => (miner.mempool = mempool));
  for (const transaction of transactions) job.pushTX(transaction);
  job.refresh();
  return job.mineAsync();
}

/**
 * From now on the node checks no signatures, which takes bcoin half a minute for chain A: Bitcoin Core has accepted its blocks.
 * @returns a function that ends this
 */
export function trustSpends({ workers }: TestFullNode): () => void {
  const check = workers.check.bind(workers);
  workers.check = () => Promise.resolve(null);
  return () => {
    workers.check = check;
  };
}

/** The chain entry of a block that was added. */
export async function entryOf(node: TestFullNode, block: HostFullBlock): Promise<HostEntry> {
  const hash = typeof node.chain.tip.hash === 'string' ? block.hash().toString('hex') : block.hash();
  const entry = await node.chain.getEntry(hash);
  if (entry === null) throw new Error('the chain does not know the block');
  return entry;
}

/**
 * Ports below those that systems give to connections and to servers that ask for any port (from 32,768 on Linux): nobody else
 * should take one between its choice and its use. Each of the processes that run tests beside each other has a share of its own.
 */
const FIRST_PORT = 16_384;
const PORTS_OF_SHARE = 2_048;
const SHARES = 8;
const FIRST_OF_SHARE = FIRST_PORT + (Number(process.env['MOCHA_WORKER_ID'] ?? SHARES - 1) % SHARES) * PORTS_OF_SHARE;

let chosen = randomInt(PORTS_OF_SHARE);

/** A loopback port that nobody listens on. It is given again only after all others of its share. */
export async function freePort(): Promise<number> {
  for (;;) {
    chosen = (chosen + 1) % PORTS_OF_SHARE;
    const port = FIRST_OF_SHARE + chosen;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
