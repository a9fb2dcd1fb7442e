// What bcoin loads with `--plugins rest`: wiring only. Builds the parts, opens them in
// order, closes them in reverse.

// First: for the node that loads us, and its wallet.
import './leveldown-6';
import type { Observable, Subscription } from 'rxjs';
import { ChainIndexer } from '../lib/index/chain-index';
import { MerchantService } from '../lib/merchant/merchant-service';
import { BcoinNode } from '../lib/node/bcoin';
import { RestService } from '../lib/rest/rest-service';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import { migrations } from '../migrations';
import { showCatchUp } from './catch-up-bar';
import { indexFolder } from './index-folder';
import { OptionError, readOptions } from './options';
import type { IndexedBlock, IndexReader } from '../lib/index/types';
import type { HostNode } from '../lib/node/host';
import type { BlockPoint, NodeSource } from '../lib/node/types';

/** Name of the plugin: `node.get('rest')`. */
export const id = 'rest';

/**
 * Called by bcoin while the node is constructed.
 * @throws OptionError, UnsupportedNodeError
 */
export function init(node: HostNode): RestPlugin {
  return new RestPlugin(node);
}

/** The running service; what other plugins and in-process users get from `node.get('rest')`. */
export class RestPlugin {
  /** Coins, headers and transaction locations of the active chain. */
  readonly reader: IndexReader;
  /** The block that the index stands at: the current one to a new subscriber, then every change. */
  readonly tip$: Observable<BlockPoint>;
  /** Every block that enters or leaves the index, in order. */
  readonly blocks$: Observable<IndexedBlock>;
  /** Whether requests are answered: now, and at every change. */
  readonly ready$: Observable<boolean>;
  /** The node in the service's words. */
  readonly node: NodeSource;
  private readonly index: ChainIndexer;
  private readonly service: RestService;
  /** Only with `--rest-payments`. */
  private readonly merchant: MerchantService | undefined;
  private bar: Subscription | undefined;

  constructor(private readonly host: HostNode) {
    const options = readOptions(host.config);
    const logger = host.logger.context(id);
    this.node = new BcoinNode(host);
    this.index = new ChainIndexer({
      store: host.memory ? new MemoryStore() : new DiskStore(indexFolder(host.config), { latestBytes: options.cacheBytes }),
      node: this.node,
      logger,
      migrations,
      undoDepth: options.undoDepth,
      cacheBytes: options.cacheBytes,
      catchUpCacheBytes: options.catchUpCacheBytes,
      bootstrap: options.bootstrap,
      scrubMs: options.scrubMs
    });
    this.service = new RestService({ node: this.node, index: this.index, options, logger });
    this.merchant = options.payments && new MerchantService({
      ...options.payments,
      node: this.node,
      index: this.index,
      ready$: this.service.ready$,
      timeoutMs: options.limits.timeoutMs,
      connections: this.service.connections,
      requireReady: () => { this.service.requireReady(); },
      logger
    });
    this.reader = this.index.reader;
    this.tip$ = this.index.tip$;
    this.blocks$ = this.index.blocks$;
    this.ready$ = this.service.ready$;
  }

  /**
   * Called by bcoin before its HTTP server opens; does not wait for the index to catch up.
   * @throws IndexRefusedError for an index of another network or of a newer version; OptionError when the folder for payments cannot be used.
   */
  async open(): Promise<void> {
    this.bar = showCatchUp(this.index.state$, process.stdout, this.host.logger);
    await this.index.open();
    this.service.open();
    await this.openMerchant();
  }

  private async openMerchant(): Promise<void> {
    try {
      await this.merchant?.open();
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw new OptionError(`--rest-payments must be a folder that can be read and written: ${error.message}`, { cause: error });
    }
  }

  /** Why requests are refused, in the words of their 503; undefined while they are answered. */
  get status(): string | undefined {
    return this.service.status;
  }

  async close(): Promise<void> {
    await this.merchant?.close();
    this.service.close();
    this.bar?.unsubscribe();
    await this.index.close();
  }
}

export { NotYetKnownError } from '../lib/index/errors';
export type { Coin, HeaderRecord, IndexedBlock, IndexReader, IndexSnapshot, TransactionLocation } from '../lib/index/types';
export type { BlockPoint } from '../lib/node/types';
