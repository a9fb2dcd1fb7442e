// A reader's source with an index over it, without interfaces.

import { join } from 'node:path';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { NETWORKS } from '../../lib/fleet/reader/networks';
import { ReaderNode, type ReaderNodeOptions } from '../../lib/fleet/reader/reader-node';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { migrations } from '../../migrations';
import { MemoryLog } from '../support/process/memory-log';
import type { NatsAccess } from '../../lib/fleet/log/access';
import type { BlockPoint } from '../../lib/node/types/chain';

export interface ReadNodeOptions extends Partial<Pick<ReaderNodeOptions, 'staleMs' | 'forwardsCalls' | 'togetherMs'>> {
  readonly nats: NatsAccess;
  /** In memory when left out. */
  readonly folder?: string;
  readonly blockBytes?: number;
}

export class ReadNode {
  readonly log = new MemoryLog();
  readonly source: ReaderNode;
  readonly index: ChainIndexer;

  constructor({ nats, folder, staleMs = 30_000, forwardsCalls = false, togetherMs, blockBytes = 100_000_000 }: ReadNodeOptions) {
    const disk = folder === undefined ? undefined : { blocks: join(folder, 'blocks'), blockBytes, position: join(folder, 'fleet.json') };
    this.source = new ReaderNode({
      network: NETWORKS.regtest,
      nats,
      staleMs,
      forwardsCalls,
      togetherMs,
      version: '1.2.3',
      disk,
      logger: this.log
    });
    const store = folder === undefined ? new MemoryStore() : new DiskStore(join(folder, 'index'));
    this.index = new ChainIndexer({ store, node: this.source, logger: this.log, migrations, spentHashes: true });
  }

  async open(): Promise<this> {
    await this.source.open(this.index, () => (this.index.state.phase === 'live' ? undefined : this.index.state.phase));
    await this.index.open();
    return this;
  }

  /** Waits until the index is live at a block. */
  async reaches({ hash, height }: BlockPoint): Promise<void> {
    await firstValueFrom(this.index.tip$.pipe(filter((tip) => tip.height === height && tip.hash.equals(hash))));
    await firstValueFrom(this.index.state$.pipe(filter((state) => state.phase === 'live')));
  }

  async close(): Promise<void> {
    await this.index.close();
    this.source.close();
    await this.source.closed();
  }
}
