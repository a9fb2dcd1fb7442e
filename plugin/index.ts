// The module that bcoin loads with `--plugins rest`.

// Imported first: it repairs database reads of the node that loads this plugin, and of its wallet.
import './leveldown-6';
import { createRequire } from 'node:module';
import { acceptAddressForms } from '../lib/node/address-forms';
import { BcoinNode } from '../lib/node/bcoin';
import { BcoinHttp } from '../lib/node/bcoin-http';
import { STATE_KEYS } from '../lib/scripts/records/layout';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import { Assembly } from './assemble';
import { readOptions, type RestOptions } from './options/rest-options';
import { placesOf, type Places } from './places';
import { showCatchUp } from './progress';
import { endOwnProgram } from './refused-start';
import { logLevelReader } from './log-level';
import { closeOnSignals, readAgainOnHangUp } from './signals';
import type { Observable, Subscription } from 'rxjs';
import type { IndexedBlock, IndexReader } from '../lib/index/types';
import type { ScriptAccess } from '../lib/answers/script-access';
import type { HostNode, HostNodeLogger } from '../lib/node/host';
import type { BlockPoint } from '../lib/node/types/chain';
import type { HttpHost } from '../lib/node/types/http-host';
import type { NodeSource } from '../lib/node/types/source';

/** The name of the plugin, for `node.get('rest')`. */
export const id = 'rest';

/**
 * Called by bcoin, with the node alone, while the node is constructed.
 * @throws OptionError, UnsupportedNodeError
 */
export function init(node: HostNode, shortened?: Pick<ServiceHost, 'rehearsalMs'>): RestPlugin {
  try {
    return pluginFor(node, shortened);
  } catch (error) {
    endOwnProgram(error);
    throw error;
  }
}

function pluginFor(node: HostNode, shortened?: Pick<ServiceHost, 'rehearsalMs'>): RestPlugin {
  const options = readOptions(node.config);
  acceptAddressForms(node.rpc, node.network);
  const host: ServiceHost = {
    http: new BcoinHttp(node),
    options,
    places: node.memory ? undefined : placesOf(node.config),
    logger: node.logger.logger,
    close: () => node.close(),
    readAgain: logLevelReader(node),
    ...shortened
  };
  return new RestPlugin(host, new BcoinNode(node, options));
}

/** The process that the service runs in. */
export interface ServiceHost {
  readonly http: HttpHost;
  readonly options: RestOptions;
  /** Undefined: everything is kept in memory. */
  readonly places: Places | undefined;
  readonly logger: HostNodeLogger;
  /** How long the rehearsal asks at most; two and a half seconds unless given. */
  readonly rehearsalMs?: number;
  /** Ends the process' work in order, the service first. */
  close(): Promise<void>;
  /** Reads again what may change while the process runs, beside the service's own files. */
  readAgain?(): void;
}

/** The running service, which other plugins and in-process users get from `node.get('rest')`. */
export class RestPlugin {
  /** Coins, headers and transaction locations of the active chain. */
  readonly reader: IndexReader;
  /** The same, but sees a block as soon as it is in the index, also while no client is shown it (`--rest-release=together`). */
  readonly latest: IndexReader;
  /** The block that the index is at: emits the current one to a new subscriber, then every change. */
  readonly tip$: Observable<BlockPoint>;
  /** Every block that enters or leaves the index, in order. */
  readonly blocks$: Observable<IndexedBlock>;
  /** Whether requests are answered: emits the current value, then every change. */
  readonly ready$: Observable<boolean>;
  /** The same of all interfaces, also those by script. */
  readonly allReady$: Observable<boolean>;
  /** Histories, coins and status changes of scripts; undefined without `--rest-addresses`. */
  readonly scripts: ScriptAccess | undefined;
  /** The HTTP server that answers. */
  readonly http: HttpHost;
  /** The node, as the service sees it. */
  readonly node: NodeSource;
  readonly #host: ServiceHost;
  readonly #parts: Assembly;
  #bar: Subscription | undefined;
  #leaveSignals: readonly (() => void)[] = [];
  #isClosed = false;

  /** `node`: what is served; it is closed with the service. */
  constructor(host: ServiceHost, node: NodeSource) {
    this.#host = host;
    const { http, options, places, logger, rehearsalMs } = host;
    const parts = (this.#parts = new Assembly({
      host: http,
      node,
      options,
      store: places === undefined ? new MemoryStore() : new DiskStore(places.index, { latestBytes: options.cacheBytes }),
      scriptStore: places === undefined ? new MemoryStore() : new DiskStore(places.scripts, { checkedFirst: STATE_KEYS }),
      places,
      version: packageVersion(),
      logger: logger.context(id),
      replaced: rehearsalMs === undefined ? {} : { rehearsal: { mostMs: rehearsalMs } }
    }));
    this.http = http;
    this.node = node;
    this.scripts = parts.wallets?.access;
    this.reader = parts.index.reader;
    this.latest = parts.index.latest;
    this.tip$ = parts.index.tip$;
    this.blocks$ = parts.index.blocks$;
    this.ready$ = parts.serving.gate.ready$;
    this.allReady$ = parts.wallets?.ready$ ?? this.ready$;
  }

  /**
   * Called by bcoin before its HTTP server opens; does not wait for the index to catch up.
   * @throws IndexRefusedError for an index of another network or of a newer version; OptionError when the folder for payments, or a
   * port or certificate of the Electrum protocol, cannot be used; Error once it was closed, since indexes are followed only once.
   */
  async open(): Promise<void> {
    if (this.#isClosed) throw new Error('bcoin-rest cannot be opened again once it is closed: make another node in its place');
    this.#leaveSignals = [
      closeOnSignals(() => this.#host.close()),
      readAgainOnHangUp(() => {
        this.#host.readAgain?.();
        this.#parts.readAgain();
      })
    ];
    const { index, wallets } = this.#parts;
    this.#bar = showCatchUp(index.state$, process.stdout, this.#host.logger, wallets?.scripts.state$);
    if (this.#host.options.modernPool) this.#host.logger.context(id).info(MODERN_POOL);
    await this.#parts.open();
  }

  /** Why requests are refused, as in the text of the 503; undefined while they are answered. */
  get status(): string | undefined {
    return this.#parts.serving.status;
  }

  /** What is wrong with the node's chain: with `--rest-pool=modern`, a text for each block that other nodes refuse. */
  get warnings(): readonly string[] {
    return this.#parts.answers.warnings();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const leave of this.#leaveSignals) leave();
    this.#bar?.unsubscribe();
    await this.#parts.close();
  }
}

/** What the log says at the start of a node with today's pool. */
export const MODERN_POOL =
  'The pool takes transactions by the rules of Bitcoin Core 31: taproot, replacement, packages (--rest-pool=modern).';

/** The version of this package. */
export function packageVersion(): string {
  return (createRequire(__filename)('bcoin-rest/package.json') as { readonly version: string }).version;
}

export { HistoryTooLongError, ScriptsUnavailableError } from '../lib/scripts/errors';
export { IndexUnavailableError, NotYetKnownError } from '../lib/index/errors';
export type { Coin, HeaderRecord, IndexedBlock, IndexReader, IndexSnapshot, TransactionLocation } from '../lib/index/types';
export type { ScriptAccess, ScriptStats, ScriptTransaction, UnspentOutput } from '../lib/answers/script-access';
export type { ScriptTotals } from '../lib/scripts/types';
export type { BlockPoint } from '../lib/node/types/chain';
