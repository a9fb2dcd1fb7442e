// The synthetic chain, from bench/data: made if it does not exist, checked if it does.

import { join, resolve } from 'node:path';
import { fromHost } from '../../lib/node/host';
import { bcoin, type TestFullNode } from '../../test/support/bcoin/bcoin';
import { openRegtestNode, type RegtestOptions } from '../../test/support/bcoin/regtest-node';
import { generateChain } from './generate';
import { madeOnce } from './made-once';
import { readManifest, writeManifest, type ChainManifest } from './manifest';
import { chainName, type ChainParameters } from './parameters';

/** Folder of everything that the benchmarks write, below the package's folder, where npm runs them (not beside their compiled form). */
export const DATA_FOLDER = resolve('bench/data');

export interface SyntheticChain {
  readonly manifest: ChainManifest;
  /** The prefix of a node that has the chain. */
  readonly folder: string;
}

export async function syntheticChain(parameters: ChainParameters, report: (line: string) => void): Promise<SyntheticChain> {
  const folder = join(DATA_FOLDER, chainName(parameters, bcoin.pkg.version));
  const manifest = await madeOnce(folder, {
    read: () => readManifest(folder, parameters),
    make: async (unfinished) => writeManifest(unfinished, await generateChain(unfinished, parameters, report)),
    report
  });
  return { manifest, folder };
}

/** A node on the chain, connected to nobody. @throws Error when its chain is not the one of the manifest. */
export async function openNodeOn(
  { manifest, folder }: SyntheticChain,
  options: Omit<RegtestOptions, 'prefix'> = {}
): Promise<TestFullNode> {
  const node = await openRegtestNode({ ...options, prefix: folder });
  const { hash, height } = node.chain.tip;
  if (height !== manifest.tipHeight || fromHost(hash).toString('hex') !== manifest.tipHash) {
    await node.close();
    throw new Error(
      `${folder}: expected a chain of height ${manifest.tipHeight} with tip ${manifest.tipHash}, got ${height} with ${fromHost(hash).toString('hex')}; delete the folder to make it anew`
    );
  }
  return node;
}
