// The chain on which serving is measured: small blocks with coins of known keys, large mixed
// blocks, and a long tail of empty ones, so that there are enough headers to ask for each once,
// and so that bitcoind treats the large blocks as assumed valid (two weeks of work on top).
// Transactions for the pool are beside it.

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scanBlock } from '../../lib/bitcoin/block';
import { fromHost } from '../../lib/node/host';
import { bcoin } from '../../test/support/bcoin/bcoin';
import { BlockMaker, FIRST_BLOCKS } from '../chain/block-maker';
import { usualShape } from '../chain/block-shape';
import { addBlock, onTrustingNode } from '../chain/generate';
import { madeOnce } from '../chain/made-once';
import { DEFAULT_PARAMETERS } from '../chain/parameters';
import { DATA_FOLDER } from '../chain/synthetic-chain';
import { RUN_FOLDER } from '../measure/run';
import { makePool, OWNED_BLOCKS, ownScript, type OwnCoin } from './pool-maker';

/** To be increased with every change to the chain or its pool. */
const GENERATION = 3;
const SEED = 7;
export const LARGE_BLOCKS = 40;
const TAIL_BLOCKS = 24_000;
export const POOL_TRANSACTIONS = 5_000;
const BLOCKS = 'blocks.dat';
const POOL = 'pool.hex';
const REGTEST_MAGIC = Buffer.from('fabfb5da', 'hex');

/** Settings of a node on the chain, for bcoin's own interface. */
export const NODE_SETTINGS = { indexTx: true };

/** Heights of the large blocks. */
export const LARGE_FROM = FIRST_BLOCKS + 1;
export const LARGE_TO = FIRST_BLOCKS + LARGE_BLOCKS;

export interface ServingChain {
  /** The prefix of a node that has the chain; no server runs on it. */
  readonly folder: string;
  /** Blocks in order of height, from 1, as in blk files. */
  readonly blockFile: string;
}

/** From bench/data; made if it does not exist. */
export function servingChain(report: (line: string) => void): Promise<ServingChain> {
  const folder = join(DATA_FOLDER, `serving-${GENERATION}-seed${SEED}-bcoin-${bcoin.pkg.version}`);
  return madeOnce(folder, { read: chainIn, make: makeChain, report });
}

const chainIn = (folder: string): ServingChain | undefined =>
  existsSync(folder) ? { folder, blockFile: join(folder, BLOCKS) } : undefined;

function makeChain(folder: string): Promise<void> {
  return onTrustingNode(folder, NODE_SETTINGS, async (node) => {
    const blocks = [...makeBlocks(fromHost(node.network.genesis.hash))];
    for (const raw of blocks) await addBlock(node, raw);
    writeBlockFile(join(folder, BLOCKS), blocks);
    writePool(folder, makePool(blocks.slice(0, OWNED_BLOCKS).flatMap(ownCoins), POOL_TRANSACTIONS));
  });
}

/** Blocks as in blk files. */
export function writeBlockFile(path: string, blocks: readonly Buffer[]): void {
  writeFileSync(path, Buffer.concat(blocks.flatMap((raw) => [REGTEST_MAGIC, lengthOf(raw), raw])));
}

/** `transactions`: of a chain's pool, each after those that it spends from. */
export function writePool(folder: string, transactions: readonly Buffer[]): void {
  writeFileSync(join(folder, POOL), transactions.map((raw) => `${raw.toString('hex')}\n`).join(''));
}

/** The pool's transactions in hex, each after those that it spends from. */
export function poolOf({ folder }: ServingChain): string[] {
  return readFileSync(join(folder, POOL), 'latin1')
    .split('\n')
    .filter((line) => line !== '');
}

/** The outputs of a coinbase that pays to a known script. */
function ownCoins(block: Buffer, place: number): OwnCoin[] {
  const coinbase = scanBlock(block).transactions[0];
  return coinbase?.outputs.map(({ value }, index) => ({ txid: coinbase.txid, index, value, isWitness: isWitnessAt(place + 1) })) ?? [];
}

const isWitnessAt = (height: number): boolean => height % 2 === 0;

/** A folder in RUN_FOLDER with a copy of the data, for one process. */
export function copyOf(chain: ServingChain, name: string): string {
  const copy = join(RUN_FOLDER, name);
  cpSync(chain.folder, copy, { recursive: true, filter: (path) => path !== chain.blockFile });
  return copy;
}

function* makeBlocks(genesisHash: Buffer): Generator<Buffer> {
  const maker = new BlockMaker(SEED, genesisHash);
  for (let height = 1; height <= FIRST_BLOCKS; height++)
    yield maker.nextFirst(height <= OWNED_BLOCKS ? ownScript(isWitnessAt(height)) : undefined);
  for (let i = 0; i < LARGE_BLOCKS; i++) yield maker.next(usualShape(maker.random, DEFAULT_PARAMETERS));
  for (let i = 0; i < TAIL_BLOCKS; i++) yield maker.nextEmpty();
}

function lengthOf(raw: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(raw.length);
  return length;
}
