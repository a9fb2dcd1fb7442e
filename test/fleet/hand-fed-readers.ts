// Readers of a log that a test writes by hand, about a node with a few blocks.

import { BcoinNode } from '../../lib/node/bcoin';
import { Nats } from '../support/fleet/nats';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { HandFedLog } from './hand-fed-log';
import { ReadNode, type ReadNodeOptions } from './read-node';
import type { BlockPoint } from '../../lib/node/types/chain';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** Height of the node's chain. */
export const LENGTH = 8;

export class HandFedReaders {
  readonly node: BcoinNode;
  readonly log: HandFedLog;
  #readers: ReadNode[] = [];

  private constructor(
    readonly nats: Nats,
    readonly host: TestFullNode
  ) {
    this.node = new BcoinNode(host);
    this.log = new HandFedLog(nats.url, this.node);
  }

  /** Nothing is written into the log yet. `program`: of nats-server. */
  static async open(program: string): Promise<HandFedReaders> {
    const fed = new HandFedReaders(await Nats.open(program), await openRegtestNode());
    await mine(fed.host, LENGTH);
    await fed.log.open();
    return fed;
  }

  /** By default a reader of the log's servers. */
  async reader({ nats = this.log.access, ...options }: Partial<ReadNodeOptions> = {}): Promise<ReadNode> {
    const reader = new ReadNode({ nats, ...options });
    this.#readers.push(reader);
    return reader.open();
  }

  /** The block of the node's chain. */
  async pointAt(height: number): Promise<BlockPoint> {
    return { height, hash: (await this.node.activeHash(height)) as Buffer };
  }

  /** How often readers have asked a node this. */
  asked(name: string): number {
    return this.log.asked.filter((each) => each === name).length;
  }

  async closeReaders(): Promise<void> {
    await Promise.all(this.#readers.splice(0).map((reader) => reader.close()));
  }

  async close(): Promise<void> {
    await this.closeReaders();
    await this.log.close();
    await this.host.close();
    await this.nats.close();
  }
}
