// What `--rest-addresses` switches on, put together: the index by script, the pool by script, and the interface that is answered from them.

import { EsploraService } from '../lib/esplora/esplora-service';
import { IndexUnavailableError } from '../lib/index/errors';
import { ScriptPool } from '../lib/script-pool/script-pool';
import { ScriptsUnavailableError } from '../lib/scripts/errors';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import { fillingFolder, type AddressOptions } from './options';
import type { ChainIndex, IndexLogger } from '../lib/index/types';
import type { BlockPoint, NodeSource } from '../lib/node/types';
import type { ScriptReader } from '../lib/scripts/types';
import type { RestLogger } from '../lib/rest/app';
import type { RestShared } from '../lib/rest/rest-service';

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
  readonly #pool: ScriptPool;
  readonly #esplora: EsploraService;
  readonly #logger: IndexLogger;
  /** Never rejects. */
  #opening: Promise<void> = Promise.resolve();

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
    this.#logger = logger;
    const pool = (this.#pool = new ScriptPool(node.pool));
    shared.context.txids.of = (block) => txidsOf(block, scripts.reader);
    this.#esplora = new EsploraService({ shared, scripts, pool, options: { ...options, auth }, logger });
  }

  /** Behind the main index and REST. Does not wait for a large pool to be read, nor for the index by script: until then requests are refused. */
  open(): void {
    this.#esplora.open();
    this.#opening = this.#pool.open().then(
      () => {
        this.scripts.open();
      },
      (error: unknown) => {
        this.#logger.error(
          `The pool was not read, and addresses are not answered: ${error instanceof Error ? error.message : String(error)}.`
        );
      }
    );
  }

  async close(): Promise<void> {
    this.#esplora.close();
    await this.#opening;
    await this.scripts.close();
    this.#pool.close();
  }
}

/** Undefined unless the index by script has the block where the chain has it, and can be read. */
async function txidsOf({ hash, height }: BlockPoint, scripts: ScriptReader): Promise<readonly Buffer[] | undefined> {
  try {
    return await scripts.read(async (snapshot) =>
      snapshot.index.headerAt(height)?.hash.equals(hash) === true ? snapshot.txids(height) : undefined
    );
  } catch (error) {
    if (error instanceof ScriptsUnavailableError || error instanceof IndexUnavailableError) return undefined;
    throw error;
  }
}
