// Builds the parts of the service from options and stores. Opens them in order, and closes them in reverse order.

import { answersOf, scriptAnswersOf } from '../lib/answers/answers';
import { txidsFrom } from '../lib/answers/scripts/txids';
import { ChainIndexer } from '../lib/index/chain-index';
import { MerchantService } from '../lib/merchant/merchant-service';
import { BcoinNode } from '../lib/node/bcoin';
import { ScriptPool } from '../lib/pool/by-script/script-pool';
import { RestService } from '../lib/rest/rest-service';
import { RpcService } from '../lib/rpc/rpc-service';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { Serving } from '../lib/server/serving';
import { messageOf } from '../lib/turns/error-text';
import { migrations } from '../migrations';
import { WalletServices, type ReplacedWalletParts } from './wallet-services';
import type { Answers } from '../lib/answers/answers';
import type { IndexLogger } from '../lib/index/types';
import type { HostNode } from '../lib/node/host';
import type { ServerLogger } from '../lib/server/logger';
import type { Store } from '../lib/store/store';
import { OptionError, type Places, type RestOptions } from './options';

export interface AssemblyParts {
  readonly host: HostNode;
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
  readonly replaced?: ReplacedWalletParts;
}

export class Assembly {
  readonly node: BcoinNode;
  readonly index: ChainIndexer;
  readonly serving: Serving;
  readonly answers: Answers;
  readonly rest: RestService;
  /** Only if the edition of Bitcoin Core's interface has JSON-RPC. */
  readonly rpc: RpcService | undefined;
  /** Only with `--rest-addresses`. */
  readonly wallets: WalletServices | undefined;
  /** Only with `--rest-payments`. */
  readonly merchant: MerchantService | undefined;

  constructor({ host, options, store, scriptStore, places, version, logger, replaced = {} }: AssemblyParts) {
    const { payments, addresses, limits, profile, rpcUser: user, undoDepth, scrubMs } = options;
    const node = (this.node = new BcoinNode(host));
    const index = (this.index = new ChainIndexer({ ...options, store, node, logger, migrations }));
    const serving = (this.serving = new Serving({ node, index, options, logger }));
    const filling = places && { path: places.scripts, filesPath: places.filling };
    const scripts = addresses && new ScriptIndexer({ store: scriptStore, index, node, undoDepth, filling, scrubMs, logger });
    const answers = (this.answers = answersOf(serving, options, scripts && txidsFrom(scripts.reader)));
    this.rest = new RestService(serving, answers);
    if (profile.rpc) this.rpc = new RpcService({ serving, answers, index, user, cookiePath: places?.cookie, version });
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
    }
    this.merchant =
      payments &&
      new MerchantService({
        ...payments,
        node,
        index,
        ready$: serving.gate.ready$,
        timeoutMs: limits.timeoutMs,
        connections: serving.connections,
        unfinished: serving.unfinished,
        requireReady: () => {
          serving.gate.requireOpen();
        },
        logger
      });
  }

  /** Does not wait until the indexes have caught up. */
  async open(): Promise<void> {
    await this.index.open();
    this.serving.open();
    this.rest.open();
    await this.rpc?.open();
    await this.wallets?.open();
    await this.#openMerchant();
  }

  /** @throws OptionError when the folder cannot be used */
  async #openMerchant(): Promise<void> {
    try {
      await this.merchant?.open();
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw new OptionError(`--rest-payments must be a folder that can be read and written: ${error.message}`, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.merchant?.close();
    await this.wallets?.close();
    await this.rpc?.close();
    this.rest.close();
    this.serving.close();
    await this.index.close();
    this.node.close();
  }
}
