// Builds the parts of the service from options and stores. Opens them in order, and closes them in reverse order.

import { answersOf, scriptAnswersOf } from '../lib/answers/answers';
import { txidsFrom } from '../lib/answers/scripts/txids';
import { ChainIndexer } from '../lib/index/chain-index';
import { MerchantService } from '../lib/merchant/merchant-service';
import { ScriptPool } from '../lib/pool/by-script/script-pool';
import { Rehearsal } from '../lib/rehearsal/rehearsal';
import { restInterface } from '../lib/rest/rest-interface';
import { restRoutes } from '../lib/rest/routes';
import { RpcService } from '../lib/rpc/rpc-service';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { HttpApp } from '../lib/server/app';
import { Mount } from '../lib/server/http/mount';
import { Serving } from '../lib/server/serving';
import { messageOf } from '../lib/turns/error-text';
import { RefusedBlockFile } from '../lib/watch/refused-block';
import { RefusedBlocks } from '../lib/watch/refused-blocks';
import { migrations } from '../migrations';
import { OptionError, type RestOptions } from './options';
import { WalletServices, type ReplacedWalletParts } from './wallet-services';
import type { Answers } from '../lib/answers/answers';
import type { IndexLogger } from '../lib/follow/logger';
import type { HttpHost, NodeSource } from '../lib/node/types';
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
}

export class Assembly {
  readonly node: NodeSource;
  readonly index: ChainIndexer;
  readonly serving: Serving;
  readonly answers: Answers;
  readonly #app: HttpApp;
  readonly #mount: Mount;
  readonly #rehearsal: Rehearsal;
  /** Only if the edition of Bitcoin Core's interface has JSON-RPC. */
  readonly rpc: RpcService | undefined;
  /** Only with `--rest-addresses`. */
  readonly wallets: WalletServices | undefined;
  /** Only with `--rest-payments`. */
  readonly merchant: MerchantService | undefined;
  /** Only with `--rest-pool=modern`. */
  readonly refused: RefusedBlocks | undefined;

  constructor({ host, node, options, store, scriptStore, places, version, logger, replaced = {} }: AssemblyParts) {
    const { payments, addresses, limits, profile, rpcUser: user, undoDepth, scrubMs } = options;
    const { failurePauseMs } = replaced;
    const common = { ...(failurePauseMs !== undefined && { failurePauseMs }), logger };
    this.node = node;
    const index = (this.index = new ChainIndexer({ ...options, ...common, store, node, migrations }));
    const serving = (this.serving = new Serving({ host, node, index, options, logger }));
    const filling = places && { path: places.scripts, filesPath: places.filling };
    const scripts = addresses && new ScriptIndexer({ ...common, store: scriptStore, index, node, undoDepth, filling, scrubMs });
    const refusedFile = places && new RefusedBlockFile(places.refused);
    const refused = (this.refused = options.modernPool ? new RefusedBlocks({ node, index, logger, file: refusedFile }) : undefined);
    const answers = (this.answers = answersOf(serving, options, {
      txidsOf: scripts && txidsFrom(scripts.reader),
      warnings: refused && (() => refused.warnings)
    }));
    const app = (this.#app = new HttpApp(logger));
    app.add(restInterface(serving, restRoutes(answers), profile));
    if (profile.rpc) {
      this.rpc = new RpcService({ serving, answers, index, user, cookiePath: places?.cookie, version });
      app.add(this.rpc.http);
    }
    if (addresses !== undefined && scripts !== undefined) {
      const pool = new ScriptPool(node.pool, (error) => {
        logger.error(`A transaction of the pool was left out: ${messageOf(error)}.`);
      });
      this.wallets = new WalletServices({
        serving,
        answers: scriptAnswersOf(answers, serving.gate, scripts, pool),
        scripts,
        options: addresses,
        folder: places?.folder,
        version,
        logger,
        replaced
      });
      // The paths of WebSockets may lie under that of Esplora's API.
      app.add(this.wallets.webSockets);
      app.add(this.wallets.esplora);
    }
    this.merchant =
      payments &&
      new MerchantService({
        ...payments,
        host,
        node,
        index,
        ready$: serving.gate.ready$,
        timeoutMs: limits.timeoutMs,
        unfinished: serving.unfinished,
        requireReady: () => {
          serving.gate.requireReady();
        },
        logger
      });
    const { webSockets } = this.wallets ?? {};
    this.#mount = new Mount({
      server: host.server,
      takes: app.takes,
      handler: app.handle,
      ...(webSockets && { upgrade: { takes: webSockets.takes, listener: webSockets.upgrade } }),
      connections: serving.connections,
      logger
    });
    const { gate, reader, own } = serving;
    const wallets = this.wallets &&
      addresses && { state$: this.wallets.scripts.state$, path: addresses.path, accept: this.wallets.electrum.accept };
    this.#rehearsal = new Rehearsal({ node, gate, reader, http: { server: host.server, own, needsKey: options.auth }, wallets, logger });
  }

  /** Takes over the paths of the interfaces from the HTTP server as soon as it listens. Does not wait for the indexes. */
  async open(): Promise<void> {
    await this.index.open();
    await this.refused?.open();
    this.serving.open();
    await this.rpc?.open();
    await this.wallets?.open();
    await this.#openMerchant();
    this.#mount.open();
    this.#rehearsal.open();
  }

  /** @throws OptionError when the folder cannot be used */
  async #openMerchant(): Promise<void> {
    try {
      const pages = await this.merchant?.open();
      if (pages !== undefined) this.#app.add(pages);
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw new OptionError(`--rest-payments must be a folder that can be read and written: ${error.message}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#mount.close();
    await this.#rehearsal.close();
    await this.merchant?.close();
    await this.wallets?.close();
    await this.rpc?.close();
    this.serving.close();
    await this.refused?.close();
    await this.index.close();
    this.node.close();
  }
}
