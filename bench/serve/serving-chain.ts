// The chain that serving is measured on: small blocks with coins of known keys, large mixed
// blocks, and a long tail of small ones, so that 2,000 headers are to be had anywhere and
// that bitcoind takes the large blocks for assumed valid (two weeks of work on top). A pool
// of signed transactions lies beside it, in the node's own file.

import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHost } from '../../lib/node/host-hash';
import { bcoin } from '../../test/support/bcoin';
import { BlockMaker, FIRST_BLOCKS } from '../chain/block-maker';
import { usualShape } from '../chain/block-shape';
import { addBlock, onTrustingNode } from '../chain/generate';
import { DEFAULT_PARAMETERS } from '../chain/parameters';
import { DATA_FOLDER } from '../chain/synthetic-chain';
import { fillPool, OWNED_BLOCKS, ownScript } from './pool-maker';

/** Moves with everything that changes the chain or its pool. */
const GENERATION = 1;
const SEED = 7;
const LARGE_BLOCKS = 40;
const TAIL_BLOCKS = 2_100;
export const POOL_TRANSACTIONS = 5_000;
const MANIFEST = 'serving.json';

/** What this run of the benchmark writes; whoever runs it takes it away again. */
export const RUN_FOLDER = join(DATA_FOLDER, `run-${process.pid}`);

/** Settings of a node on the chain: what bcoin's own interface needs, and the pool from its file. */
export const NODE_SETTINGS = { indexTx: true, persistentMempool: true };

/** Heights of the large blocks. */
export const LARGE_FROM = FIRST_BLOCKS + 1;
export const LARGE_TO = FIRST_BLOCKS + LARGE_BLOCKS;

export interface ServingChain {
  /** The prefix of a node that has chain and pool; nobody serves from it. */
  readonly folder: string;
  /** In order of height, from 1, as blk files have them. */
  readonly blockFile: string;
}

/** From bench/data, made when it is not there. */
export async function servingChain(report: (line: string) => void): Promise<ServingChain> {
  const folder = join(DATA_FOLDER, `serving-${GENERATION}-seed${SEED}-bcoin-${bcoin.pkg.version}`);
  const chain = { folder, blockFile: join(folder, 'blocks.dat') };
  if (existsSync(join(folder, MANIFEST))) return chain;
  const unfinished = `${folder}.unfinished`;
  for (const leftover of [folder, unfinished]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  report(`making ${folder}`);
  const made = await onTrustingNode(unfinished, NODE_SETTINGS, async (node) => {
    const blocks: Buffer[] = [];
    for (const raw of makeBlocks(fromHost(node.network.genesis.hash))) {
      await addBlock(node, raw);
      blocks.push(Buffer.from('fabfb5da', 'hex'), lengthOf(raw), raw);
    }
    writeFileSync(join(unfinished, 'blocks.dat'), Buffer.concat(blocks));
    return { tipHash: fromHost(node.chain.tip.hash).toString('hex'), height: node.chain.tip.height };
  });
  report(`signing ${POOL_TRANSACTIONS} transactions for the pool`);
  await fillPool(unfinished, POOL_TRANSACTIONS, NODE_SETTINGS);
  writeFileSync(join(unfinished, MANIFEST), `${JSON.stringify({ generation: GENERATION, seed: SEED, pool: POOL_TRANSACTIONS, ...made }, null, 2)}\n`);
  renameSync(unfinished, folder);
  return chain;
}

/** A folder with the same data for a process of its own, in RUN_FOLDER. */
export function copyOf(chain: ServingChain, name: string): string {
  const copy = join(RUN_FOLDER, name);
  cpSync(chain.folder, copy, { recursive: true, filter: (path) => path !== chain.blockFile });
  return copy;
}

function* makeBlocks(genesisHash: Buffer): Generator<Buffer> {
  const maker = new BlockMaker(SEED, genesisHash);
  for (let height = 1; height <= FIRST_BLOCKS; height++)
    yield maker.nextFirst(height <= OWNED_BLOCKS ? ownScript(height) : undefined);
  for (let i = 0; i < LARGE_BLOCKS; i++) yield maker.next(usualShape(maker.random, DEFAULT_PARAMETERS.growth));
  for (let i = 0; i < TAIL_BLOCKS; i++) yield maker.nextFirst();
}

function lengthOf(raw: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(raw.length);
  return length;
}
