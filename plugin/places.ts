// Where a node or reader on disk keeps what belongs to the service.

import { join } from 'node:path';
import type { HostConfig } from '../lib/node/host';

export interface Places {
  /** The folder of the indexes, `rest` in the network's folder; other files of the service are next to them. */
  readonly folder: string;
  readonly index: string;
  readonly scripts: string;
  /** Where rows are sorted while the index by script is filled. */
  readonly filling: string;
  /** The list of addresses. */
  readonly addresses: string;
  /** A block of the node's chain that other nodes refuse. */
  readonly refused: string;
  /** Of a reader: blocks that it keeps, and how far it has read the log of its fleet. */
  readonly blocks: string;
  readonly position: string;
  /** In the network's folder, as in Bitcoin Core. */
  readonly cookie: string;
}

/** The folder of a network in a node's or reader's folder, as bcoin has it. `network`: bcoin's name. */
export function networkFolder(prefix: string, network: string): string {
  return network === 'main' ? prefix : join(prefix, network);
}

export function placesOf(config: Pick<HostConfig, 'location'>): Places {
  const folder = config.location('rest');
  const scripts = join(folder, 'scripts');
  return {
    folder,
    index: join(folder, 'index'),
    scripts,
    filling: fillingFolder(scripts),
    addresses: join(folder, 'addresses'),
    refused: join(folder, 'refused-block.json'),
    blocks: join(folder, 'blocks'),
    position: join(folder, 'fleet.json'),
    cookie: config.location('.cookie')
  };
}

/** For the index by script in `folder`. */
export function fillingFolder(folder: string): string {
  return join(folder, '..', 'scripts-filling');
}
