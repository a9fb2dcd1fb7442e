// What `--rest-addresses` switches on, put together: the index by script, the pool by script, and the interface that is answered from them.

import { join } from 'node:path';
import { ScriptHistories } from '../lib/electrum/history';
import { ScriptNotifier } from '../lib/electrum/notify/script-notifier';
import { ScriptAccess } from '../lib/electrum/script-access';
import { EsploraService } from '../lib/esplora/esplora-service';
import { ScriptPool } from '../lib/script-pool/script-pool';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import type { ChainIndex, IndexLogger } from '../lib/index/types';

import type { NodeSource } from '../lib/node/types';
import type { RestLogger } from '../lib/rest/app';
import type { RestShared } from '../lib/rest/rest-service';
import type { AddressOptions } from './options';

export interface WalletServicesParts {
  readonly node: NodeSource;
  readonly index: ChainIndex;
  readonly shared: RestShared;
  readonly options: AddressOptions;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  /** Of the index by script; undefined: it is kept in memory. */
  readonly folder: string | undefined;
  readonly undoDepth: number;
  readonly scrubMs: number;
  readonly logger: IndexLogger & RestLogger;
}

export class WalletServices {
  readonly scripts: ScriptIndexer;
  /** For other plugins. */
  readonly access: ScriptAccess;
  readonly #pool: ScriptPool;
  readonly #notifier: ScriptNotifier;
  readonly #esplora: EsploraService;

  constructor({ node, index, shared, options, auth, folder, undoDepth, scrubMs, logger }: WalletServicesParts) {
    const scripts = (this.scripts = new ScriptIndexer({
      store: folder === undefined ? new MemoryStore() : new DiskStore(folder, { readsTablesFirst: false }),
      index,
      node,
      undoDepth,
      filling: folder === undefined ? undefined : { path: folder, filesPath: fillingFolder(folder) },
      scrubMs,
      logger
    }));
    const pool = (this.#pool = new ScriptPool(node.pool));
    const histories = new ScriptHistories(pool, shared.context);
    const notifier = (this.#notifier = new ScriptNotifier({ node, index: index.reader, scripts, pool, histories, logger }));
    this.access = new ScriptAccess({ rest: shared.context, scripts, histories, notifier });
    this.#esplora = new EsploraService({ shared, scripts, pool, options: { ...options, auth }, logger });
  }

  /** Behind the main index and REST; does not wait for the index by script. */
  async open(): Promise<void> {
    await this.#pool.open();
    this.#notifier.open();
    this.scripts.open();
    this.#esplora.open();
  }

  async close(): Promise<void> {
    this.#esplora.close();
    await this.#notifier.close();
    await this.scripts.close();
    this.#pool.close();
  }
}

/** Rows are sorted there while the index by script in `folder` is being filled. */
function fillingFolder(folder: string): string {
  return join(folder, '..', 'scripts-filling');
}
