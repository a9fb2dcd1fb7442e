// A node that holds chain A, with the plugin. Making the chain takes bcoin seconds: it
// is made once for each bcoin and kept in node_modules/.cache; every node works on a separate
// copy.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bcoin, bcoinTarget, type TestFullNode } from '../bcoin/bcoin';
import { chainABlocks, chainAFolder, chainAManifest, chainAPool } from '../chain/chain-a';
import { newFolder } from '../process/folders';
import { projectFolder } from '../process/project-folder';
import { openRegtestNode, trustSpends } from '../bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode, type RestNodeOptions } from './rest-node';

const CACHE_FOLDER = join(projectFolder, 'node_modules/.cache/bcoin-rest');

/** Long enough to make the chain. */
export const CHAIN_A_TIMEOUT_MS = 180_000;

/** Opens a node whose gate is open. */
export async function openChainANode(settings: Readonly<Record<string, unknown>> = {}, options: RestNodeOptions = {}): Promise<RestNode> {
  const served = await openRestNode({ prefix: await copiedChain(), settings, ...options });
  await untilReady(served);
  return served;
}

/** Puts the chain's pool into the node's. Bitcoin Core has had it: its signatures are not checked again. */
export async function fillChainAPool(node: TestFullNode): Promise<void> {
  const checkAgain = trustSpends(node);
  for (const raw of chainAPool()) await node.mempool.addTX(bcoin.TX.fromRaw(raw));
  checkAgain();
}

/** A new folder with a closed node that holds the chain. */
export async function copiedChain(): Promise<string> {
  const made = await madeChain();
  const prefix = await newFolder();
  await cp(made, prefix, { recursive: true });
  return prefix;
}

/** The folder of a node that holds the chain. */
async function madeChain(): Promise<string> {
  const origin = createHash('sha256')
    .update(readFileSync(join(chainAFolder, 'blocks.txt.gz')))
    .update(bcoinTarget)
    .digest('hex')
    .slice(0, 16);
  const folder = join(CACHE_FOLDER, `chain-A-${bcoin.pkg.version}-${origin}`);
  if (!existsSync(folder)) {
    await mkdir(dirname(folder), { recursive: true });
    const unfinished = await mkdtemp(`${folder}-unfinished-`);
    await makeChain(unfinished);
    // Another process may have been quicker; its folder is as good.
    await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
  }
  return folder;
}

async function makeChain(prefix: string): Promise<void> {
  const node = await openRegtestNode({ prefix });
  trustSpends(node);
  for (const { raw } of chainABlocks()) await node.chain.add(bcoin.Block.fromRaw(raw));
  const { height } = chainAManifest();
  if (node.chain.height !== height) throw new Error(`chain A: expected height ${height}, got ${node.chain.height}`);
  await node.close();
}
