// What `--rest-addresses` switches on beside the index by script: the pool by script, the notifiers, and the interfaces based on them.

import { getHeapStatistics } from 'node:v8';
import { combineLatest, distinctUntilChanged, map, type Observable, type Subscription } from 'rxjs';
import { OutpointNotifier } from '../lib/answers/outpoints/outpoint-notifier';
import { StatusNotifier } from '../lib/answers/status/status-notifier';
import { SettledPasses } from '../lib/answers/updates/settled-passes';
import { TipNotifier } from '../lib/answers/updates/tip-notifier';
import { acceptedPrefixes, scriptOfAddress } from '../lib/bitcoin/address';
import { ElectrumService, SetUpError, type ElectrumServiceParts } from '../lib/electrum/electrum-service';
import { methodTable, timedMethods } from '../lib/electrum/method-table';
import { ClientSubscriptions } from '../lib/electrum/server/client-subscriptions';
import { ScriptAccess } from '../lib/answers/script-access';
import { esploraInterface } from '../lib/esplora/esplora-interface';
import { PushService } from '../lib/esplora/push/push-service';
import { SubscriptionMemory } from '../lib/server/bounds/subscription-memory';
import { Sessions, type SessionsParts } from '../lib/server/sockets/sessions';
import { WebSockets } from '../lib/server/sockets/web-sockets';
import { messageOf } from '../lib/system/error-text';
import { OptionError } from './options/errors';
import type { AddressOptions } from './options/addresses';
import type { AddressList } from '../lib/addresses/address-list';
import type { ScriptAnswers } from '../lib/answers/answers';
import type { ScriptsGate } from '../lib/answers/scripts/gate';
import type { MethodContext, MethodTable, NotifiedClient } from '../lib/electrum/method';
import type { EsploraContext } from '../lib/esplora/endpoint';
import type { IndexLogger } from '../lib/follow/logger';
import type { ScriptIndexer } from '../lib/scripts/script-indexer';
import type { NetworkInfo } from '../lib/node/types/chain';
import type { HttpInterface } from '../lib/server/app';
import type { RequestTimes } from '../lib/server/figures/request-times';
import type { ServerLogger } from '../lib/server/logger';
import type { Serving } from '../lib/server/serving';

/** The share of the heap that Node may use (`--max-old-space-size`) for subscriptions of all clients. */
const SUBSCRIPTIONS_SHARE = 1 / 8;

/** Parts that are replaced where something else is to be seen. */
export interface ReplacedWalletParts {
  /** Memory for subscriptions of all clients. */
  readonly subscriptions?: SubscriptionMemory;
  /** The gate of the Electrum protocol and of WebSockets. */
  readonly clientGate?: Pick<ScriptsGate, 'isReady' | 'status'>;
  /** Whether requests by script are answered: emits the current value, then every change. */
  readonly ready$?: Observable<boolean>;
  /** The methods of the Electrum protocol. */
  readonly methods?: (context: MethodContext) => MethodTable;
  readonly subscriptionsOf?: ElectrumServiceParts['subscriptionsOf'];
  /** Whether an address is of the node's machine. */
  readonly isOwn?: SessionsParts['isOwn'];
}

export interface WalletServicesParts {
  readonly serving: Serving;
  readonly answers: ScriptAnswers;
  readonly scripts: ScriptIndexer;
  /** For searching addresses; undefined: they are not searched. */
  readonly list: Pick<AddressList, 'search'> | undefined;
  readonly options: AddressOptions;
  /** The folder for the certificate; undefined: the certificate is not kept. */
  readonly folder: string | undefined;
  /** The version of this package. */
  readonly version: string;
  readonly logger: IndexLogger & ServerLogger;
  readonly replaced: ReplacedWalletParts;
  /** Counts requests; undefined: nobody does. */
  readonly times: RequestTimes | undefined;
}

export class WalletServices {
  readonly scripts: ScriptIndexer;
  /** Whether requests by script are answered: emits the current value, then every change. */
  readonly ready$: Observable<boolean>;
  /** For other plugins. */
  readonly access: ScriptAccess;
  readonly answers: ScriptAnswers;
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
  readonly outpoints: OutpointNotifier;
  readonly esplora: HttpInterface;
  readonly passes: SettledPasses;
  readonly subscriptions: SubscriptionMemory;
  readonly push: PushService;
  readonly electrum: ElectrumService;
  readonly sessions: Sessions;
  readonly webSockets: WebSockets;
  readonly #logger: IndexLogger;
  readonly #closing$: Observable<void>;
  #closing: Subscription | undefined;
  #isClosed = false;
  /** Never rejects. */
  #opening: Promise<void> = Promise.resolve();

  constructor(parts: WalletServicesParts) {
    const { serving, answers, scripts, list, options, version, logger, replaced } = parts;
    const { node, connections, gate, proxies } = serving;
    const { pool, histories } = answers;
    const { broadcast, mining, maxUnspent } = options;
    const { maxSessions, maxCost, about } = options.electrum;
    requireAddress(about.donationAddress, node.network);
    this.scripts = scripts;
    this.answers = answers;
    this.#logger = logger;
    this.#closing$ = connections.closing$;
    this.ready$ =
      replaced.ready$ ??
      combineLatest([gate.ready$, scripts.state$]).pipe(
        map(([isReady, { phase }]) => isReady && phase === 'live'),
        distinctUntilChanged()
      );
    const memory = getHeapStatistics().heap_size_limit * SUBSCRIPTIONS_SHARE;
    this.subscriptions = replaced.subscriptions ?? new SubscriptionMemory(memory, proxies.isOwn);
    const passes = (this.passes = new SettledPasses({ node, scripts, pool, logger }));
    // In each pass clients are notified in this order.
    this.tips = new TipNotifier(passes);
    const statuses = (this.statuses = new StatusNotifier({ passes, reader: scripts.reader, pool, histories }));
    this.outpoints = new OutpointNotifier({ passes, reader: scripts.reader, statuses: answers.outpoints });
    this.access = new ScriptAccess({ scripts, answers, statuses });
    const { timeoutMs } = serving.options.limits;
    this.sessions = new Sessions({ maxSessions, maxCost, isOwn: replaced.isOwn ?? proxies.isOwn, timeoutMs });
    const context = { ...answers, list, broadcast, mining, maxUnspent, version };
    this.esplora = esploraInterface(serving, context, { ...options, version });
    this.push = this.#pushService(parts, context);
    this.electrum = this.#electrumService(parts);
    this.webSockets = this.#webSocketsFor(parts);
  }

  #pushService({ serving, options, logger, times }: WalletServicesParts, context: EsploraContext): PushService {
    const { scripts, passes, sessions, subscriptions } = this;
    const { maxHistory } = options;
    const { maxSubscriptions } = options.electrum;
    return new PushService({
      context,
      scripts,
      passes,
      sessions,
      subscriptions,
      logger,
      outflow: serving.responses,
      options: { maxSubscriptions, maxHistory },
      times: times?.of('push')
    });
  }

  #electrumService({ serving, answers, options, folder, version, logger, replaced, times }: WalletServicesParts): ElectrumService {
    const { tips, statuses, outpoints, subscriptions, sessions, ready$ } = this;
    const { broadcast, maxHistory, electrum } = options;
    const { maxSubscriptions, about } = electrum;
    const { methods = methodTable, clientGate: gate = answers.scriptsGate } = replaced;
    const table = methods({ ...answers, version, maxHistory, broadcast, about });
    const subscriptionsOf = (client: NotifiedClient, address: string): ClientSubscriptions =>
      new ClientSubscriptions({ tips, statuses, outpoints }, client, subscriptions.open(address), { maxSubscriptions, maxHistory });
    return new ElectrumService({
      serving,
      sessions,
      gate,
      ready$,
      version,
      folder,
      logger,
      methods: times === undefined ? table : timedMethods(table, times.of('electrum')),
      subscriptionsOf: replaced.subscriptionsOf ?? subscriptionsOf,
      options: electrum
    });
  }

  #webSocketsFor({ serving, answers, options: { path, cors }, replaced }: WalletServicesParts): WebSockets {
    const { clientGate = answers.scriptsGate } = replaced;
    return new WebSockets({
      serving,
      sessions: this.sessions,
      paths: {
        '/electrum': (connection, address) => {
          this.electrum.begin(connection, address);
        },
        [`${path}/v1/ws`]: (connection, address) => {
          this.push.begin(connection, address);
        }
      },
      refusal: () => (clientGate.isReady ? undefined : clientGate.status()),
      origins: cors
    });
  }

  /**
   * To be called after the main index and REST are open. Does not wait until a large pool is read or the index by script is filled;
   * requests are refused meanwhile.
   * @throws OptionError when a port or a certificate of the Electrum protocol cannot be used
   */
  async open(): Promise<void> {
    try {
      await this.electrum.open();
    } catch (error) {
      throw error instanceof SetUpError ? new OptionError(error.message, { cause: error }) : error;
    }
    // The node closes its HTTP server before its plugins, and waits for all connections of the server.
    this.#closing = this.#closing$.subscribe(() => void this.#endSessions());
    this.#opening = this.answers.pool.open().then(
      () => {
        if (this.#isClosed) return;
        this.passes.open();
        this.scripts.open();
      },
      (error: unknown) => {
        this.#logger.error(`The pool was not read, and addresses are not answered: ${messageOf(error)}.`);
      }
    );
  }

  /** Ends the sessions of all clients, who learn at once that the node stops. */
  async #endSessions(): Promise<void> {
    this.electrum.close();
    await this.sessions.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing?.unsubscribe();
    await this.#endSessions();
    // Ends the reading of a large pool.
    this.answers.pool.close();
    await this.#opening;
    await this.passes.close();
    await this.scripts.close();
  }
}

/** @throws OptionError for the donation address, unless it is empty or one of the network */
function requireAddress(address: string, { chain, addressPrefixes }: NetworkInfo): void {
  if (address === '') return;
  const script = scriptOfAddress(address, acceptedPrefixes(chain, addressPrefixes));
  if (typeof script === 'string')
    throw new OptionError(`--rest-electrum-donation must be an address of this network: '${address}' is ${script}`);
}
