// A real node with the indexes, the pool by script and the notifiers of the Electrum protocol beside it.

import { filter, firstValueFrom } from 'rxjs';
import { PooledScripts } from '../../lib/answers/scripts/pooled-script';
import { ChainTotals } from '../../lib/answers/scripts/totals';
import { ScriptHistories } from '../../lib/answers/status/history';
import { StatusNotifier } from '../../lib/answers/status/status-notifier';
import { SettledPasses } from '../../lib/answers/updates/settled-passes';
import { TipNotifier } from '../../lib/answers/updates/tip-notifier';
import { ClientSubscriptions, type SubscriptionLimits } from '../../lib/electrum/notify/client-subscriptions';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { ScriptPool } from '../../lib/pool/by-script/script-pool';
import { ScriptIndexer } from '../../lib/scripts/script-indexer';
import { SubscriptionMemory } from '../../lib/server/bounds/subscription-memory';
import { AnswerCache } from '../../lib/server/cache/answer-cache';
import { MemoryStore } from '../../lib/store/memory-store';
import { MemoryLog } from './memory-log';
import { unfailing } from './unfailing';
import type { Store } from '../../lib/store/store';
import type { TestFullNode } from './bcoin';

const UNDO_DEPTH = 1_000;
const FAILURE_PAUSE_MS = 50;
const LIMITS: SubscriptionLimits = { maxSubscriptions: 10_000, maxHistory: 80_000 };

export class NotifyingNode {
  readonly log = new MemoryLog();
  /** For the subscriptions of all clients. */
  memory = new SubscriptionMemory(1 << 26);
  readonly node: BcoinNode;
  readonly index: ChainIndexer;
  readonly scripts: ScriptIndexer;
  readonly pool: ScriptPool;
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
  readonly histories: ScriptHistories;
  readonly passes: SettledPasses;

  private constructor(
    readonly host: TestFullNode,
    scriptStore: Store
  ) {
    const node = (this.node = new BcoinNode(host));
    const logger = this.log;
    const common = { node, logger, undoDepth: UNDO_DEPTH, scrubMs: 0, failurePauseMs: FAILURE_PAUSE_MS };
    const index = (this.index = new ChainIndexer({
      ...common,
      store: new MemoryStore(),
      migrations: [],
      bootstrap: 'blocks',
      filters: false,
      cacheBytes: 1 << 20
    }));
    const scripts = (this.scripts = new ScriptIndexer({ ...common, store: scriptStore, index, filling: undefined }));
    const pool = (this.pool = new ScriptPool(node.pool, unfailing));
    const histories = (this.histories = new ScriptHistories(new PooledScripts(pool), new ChainTotals(new AnswerCache(1 << 20))));
    const passes = (this.passes = new SettledPasses({ node, scripts, pool, logger }));
    this.tips = new TipNotifier(passes);
    this.statuses = new StatusNotifier({ passes, reader: scripts.reader, pool, histories });
  }

  /** Opens indexes and notifiers beside an open node, and waits until they answer. */
  static async beside(host: TestFullNode, scriptStore: Store = new MemoryStore()): Promise<NotifyingNode> {
    const all = new NotifyingNode(host, scriptStore);
    await all.index.open();
    await all.pool.open();
    all.scripts.open();
    all.passes.open();
    await all.untilLive();
    return all;
  }

  /** Closes all but the node. */
  async close(): Promise<void> {
    await this.passes.close();
    await this.scripts.close();
    this.pool.close();
    await this.index.close();
  }

  client(notified: (method: string, params: readonly unknown[]) => void, limits: Partial<SubscriptionLimits> = {}): ClientSubscriptions {
    const client = {
      notify: (method: string, params: string): void => {
        notified(method, JSON.parse(params) as unknown[]);
      },
      withdraw: () => undefined,
      failed: unfailing
    };
    return new ClientSubscriptions(this, client, this.memory.open('192.0.2.1'), { ...LIMITS, ...limits });
  }

  /** Waits until the index by script is at the node's tip. */
  async untilLive(): Promise<void> {
    await firstValueFrom(this.scripts.state$.pipe(filter((state) => state.phase === 'live' && state.height === this.node.tip().height)));
  }

  /** Waits until all listeners were notified. */
  async untilNotified(): Promise<void> {
    await this.untilLive();
    await this.passes.settled();
  }
}
