// The module that bcoin loads with `--plugins rest`: builds the parts, opens them in order and closes them in reverse order.

// Imported first: it repairs database reads of the node that loads this plugin, and of its wallet.
import './leveldown-6';
import { createRequire } from 'node:module';
import type { Observable, Subscription } from 'rxjs';
import { ChainIndexer } from '../lib/index/chain-index';
import { MerchantService } from '../lib/merchant/merchant-service';
import { acceptAddressForms } from '../lib/node/address-forms';
import { BcoinNode } from '../lib/node/bcoin';
import { RestService } from '../lib/rest/rest-service';
import { RpcService } from '../lib/rpc/rpc-service';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import { migrations } from '../migrations';
import { cookiePath, indexFolder, OptionError, readOptions, restFolder, scriptsFolder } from './options';
import { showCatchUp } from './progress';
import { closeOnSignals } from './signals';
import { WalletServices } from './wallet-services';
import type { IndexedBlock, IndexReader } from '../lib/index/types';
import type { ScriptAccess } from '../lib/electrum/script-access';
import type { HostNode } from '../lib/node/host';
import type { BlockPoint, NodeSource } from '../lib/node/types';

/** The name of the plugin, for `node.get('rest')`. */
export const id = 'rest';

/**
 * Called by bcoin while the node is constructed.
 * @throws OptionError, UnsupportedNodeError
 */
export function init(node: HostNode): RestPlugin {
  return new RestPlugin(node);
}

/** The running service, which other plugins and in-process users get from `node.get('rest')`. */
export class RestPlugin {
  /** Coins, headers and transaction locations of the active chain. */
  readonly reader: IndexReader;
  /** The block that the index is at: emits the current one to a new subscriber, then every change. */
  readonly tip$: Observable<BlockPoint>;
  /** Every block that enters or leaves the index, in order. */
  readonly blocks$: Observable<IndexedBlock>;
  /** Whether requests are answered: emits the current value, then every change. */
  readonly ready$: Observable<boolean>;
  /** Histories, coins and status changes of scripts; undefined without `--rest-addresses`. */
  readonly scripts: ScriptAccess | undefined;
  /** The node, as the service sees it. */
  readonly node: NodeSource;
  readonly #host: HostNode;
  readonly #index: ChainIndexer;
  readonly #service: RestService;
  /** Only if the edition of Bitcoin Core's interface has JSON-RPC. */
  readonly #rpc: RpcService | undefined;
  /** Only with `--rest-addresses`. */
  readonly #walletServices: WalletServices | undefined;
  /** Only with `--rest-payments`. */
  readonly #merchant: MerchantService | undefined;
  #bar: Subscription | undefined;
  #leaveSignals: (() => void) | undefined;

  constructor(host: HostNode) {
    this.#host = host;
    const { payments, addresses, limits, rpcUser, ...options } = readOptions(host.config);
    const { undoDepth, cacheBytes, catchUpCacheBytes, bootstrap, filters, scrubMs } = options;
    const logger = host.logger.context(id);
    acceptAddressForms(host.rpc, host.network);
    const node = (this.node = new BcoinNode(host));
    const store = host.memory ? new MemoryStore() : new DiskStore(indexFolder(host.config), { latestBytes: cacheBytes });
    const index = (this.#index = new ChainIndexer({
      store,
      node,
      logger,
      migrations,
      undoDepth,
      cacheBytes,
      catchUpCacheBytes,
      bootstrap,
      filters,
      scrubMs
    }));
    const service = (this.#service = new RestService({ node, index, options: { ...options, limits }, logger }));
    this.#rpc = options.profile.rpc
      ? new RpcService({
          shared: service.shared,
          index,
          user: rpcUser,
          cookiePath: host.memory ? undefined : cookiePath(host.config),
          version: packageVersion(),
          logger
        })
      : undefined;
    this.#walletServices =
      addresses &&
      new WalletServices({
        node,
        index,
        shared: service.shared,
        options: addresses,
        auth: options.auth,
        folder: host.memory ? undefined : scriptsFolder(host.config),
        restFolder: host.memory ? undefined : restFolder(host.config),
        version: packageVersion(),
        undoDepth,
        scrubMs,
        logger
      });
    this.scripts = this.#walletServices?.access;
    this.#merchant =
      payments &&
      new MerchantService({
        ...payments,
        node,
        index,
        ready$: service.ready$,
        timeoutMs: limits.timeoutMs,
        connections: service.shared.connections,
        unfinished: service.shared.unfinished,
        requireReady: () => {
          service.requireReady();
        },
        logger
      });
    this.reader = index.reader;
    this.tip$ = index.tip$;
    this.blocks$ = index.blocks$;
    this.ready$ = service.ready$;
  }

  /**
   * Called by bcoin before its HTTP server opens; does not wait for the index to catch up.
   * @throws IndexRefusedError for an index of another network or of a newer version; OptionError when the folder for payments, or a
   * port or certificate of the Electrum protocol, cannot be used.
   */
  async open(): Promise<void> {
    this.#leaveSignals = closeOnSignals(() => this.#host.close());
    this.#bar = showCatchUp(this.#index.state$, process.stdout, this.#host.logger, this.#walletServices?.scripts.state$);
    await this.#index.open();
    this.#service.open();
    await this.#rpc?.open();
    await this.#walletServices?.open();
    try {
      await this.#merchant?.open();
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw new OptionError(`--rest-payments must be a folder that can be read and written: ${error.message}`, { cause: error });
    }
  }

  /** Why requests are refused, as in the text of the 503; undefined while they are answered. */
  get status(): string | undefined {
    return this.#service.status;
  }

  async close(): Promise<void> {
    this.#leaveSignals?.();
    await this.#merchant?.close();
    await this.#walletServices?.close();
    await this.#rpc?.close();
    this.#service.close();
    this.#bar?.unsubscribe();
    await this.#index.close();
    this.node.close();
  }
}

function packageVersion(): string {
  return (createRequire(__filename)('bcoin-rest/package.json') as { readonly version: string }).version;
}

export { HistoryTooLongError, ScriptsUnavailableError } from '../lib/scripts/errors';
export { IndexUnavailableError, NotYetKnownError } from '../lib/index/errors';
export type { Coin, HeaderRecord, IndexedBlock, IndexReader, IndexSnapshot, TransactionLocation } from '../lib/index/types';
export type { ScriptAccess, ScriptStats, ScriptTransaction, UnspentOutput } from '../lib/electrum/script-access';
export type { ScriptTotals } from '../lib/scripts/types';
export type { BlockPoint } from '../lib/node/types';
