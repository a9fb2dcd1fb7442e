// Feeds the synthetic chain to a real bcoin node, block by block through its own `chain.add`.
// The transactions have no valid signatures: the node is told that its last checkpoint is
// above all of them, and checks everything except scripts and amounts (merkle root, witness
// commitment, proof of work, times, weight, existence of the coins spent).

import { scanBlock } from '../../lib/bitcoin/block';
import { fromHost } from '../../lib/node/host';
import { bcoin, type TestFullNode } from '../../test/support/bcoin/bcoin';
import { openRegtestNode, type RegtestOptions } from '../../test/support/bcoin/regtest-node';
import { BlockMaker, FIRST_BLOCKS } from './block-maker';
import { LIVE_SHAPE, usualShape } from './block-shape';
import { GENERATION, type ChainParameters } from './parameters';
import type { ChainManifest } from './manifest';

const COIN_CACHE_MB = 500;
const ABOVE_ALL = 0x7fff_ffff;
const NO_CHECKPOINT = 0;
const REPORT_MS = 10_000;

/** Makes the chain in an empty folder. `report` gets the progress now and then. */
export async function generateChain(folder: string, parameters: ChainParameters, report: (line: string) => void): Promise<ChainManifest> {
  return onTrustingNode(folder, {}, (node) => new Generator(node, parameters, report).run());
}

/** A node on an empty folder that treats all blocks as history. */
export async function onTrustingNode<T>(
  folder: string,
  settings: RegtestOptions['settings'],
  use: (node: TestFullNode) => Promise<T>
): Promise<T> {
  const node = await openRegtestNode({ prefix: folder, settings: { coinCache: COIN_CACHE_MB, cacheSize: 256, ...settings } });
  const distrust = trustBlocks(node);
  try {
    return await use(node);
  } finally {
    distrust();
    await node.close();
  }
}

/** Makes the node treat all blocks as history; returns a function that ends this. */
export function trustBlocks(node: TestFullNode): () => void {
  // bcoin keeps one such object for each network.
  const network = node.network as unknown as { lastCheckpoint: number };
  network.lastCheckpoint = ABOVE_ALL;
  return () => {
    network.lastCheckpoint = NO_CHECKPOINT;
  };
}

/** @throws Error when the block did not become the tip. */
export async function addBlock(node: TestFullNode, raw: Buffer): Promise<void> {
  const before = node.chain.tip.height;
  await node.chain.add(bcoin.Block.fromRaw(raw));
  if (node.chain.tip.height !== before + 1)
    throw new Error(`expected the node at height ${before + 1} after another block, got ${node.chain.tip.height}`);
}

class Generator {
  readonly #maker: BlockMaker;
  readonly #totals = { bytes: 0, transactions: 0, inputs: 0, outputs: 0 };
  readonly #started = performance.now();
  #reported = 0;

  constructor(
    private readonly node: TestFullNode,
    private readonly parameters: ChainParameters,
    private readonly report: (line: string) => void
  ) {
    this.#maker = new BlockMaker(parameters.seed, fromHost(node.network.genesis.hash));
  }

  async run(): Promise<ChainManifest> {
    const { bytes, liveBlocks } = this.parameters;
    for (let i = 0; i < FIRST_BLOCKS; i++) await this.#add(this.#maker.nextFirst());
    while (this.#totals.bytes < bytes) await this.#add(this.#maker.next(usualShape(this.#maker.random, this.parameters)));
    const { height } = this.node.chain.tip;
    const totals = { ...this.#totals, unspent: this.#maker.coins.unspent };
    for (let i = 0; i < liveBlocks; i++) await this.#add(this.#maker.next(LIVE_SHAPE));
    const { tip } = this.node.chain;
    return {
      generation: GENERATION,
      bcoin: bcoin.pkg.version,
      parameters: this.parameters,
      height,
      tipHeight: tip.height,
      tipHash: fromHost(tip.hash).toString('hex'),
      totals
    };
  }

  async #add(raw: Buffer): Promise<void> {
    await addBlock(this.node, raw);
    this.#count(raw);
    this.#reportProgress();
  }

  #count(raw: Buffer): void {
    const { transactions } = scanBlock(raw);
    const totals = this.#totals;
    totals.bytes += raw.length;
    totals.transactions += transactions.length;
    for (const { inputs, outputs, isCoinbase } of transactions) {
      totals.inputs += isCoinbase ? 0 : inputs.length;
      totals.outputs += outputs.length;
    }
  }

  #reportProgress(): void {
    const now = performance.now();
    if (now - this.#reported < REPORT_MS) return;
    this.#reported = now;
    const { bytes } = this.#totals;
    const seconds = (now - this.#started) / 1_000;
    this.report(
      `height ${this.node.chain.tip.height}, ${(bytes / 1e6).toFixed(0)} of ${(this.parameters.bytes / 1e6).toFixed(0)} MB, ` +
        `${(this.#maker.coins.unspent / 1e6).toFixed(2)} million coins, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`
    );
  }
}
