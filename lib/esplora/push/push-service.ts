// The subset of mempool's WebSocket that wallets need, put together: news of blocks, addresses, scripts and transactions.
// The messages are mempool's, the objects in them Esplora's.

import { acceptedPrefixes } from '../../bitcoin/address';
import { listen } from '../../node/events';
import { detailsOf } from '../../turns/error-text';
import { Ancestry } from './ancestry';
import { BlockNews } from './block-news';
import { PushSession, type PushSessionParts } from './push-session';
import { ScriptNews } from './script-news';
import { StatsNews } from './stats-news';
import { TransactionNews } from './transaction-news';
import type { Observable, Subscription } from 'rxjs';
import type { ScriptNotifier } from '../../answers/status/script-notifier';
import type { SettledPasses } from '../../answers/status/settled-passes';
import type { IndexLogger } from '../../follow/logger';
import type { ScriptReader, ScriptSnapshot, ScriptsState, WatchedScripts } from '../../scripts/types';
import type { SubscriptionMemory } from '../../server/bounds/subscription-memory';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Sessions } from '../../server/sockets/sessions';
import type { EsploraContext } from '../endpoint';

export interface PushServiceParts {
  readonly context: EsploraContext;
  /** The index by script, without a gate. */
  readonly scripts: {
    readonly reader: ScriptReader;
    readonly watched: Pick<WatchedScripts, 'changes$'>;
    readonly state$: Observable<ScriptsState>;
  };
  readonly passes: SettledPasses;
  readonly notifier: ScriptNotifier;
  /** The sessions of all protocols. */
  readonly sessions: Sessions;
  readonly outflow: Outflow;
  readonly subscriptions: SubscriptionMemory;
  readonly options: {
    /** The most scripts that one client may track. */
    readonly maxSubscriptions: number;
    /** The most transactions of a script that can be tracked. */
    readonly maxHistory: number;
  };
  readonly logger: ServerLogger & Pick<IndexLogger, 'warning'>;
}

export class PushService {
  readonly #parts: PushServiceParts;
  readonly #session: PushSessionParts;
  readonly #blockNews: BlockNews;
  readonly #statsNews: StatsNews;
  readonly #scriptNews: ScriptNews;
  readonly #transactionNews: TransactionNews;
  #subscription: Subscription | undefined;

  constructor(parts: PushServiceParts) {
    this.#parts = parts;
    const { context, scripts, passes, notifier, outflow, options, logger } = parts;
    const { node, histories, scriptsGate: gate } = context;
    const { maxSubscriptions, maxHistory } = options;
    const ancestry = new Ancestry();
    const wake = (): void => {
      passes.wake();
    };
    this.#blockNews = new BlockNews(context, ancestry);
    this.#statsNews = new StatsNews(context);
    this.#scriptNews = new ScriptNews({
      scripts,
      notifier,
      histories,
      transactions: context.transactions,
      ancestry,
      maxHistory,
      wake
    });
    this.#transactionNews = new TransactionNews(context, wake);
    passes.add({
      isNeeded: () => this.#blockNews.size + this.tracked > 0,
      collect: (snapshot) => this.#collect(snapshot)
    });
    this.#session = {
      scripts,
      blockNews: this.#blockNews,
      statsNews: this.#statsNews,
      scriptNews: this.#scriptNews,
      transactionNews: this.#transactionNews,
      prefixes: acceptedPrefixes(node.network.chain, node.network.addressPrefixes),
      maxSubscriptions,
      outflow,
      gate,
      logger
    };
  }

  open(): void {
    const { scripts, passes, context, logger } = this.#parts;
    this.#subscription = scripts.watched.changes$.subscribe(() => {
      this.#transactionNews.touchAll();
      passes.wake();
    });
    this.#subscription.add(
      scripts.state$.subscribe(({ phase }) => {
        if (phase === 'live') passes.wake();
      })
    );
    this.#subscription.add(
      listen(
        context.node.pool.events$,
        (event) => {
          this.#transactionNews.follow(event);
        },
        (error) => {
          logger.error(`push: ${detailsOf(error)}`);
        }
      )
    );
  }

  /** Takes in no more changes. Sessions are not ended. */
  close(): void {
    this.#subscription?.unsubscribe();
  }

  /** How many scripts and transactions clients track. */
  get tracked(): number {
    return this.#scriptNews.size + this.#transactionNews.size;
  }

  /** Serves a client that was admitted. `address`: its IP address. */
  begin(connection: Connection, address: string): void {
    this.#parts.sessions.begin(address, (account, onClose) => {
      const memory = this.#parts.subscriptions.open(address);
      return new PushSession(this.#session, { connection, memory, account }, onClose);
    });
  }

  #collect(snapshot: ScriptSnapshot): () => Promise<void> {
    const tellScripts = this.#scriptNews.collect(snapshot);
    const tellTransactions = this.#transactionNews.collect(snapshot);
    const steps = [() => this.#blockNews.tellChanges(snapshot.index), tellScripts, tellTransactions, () => this.#statsNews.tellChanges()];
    return async () => {
      const failures: unknown[] = [];
      for (const step of steps) await step().catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    };
  }
}
