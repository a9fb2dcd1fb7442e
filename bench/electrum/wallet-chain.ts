// The chain on which the Electrum protocol is measured, with a pool, and blocks that are added while clients watch.
//
//   scripts   with histories of 1 to 10,000 transactions, and with 500 coins: `wallet-scripts.ts`
//   coming    blocks that each pay to 5,000 scripts that were paid once, different ones each time, with 2,500 transactions; the node checks
//             them as usual
//
// Empty blocks follow the full ones, so that there are headers to ask for, and so that bitcoind treats the full ones as assumed valid.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { fromHost } from '../../lib/node/host';
import { bcoin } from '../../test/support/bcoin/bcoin';
import { addBlock, onTrustingNode } from '../chain/generate';
import { madeOnce } from '../chain/made-once';
import { DATA_FOLDER } from '../chain/synthetic-chain';
import { makePool } from '../serve/pool-maker';
import { NODE_SETTINGS, writeBlockFile, writePool, type ServingChain } from '../serve/serving-chain';
import { TRANSACTIONS_IN_BLOCK, WalletMaker } from './wallet-maker';
import { hashOf, nameOf, SCRIPTS } from './wallet-scripts';

/** To be increased with every change to the chain. */
const GENERATION = 4;
/** Scripts that a coming block pays to. */
export const TOUCHED = 5_000;
const COMING_BLOCKS = 5;
const POOL_TRANSACTIONS = 500;

const MANIFEST = 'wallet.json';
const COMING = 'coming.hex';
const BLOCKS_FILE = 'blocks.dat';

interface Manifest {
  /** Transactions, with the height of each. */
  readonly transactions: readonly (readonly [string, number])[];
  /** Transactions that pay to scripts with 10,000 rows; these payments were spent. */
  readonly busy: readonly string[];
  readonly height: number;
  readonly tipHash: string;
}

export interface WalletChain extends ServingChain, Manifest {
  /** Consecutive blocks in hex, for `submitblock`. */
  readonly coming: readonly string[];
}

/** From bench/data; made if it does not exist. */
export function walletChain(report: (line: string) => void): Promise<WalletChain> {
  const folder = join(DATA_FOLDER, `wallet-${GENERATION}-bcoin-${bcoin.pkg.version}`);
  return madeOnce(folder, { read: readChain, make: makeChain, report });
}

function makeChain(folder: string): Promise<void> {
  return onTrustingNode(folder, NODE_SETTINGS, async (node) => {
    const maker = new WalletMaker(fromHost(node.network.genesis.hash));
    const blocks = [...maker.blocks()];
    for (const raw of blocks) await addBlock(node, raw);
    writeBlockFile(join(folder, BLOCKS_FILE), blocks);
    writePool(folder, makePool(maker.poolCoins, POOL_TRANSACTIONS));
    const coming = Array.from({ length: COMING_BLOCKS }, (_, block) => maker.coming(block * TOUCHED, TOUCHED / TRANSACTIONS_IN_BLOCK));
    writeFileSync(join(folder, COMING), coming.map((raw) => `${raw.toString('hex')}\n`).join(''));
    const { transactions, busy } = maker;
    const manifest: Manifest = { transactions, busy, height: node.chain.height, tipHash: toDisplayHex(fromHost(node.chain.tip.hash)) };
    writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest));
  });
}

function readChain(folder: string): WalletChain | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest;
    const coming = readFileSync(join(folder, COMING), 'latin1').trimEnd().split('\n');
    return { ...manifest, coming, folder, blockFile: join(folder, BLOCKS_FILE) };
  } catch {
    return undefined;
  }
}

/** The scripts that a coming block pays to; `block`: counted from 0. */
export const touchedBy = (block: number): string[] =>
  Array.from({ length: TOUCHED }, (_, i) => hashOf(nameOf(SCRIPTS.one, block * TOUCHED + i)));
