// Builds the parts of the service from options and stores, opens and closes them: what clients reach is opened last and closed first.

import { EMPTY } from 'rxjs';
import { isOfSystem } from '../lib/system/system-errors';
import { AddressList } from '../lib/addresses/address-list';
import { STATE_KEYS as ADDRESS_STATE_KEYS } from '../lib/addresses/records';
import { answersOf, scriptAnswersOf } from '../lib/answers/answers';
import { txidsFrom } from '../lib/answers/scripts/txids';
import { explorerInterface } from '../lib/explorer/explorer-interface';
import { Feed } from '../lib/fleet/feed/feed';
import { ChainIndexer } from '../lib/index/chain-index';
import { FolderInUseError } from '../lib/merchant/errors';
import { MerchantService, type MerchantServiceParts } from '../lib/merchant/merchant-service';
import { SharedFolderError } from '../lib/merchant/orders/storage';
import { ScriptPool } from '../lib/pool/by-script/script-pool';
import { Metrics } from '../lib/metrics/metrics';
import { Rehearsal, type RehearsalLimits } from '../lib/rehearsal/rehearsal';
import { restInterface } from '../lib/rest/rest-interface';
import { restRoutes } from '../lib/rest/routes';
import { RpcService } from '../lib/rpc/rpc-service';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { HttpApp, type HttpInterface } from '../lib/server/app';
import { RequestTimes } from '../lib/server/figures/request-times';
import { healthInterface } from '../lib/server/health';
import { UnixSocket, UnixSocketError } from '../lib/server/http/unix-socket';
import { Mount } from '../lib/server/http/mount';
import { Serving } from '../lib/server/serving';
import { DiskStore } from '../lib/store/disk-store';
import { StoreError } from '../lib/store/errors';
import { MemoryStore } from '../lib/store/memory-store';
import { messageOf } from '../lib/system/error-text';
import { NotBuiltError, WebFiles } from '../lib/web/web-files';
import { RefusedBlockFile } from '../lib/watch/refused-block';
import { RefusedBlocks } from '../lib/watch/refused-blocks';
import { NotPublishedError } from '../lib/zmq/errors';
import { Notifications } from '../lib/zmq/notifications';
import { migrations } from '../migrations';
import { OptionError } from './options/errors';
import { WalletServices, type ReplacedWalletParts } from './wallet-services';
import type { AddressOptions } from './options/addresses';
import type { RestOptions } from './options/rest-options';
import type { Answers } from '../lib/answers/answers';
import type { IndexLogger } from '../lib/follow/logger';
import type { HttpHost } from '../lib/node/types/http-host';
import type { NodeSource } from '../lib/node/types/source';
import type { ServerLogger } from '../lib/server/logger';
import type { Store } from '../lib/store/store';
import type { Places } from './places';

export interface AssemblyParts {
  /** What serves: the HTTP server of the process. */
  readonly host: HttpHost;
  /** What is served: chain, pool and network. */
  readonly node: NodeSource;
  readonly options: RestOptions;
  readonly store: Store;
  /** Of the index by script. */
  readonly scriptStore: Store;
  /** Undefined for a node in memory. */
  readonly places: Places | undefined;
  /** The version of this package. */
  readonly version: string;
  readonly logger: IndexLogger & ServerLogger;
  /** Other parts than the ones that are made of the options. */
  readonly replaced?: ReplacedParts;
}

/** Parts that are replaced where something else is to be seen. */
export interface ReplacedParts extends ReplacedWalletParts {
  /** The pause before an index that has failed is tried again. */
  readonly failurePauseMs?: number;
  readonly rehearsal?: RehearsalLimits;
}

/** What a reader lacks comes from nodes, which may be back in seconds. */
const READER_FAILURE_PAUSE_MS = 2_000;

export class Assembly {
  readonly node: NodeSource;
  readonly index: ChainIndexer;
  readonly serving: Serving;
  readonly answers: Answers;
  readonly #app: HttpApp;
  readonly #mount: Mount;
  /** Only with `--rest-addresses-socket`. */
  readonly #unixSocket: UnixSocket | undefined;
  readonly #rehearsal: Rehearsal;
  /** Only if the edition of Bitcoin Core's interface has JSON-RPC. */
  readonly rpc: RpcService | undefined;
  /** Only with `--rest-addresses`. */
  readonly wallets: WalletServices | undefined;
  /** Only with `--rest-addresses-search`. */
  readonly addresses: AddressList | undefined;
  /** Only with `--rest-payments`. */
  readonly merchant: MerchantService | undefined;
  /** Only with `--rest-metrics`. */
  readonly metrics: Metrics | undefined;
  /** Only with `--rest-pool=modern`. */
  readonly refused: RefusedBlocks | undefined;
  /** Only with `--rest-feed`. */
  readonly feed: Feed | undefined;
  /** Only with `--rest-zmq-…`. */
  readonly #notifications: Notifications | undefined;

  constructor(parts: AssemblyParts) {
    const { host, node, options, store, scriptStore, places, version, logger, replaced = {} } = parts;
    const { payments, addresses, profile, undoDepth, scrubMs, notifiers } = options;
    const failurePauseMs = replaced.failurePauseMs ?? (options.reader && READER_FAILURE_PAUSE_MS);
    const common = { ...(failurePauseMs !== undefined && { failurePauseMs }), logger };
    this.node = node;
    const index = (this.index = new ChainIndexer({ ...options, ...common, store, node, migrations }));
    const filling = places && { path: places.scripts, filesPath: places.filling };
    const scripts = addresses && new ScriptIndexer({ ...common, store: scriptStore, index, node, undoDepth, filling, scrubMs });
    const moved$ = scripts?.state$ ?? EMPTY;
    const serving = (this.serving = new Serving({ host, node, index, moved$, edition: editionOf(version, options), options, logger }));
    const refusedFile = places && new RefusedBlockFile(places.refused);
    const refused = (this.refused = options.modernPool ? new RefusedBlocks({ node, index, logger, file: refusedFile }) : undefined);
    const answers = (this.answers = answersOf(serving, options, {
      txidsOf: scripts && txidsFrom(scripts.reader),
      warnings: refused ? () => refused.warnings : () => node.fleet?.warnings ?? []
    }));
    const times = options.metrics && new RequestTimes();
    const app = (this.#app = new HttpApp(logger, times));
    app.add(restInterface(serving, restRoutes(answers), profile, version));
    this.rpc = profile.rpc ? this.#rpcService(parts, times) : undefined;
    if (this.rpc !== undefined) app.add(this.rpc.http);
    if (addresses !== undefined && scripts !== undefined) {
      this.addresses = addresses.search ? new AddressList({ ...common, store: listStore(places), index, node, scrubMs }) : undefined;
      this.wallets = this.#walletServices(parts, addresses, scripts, times);
      // The paths of WebSockets may lie under that of Esplora's API.
      app.add(this.wallets.webSockets);
      app.add(this.wallets.esplora);
    }
    const others = this.wallets === undefined ? [] : [this.wallets.answers.scriptsGate];
    app.add(healthInterface({ serving, node, others, version }));
    if (options.explorer) app.add(this.#explorer(parts, scripts));
    this.merchant = payments && new MerchantService({ ...payments, ...merchantParts(parts, index, serving) });
    this.feed = options.feed && new Feed({ ...options.feed, node, logger, warnings: () => answers.warnings(), release: version });
    this.#notifications = notifiers.length > 0 ? new Notifications({ node, index, notifiers, logger }) : undefined;
    this.metrics = times && this.#metricsPort(parts, times);
    const { server } = host;
    const { connections } = serving;
    this.#unixSocket = addresses?.socket && new UnixSocket({ ...addresses.socket, prefix: addresses.path, server, connections });
    this.#mount = this.#mountOn(parts);
    this.#rehearsal = this.#rehearse(parts);
  }

  #rpcService({ options, places, version }: AssemblyParts, times: RequestTimes | undefined): RpcService {
    const { serving, answers, index } = this;
    const { notifiers, rpcUser: user, rpcWhitelists: whitelists } = options;
    return new RpcService({
      serving,
      answers,
      index,
      notifiers,
      user,
      whitelists,
      version,
      scripts: () => this.wallets?.answers,
      cookiePath: places?.cookie,
      times: times?.of('rpc')
    });
  }

  #walletServices(
    { node, places, version, logger, replaced = {} }: AssemblyParts,
    options: AddressOptions,
    scripts: ScriptIndexer,
    times: RequestTimes | undefined
  ): WalletServices {
    const { serving, addresses: list } = this;
    const pool = new ScriptPool(node.pool, (error) => {
      logger.error(`A transaction of the pool was left out: ${messageOf(error)}.`);
    });
    return new WalletServices({
      serving,
      list,
      scripts,
      options,
      version,
      logger,
      replaced,
      times,
      answers: scriptAnswersOf(this.answers, serving.gate, scripts, pool),
      folder: places?.folder
    });
  }

  #metricsPort({ options, places, version, logger }: AssemblyParts, times: RequestTimes): Metrics | undefined {
    const { serving, answers, index, wallets, addresses, feed } = this;
    const folders = foldersOf(places, options.addresses);
    return (
      options.metrics &&
      new Metrics({
        endpoint: options.metrics,
        observed: { version, serving, answers, index, times, wallets, addresses, feed, folders },
        logger
      })
    );
  }

  #explorer({ node, options, version }: AssemblyParts, scripts: ScriptIndexer | undefined): HttpInterface {
    const { index, wallets, addresses } = this;
    const { gate, responses } = this.serving;
    const api = wallets && options.addresses && { path: options.addresses.path, gate: wallets.answers.scriptsGate };
    const files = webFiles('rest-explorer');
    const parts = { files, responses, node, network: node.network, index, gate, scripts, addresses, api };
    return explorerInterface({ ...parts, needsKey: options.auth, version });
  }

  #mountOn({ host, logger }: AssemblyParts): Mount {
    const { server } = host;
    const { takes, handle: handler } = this.#app;
    const { webSockets } = this.wallets ?? {};
    return new Mount({
      server,
      takes,
      handler,
      targetOf: this.#unixSocket?.targetOf,
      connections: this.serving.connections,
      logger,
      isAuthenticated: (socket) => host.isAuthenticated(socket),
      ...(webSockets && { upgrade: { takes: webSockets.takes, listener: webSockets.upgrade } })
    });
  }

  #rehearse({ host: { server }, node, options, logger, replaced: { rehearsal } = {} }: AssemblyParts): Rehearsal {
    const { gate, reader, own } = this.serving;
    const { scripts, electrum } = this.wallets ?? {};
    const { path } = options.addresses ?? {};
    const wallets = scripts && electrum && path !== undefined ? { scripts, path, accept: electrum.accept } : undefined;
    const http = { server, own, needsKey: options.auth };
    return new Rehearsal({ node, gate, reader, http, wallets, logger, ...rehearsal });
  }

  /** Takes over the paths of the interfaces from the HTTP server as soon as it listens. Does not wait for the indexes. */
  async open(): Promise<void> {
    await this.#openNotifications();
    await this.index.open();
    await this.refused?.open();
    this.serving.open();
    await this.rpc?.open();
    await this.wallets?.open();
    this.addresses?.open();
    await this.#openMerchant();
    await this.#openMetrics();
    this.#mount.open();
    await this.#openUnixSocket();
    this.#rehearsal.open();
    this.feed?.open();
  }

  /** @throws OptionError when the folder cannot be used */
  async #openMerchant(): Promise<void> {
    try {
      const pages = await this.merchant?.open();
      if (pages !== undefined) this.#app.add(pages);
    } catch (error) {
      if (error instanceof SharedFolderError || error instanceof FolderInUseError)
        throw new OptionError(`--rest-payments must be a folder of its own: ${error.message}`, { cause: error });
      if (!isOfSystem(error) && !(error instanceof StoreError)) throw error;
      throw new OptionError(`--rest-payments must be a folder that can be read and written: ${error.message}`, { cause: error });
    }
  }

  /** @throws OptionError when an address cannot be bound, or the package is missing */
  async #openNotifications(): Promise<void> {
    try {
      await this.#notifications?.open();
    } catch (error) {
      if (!(error instanceof NotPublishedError)) throw error;
      throw new OptionError(`--rest-zmq-${error.topic}: ${error.message}`, { cause: error });
    }
  }

  /** @throws OptionError when the port cannot be bound */
  async #openMetrics(): Promise<void> {
    try {
      await this.metrics?.open();
    } catch (error) {
      if (!isOfSystem(error)) throw error;
      throw new OptionError(`--rest-metrics cannot be listened on: ${error.message}`, { cause: error });
    }
  }

  /** @throws OptionError when the socket cannot be bound */
  async #openUnixSocket(): Promise<void> {
    try {
      await this.#unixSocket?.open();
    } catch (error) {
      throw error instanceof UnixSocketError ? new OptionError(`--rest-addresses-socket: ${error.message}`, { cause: error }) : error;
    }
  }

  /** Reads certificates again. */
  readAgain(): void {
    this.wallets?.electrum.readAgain();
  }

  async close(): Promise<void> {
    await this.feed?.close();
    this.#unixSocket?.close();
    this.#mount.close();
    await this.metrics?.close();
    await this.#rehearsal.close();
    await this.merchant?.close();
    await this.addresses?.close();
    await this.wallets?.close();
    await this.rpc?.close();
    this.serving.close();
    await this.refused?.close();
    await this.index.close();
    // After what writes to the disk: libzmq has been seen to abort when a subscriber leaves in the middle of a message.
    await this.#notifications?.close();
    this.node.close();
  }
}

function merchantParts(
  { host, node, options, version, logger }: AssemblyParts,
  index: ChainIndexer,
  { gate, unfinished }: Serving
): Omit<MerchantServiceParts, 'folder' | 'publicUrl' | 'notifyOrigins'> {
  const requireReady = (): void => {
    gate.requireReady();
  };
  const { timeoutMs } = options.limits;
  return { host, node, index, ready$: gate.ready$, timeoutMs, unfinished, requireReady, version, logger, files: webFiles('rest-payments') };
}

/** The pages that an option needs. @throws OptionError when they were not built */
function webFiles(option: 'rest-explorer' | 'rest-payments'): WebFiles {
  try {
    return new WebFiles();
  } catch (error) {
    throw error instanceof NotBuiltError ? new OptionError(`--${option}: ${error.message}`, { cause: error }) : error;
  }
}

/** Whatever changes the bytes of answers. */
function editionOf(version: string, { profile, witness }: RestOptions): string {
  return JSON.stringify([version, profile, witness]);
}

/** Where the list of addresses is kept. */
const listStore = (places: Places | undefined): Store =>
  places === undefined ? new MemoryStore() : new DiskStore(places.addresses, { checkedFirst: ADDRESS_STATE_KEYS });

/** Folders whose sizes are shown, by name. */
function foldersOf(places: Places | undefined, addresses: AddressOptions | undefined): Record<string, string> {
  if (places === undefined) return {};
  const { index, scripts, filling } = places;
  return { index, ...(addresses && { scripts, filling }), ...(addresses?.search && { addresses: places.addresses }) };
}
