// The chain of a node that is not running, opened for reading: no peers, no mempool, no HTTP server. bcoin's locks keep a running
// node away from these files.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BcoinNode } from '../../../lib/node/bcoin';
import { messageOf } from '../../../lib/system/error-text';
import { IN_USE, loadBcoin, type Bcoin, type HostFullNode } from '../../bcoin';
import { readStoppedNodeOptions, type StoppedNodeOptions } from '../../options/indexes';
import { placesOf } from '../../places';
import { foreignOwner } from '../folder-owner';
import { ImpossibleError } from './errors';
import type { NodeSource } from '../../../lib/node/types/source';

/** bcoin's own options that select the node. */
export interface NodeOptions {
  readonly network?: string | undefined;
  readonly prefix?: string | undefined;
}

export interface StoppedNode {
  readonly node: NodeSource;
  /** bcoin's name of the network. */
  readonly network: string;
  /** The folder of the node's index; it may not exist. */
  readonly indexFolder: string;
  /** The folder of the index by script; it may not exist. */
  readonly scriptsFolder: string;
  /** Where a block of its chain is kept that other nodes refuse. */
  readonly refusedFile: string;
  /** The plugin's options from bcoin.conf and the environment. */
  readonly options: StoppedNodeOptions;
  close(): Promise<void>;
}

/** bcoin refuses to open its data unless it is given the options with which it created them. */
const REFUSALS: readonly { readonly words: RegExp; readonly setting: string }[] = [
  { words: /retroactively unprune/, setting: 'prune' },
  { words: /retroactively disable TX index/, setting: 'indexTx' },
  { words: /retroactively disable address index/, setting: 'indexAddress' }
];

/**
 * Opens only the parts that read blocks. Other settings come from bcoin.conf and the environment.
 * @throws ImpossibleError when the node is running or another user's, or this bcoin cannot read a chain there; OptionError.
 */
export async function openStoppedNode(options: NodeOptions): Promise<StoppedNode> {
  const host = await openChain(requireBcoin(), options, {});
  const { index, scripts, refused } = placesOf(host.config);
  try {
    return {
      node: new BcoinNode(host),
      network: host.network.type,
      indexFolder: index,
      scriptsFolder: scripts,
      refusedFile: refused,
      options: readStoppedNodeOptions(host.config),
      close: () => closeChain(host)
    };
  } catch (error) {
    await closeChain(host);
    throw error;
  }
}

function requireBcoin(): Bcoin {
  try {
    return loadBcoin();
  } catch (error) {
    const [reason] = messageOf(error).split('\n');
    throw new ImpossibleError(`bcoin cannot be loaded; name the node's own with BCOIN_PATH (${reason ?? ''})`, { cause: error });
  }
}

async function openChain(bcoin: Bcoin, options: NodeOptions, settings: Readonly<Record<string, boolean>>): Promise<HostFullNode> {
  const { network, prefix } = options;
  const host = new bcoin.FullNode({
    ...(network !== undefined && { network }),
    ...(prefix !== undefined && { prefix: resolve(prefix) }),
    config: true,
    env: true,
    memory: false,
    workers: false,
    listen: false,
    logFile: false,
    logConsole: false,
    // bcoin.conf may name plugins; none of them has work to do here.
    loader: () => ({ init: () => ({}) }),
    ...settings
  });
  const chainFolder = requireFolders(host);
  try {
    await host.blocks?.open();
    await host.chain.open();
    return host;
  } catch (error) {
    // A chain that did not open cannot always be closed; the first error matters.
    await closeChain(host).catch(() => undefined);
    const message = messageOf(error);
    const refusal = REFUSALS.find(({ words, setting }) => words.test(message) && settings[setting] === undefined);
    if (refusal !== undefined) return await openChain(bcoin, options, { ...settings, [refusal.setting]: true });
    throw new ImpossibleError(
      IN_USE.test(message)
        ? `the node is running, or something else uses ${chainFolder}: stop it first (${message})`
        : `bcoin cannot open the chain in ${chainFolder}: ${message}; if it was made by another version of bcoin, name that one with BCOIN_PATH`,
      { cause: error }
    );
  }
}

/** Checks that the folders exist, since bcoin would create a new chain otherwise, and are this user's. Returns the chain's folder. */
function requireFolders({ config, blocks, network }: HostFullNode): string {
  const chainFolder = config.location('chain');
  if (!existsSync(chainFolder)) throw new ImpossibleError(`there is no ${network.type} node here: expected its chain in ${chainFolder}`);
  const foreign = foreignOwner([chainFolder]);
  if (foreign !== undefined) throw new ImpossibleError(foreign);
  const blocksFolder = config.location('blocks');
  if (blocks !== undefined && !existsSync(blocksFolder))
    throw new ImpossibleError(
      `the chain in ${chainFolder} was made by another version of bcoin: expected blocks in ${blocksFolder}; name the node's own bcoin with BCOIN_PATH`
    );
  return chainFolder;
}

async function closeChain(host: HostFullNode): Promise<void> {
  try {
    await host.chain.close();
  } finally {
    await host.blocks?.close();
  }
}
