// Builds everything that `--rest-addresses` switches on: the index by script, the pool by script, and the interfaces based on them.

import { messageOf } from '../lib/turns/error-text';
import { getHeapStatistics } from 'node:v8';
import { STATE_KEYS } from '../lib/scripts/records/layout';
import { combineLatest, distinctUntilChanged, map, type Observable, type Subscription } from 'rxjs';
import { ElectrumService, SetUpError } from '../lib/electrum/electrum-service';
import { methodTable } from '../lib/electrum/method-table';
import { ClientSubscriptions } from '../lib/electrum/notify/client-subscriptions';
import { ScriptAccess } from '../lib/electrum/script-access';
import { EsploraService } from '../lib/esplora/esplora-service';
import { PushService } from '../lib/esplora/push/push-service';
import { IndexUnavailableError } from '../lib/index/errors';
import { ChainAnswers } from '../lib/answers/chain-answers';
import { GatedScripts, ScriptsGate } from '../lib/answers/scripts/gate';
import { PoolFees } from '../lib/answers/pool/fees';
import { ScriptPool } from '../lib/pool/by-script/script-pool';
import { ScriptHistories } from '../lib/answers/status/history';
import { ScriptNotifier } from '../lib/answers/status/script-notifier';
import { ScriptsUnavailableError } from '../lib/scripts/errors';
import { ScriptIndexer } from '../lib/scripts/script-indexer';
import { isLoopback } from '../lib/server/bounds/address-group';
import { Sessions } from '../lib/server/sockets/sessions';
import { SubscriptionMemory } from '../lib/server/bounds/subscription-memory';
import { WebSockets } from '../lib/server/sockets/web-sockets';
import { DiskStore } from '../lib/store/disk-store';
import { MemoryStore } from '../lib/store/memory-store';
import { fillingFolder, OptionError, type AddressOptions } from './options';
import type { ChainIndex, IndexLogger } from '../lib/index/types';
import type { BlockPoint, NodeSource } from '../lib/node/types';
import type { ScriptReader } from '../lib/scripts/types';
import type { ServerLogger } from '../lib/server/logger';
import type { RestShared } from '../lib/rest/rest-service';

/** The share of the heap that Node may use (`--max-old-space-size`) for subscriptions of all clients. */
const SUBSCRIPTIONS_SHARE = 1 / 8;

export interface WalletServicesParts {
  readonly node: NodeSource;
  readonly index: ChainIndex;
  readonly shared: RestShared;
  readonly options: AddressOptions;
  /** Whether requests need the node's API key. */
  readonly auth: boolean;
  /** The folder of the index by script; undefined: the index is in memory. */
  readonly folder: string | undefined;
  /** The folder for the certificate, next to both indexes; undefined: the certificate is not kept. */
  readonly restFolder: string | undefined;
  readonly undoDepth: number;
  readonly scrubMs: number;
  /** The version of this package. */
  readonly version: string;
  readonly logger: IndexLogger & ServerLogger;
}

export class WalletServices {
  readonly scripts: ScriptIndexer;
  /** For other plugins. */
  readonly access: ScriptAccess;
  readonly #pool: ScriptPool;
  readonly #notifier: ScriptNotifier;
  readonly #esplora: EsploraService;
  readonly #push: PushService;
  readonly #electrum: ElectrumService;
  readonly #sessions: Sessions;
  readonly #webSockets: WebSockets;
  readonly #logger: IndexLogger;
  readonly #closing$: Observable<void>;
  #closing: Subscription | undefined;
  #isClosed = false;
  /** Never rejects. */
  #opening: Promise<void> = Promise.resolve();

  constructor(parts: WalletServicesParts) {
    const { node, index, shared, options, auth, folder, restFolder, undoDepth, scrubMs, version, logger } = parts;
    const scripts = (this.scripts = new ScriptIndexer({
      store: folder === undefined ? new MemoryStore() : new DiskStore(folder, { checkedFirst: STATE_KEYS }),
      index,
      node,
      undoDepth,
      filling: folder === undefined ? undefined : { path: folder, filesPath: fillingFolder(folder) },
      scrubMs,
      logger
    }));
    this.#logger = logger;
    this.#closing$ = shared.connections.closing$;
    const pool = (this.#pool = new ScriptPool(node.pool, (error) => {
      logger.error(`A transaction of the pool was left out: ${messageOf(error)}.`);
    }));
    shared.context.txids.of = (block) => txidsOf(block, scripts.reader);
    const fees = new PoolFees(node, pool);
    const answers = new ChainAnswers(shared.context);
    const histories = new ScriptHistories(pool, answers.totals);
    const notifier = (this.#notifier = new ScriptNotifier({ node, scripts, pool, histories, logger }));
    this.access = new ScriptAccess({ scripts, answers, histories, notifier });
    this.#esplora = new EsploraService({ shared, scripts, pool, fees, answers, options: { ...options, auth }, logger });
    const gate = new ScriptsGate(shared.gate, scripts);
    const { path, cors, broadcast, maxHistory, electrum } = options;
    const { maxSessions, maxCost, maxSubscriptions } = electrum;
    const { timeoutMs } = shared.context.limits;
    const sessions = (this.#sessions = new Sessions({ maxSessions, maxCost, isOwn: isLoopback, timeoutMs }));
    const subscriptions = new SubscriptionMemory(getHeapStatistics().heap_size_limit * SUBSCRIPTIONS_SHARE);
    this.#push = new PushService({
      context: this.#esplora.context,
      scripts,
      notifier,
      histories,
      sessions,
      outflow: shared.responses,
      subscriptions,
      gate,
      options: { maxSubscriptions, maxHistory },
      logger
    });
    this.#electrum = new ElectrumService({
      shared,
      sessions,
      methods: methodTable({
        rest: shared.context,
        scripts: new GatedScripts(scripts.reader, gate),
        pool,
        fees,
        answers,
        histories,
        version,
        maxHistory,
        broadcast
      }),
      subscriptionsOf: (client, address) =>
        new ClientSubscriptions(notifier, client, subscriptions.open(address), { maxSubscriptions, maxHistory }),
      gate,
      ready$: combineLatest([shared.gate.ready$, scripts.state$]).pipe(
        map(([isReady, { phase }]) => isReady && phase === 'live'),
        distinctUntilChanged()
      ),
      options: electrum,
      version,
      folder: restFolder,
      logger
    });
    this.#webSockets = new WebSockets({
      node,
      connections: shared.connections,
      responses: shared.responses,
      unfinished: shared.unfinished,
      sessions,
      paths: {
        '/electrum': (channel, address) => {
          this.#electrum.begin(channel, address);
        },
        [`${path}/v1/ws`]: (channel, address) => {
          this.#push.begin(channel, address);
        }
      },
      refusal: () => (gate.isOpen ? undefined : gate.status()),
      origins: cors,
      auth,
      logger
    });
  }

  /**
   * To be called after the main index and REST are open. Does not wait until a large pool is read or the index by script is filled;
   * requests are refused meanwhile.
   * @throws OptionError when a port or a certificate of the Electrum protocol cannot be used
   */
  async open(): Promise<void> {
    this.#esplora.open();
    try {
      await this.#electrum.open();
    } catch (error) {
      throw error instanceof SetUpError ? new OptionError(error.message, { cause: error }) : error;
    }
    this.#webSockets.open();
    // The node closes its HTTP server before its plugins, and waits for all connections of the server.
    this.#closing = this.#closing$.subscribe(() => void this.#endSessions());
    this.#opening = this.#pool.open().then(
      () => {
        if (this.#isClosed) return;
        this.#notifier.open();
        this.#push.open();
        this.scripts.open();
      },
      (error: unknown) => {
        this.#logger.error(`The pool was not read, and addresses are not answered: ${messageOf(error)}.`);
      }
    );
  }

  /** Ends the sessions of all clients, who learn at once that the node stops. */
  async #endSessions(): Promise<void> {
    this.#electrum.close();
    await this.#sessions.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing?.unsubscribe();
    this.#webSockets.close();
    await this.#endSessions();
    this.#esplora.close();
    // Ends the reading of a large pool.
    this.#pool.close();
    await this.#opening;
    await this.#push.close();
    await this.#notifier.close();
    await this.scripts.close();
  }
}

/** The txids of a block; undefined when the index by script cannot be read, or does not have the block at this height. */
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
