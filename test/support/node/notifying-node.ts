// What the plugin serves, beside a real node that is open already, and clients that are notified over the Electrum protocol.

import { ClientSubscriptions, type SubscriptionLimits } from '../../../lib/electrum/server/client-subscriptions';
import { SubscriptionMemory } from '../../../lib/server/bounds/subscription-memory';
import { isFleetWanted, TestFleet } from '../fleet/fleet';
import { assembled, ServedNode, type Assembled } from './served-node';
import { unfailing } from '../expectations/unfailing';
import type { ScriptHistories } from '../../../lib/answers/status/history';
import type { OutpointNotifier } from '../../../lib/answers/outpoints/outpoint-notifier';
import type { StatusNotifier } from '../../../lib/answers/status/status-notifier';
import type { SettledPasses } from '../../../lib/answers/updates/settled-passes';
import type { TipNotifier } from '../../../lib/answers/updates/tip-notifier';
import type { ScriptPool } from '../../../lib/pool/by-script/script-pool';
import type { Store } from '../../../lib/store/store';
import type { TestFullNode } from '../bcoin/bcoin';

const FAILURE_PAUSE_MS = 50;
const LIMITS: SubscriptionLimits = { maxSubscriptions: 10_000, maxHistory: 80_000 };

export class NotifyingNode extends ServedNode {
  /** For the subscriptions of all clients. */
  memory = new SubscriptionMemory(1 << 26);
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
  readonly outpoints: OutpointNotifier;
  readonly passes: SettledPasses;
  readonly pool: ScriptPool;
  readonly histories: ScriptHistories;
  readonly #close: () => Promise<void>;

  private constructor(host: TestFullNode, made: Assembled, close: () => Promise<void>) {
    super(host, made);
    this.#close = close;
    ({ tips: this.tips, statuses: this.statuses, outpoints: this.outpoints, passes: this.passes } = made.wallets);
    ({ pool: this.pool, histories: this.histories } = made.wallets.answers);
  }

  /** Opens all of it beside an open node, and waits until it answers. */
  static async beside(host: TestFullNode, scriptStore?: Store): Promise<NotifyingNode> {
    const fleet = isFleetWanted ? await TestFleet.open() : undefined;
    const made = assembled(host, { failurePauseMs: FAILURE_PAUSE_MS, ...(scriptStore && { scriptStore }) }, fleet);
    const { parts } = made;
    await (fleet === undefined ? parts.open() : fleet.openAround(parts.index, () => parts.open()));
    const all = new NotifyingNode(host, made, () => (fleet === undefined ? parts.close() : fleet.closeAround(() => parts.close())));
    await all.settle();
    return all;
  }

  /** Closes all but the node. */
  override close(): Promise<void> {
    return this.#close();
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

  /** Waits until the indexes are at the node's tip. */
  untilLive(): Promise<void> {
    return this.settle();
  }

  /** Waits until all listeners were notified. */
  async untilNotified(): Promise<void> {
    await this.settle();
    await this.passes.settled();
  }
}
