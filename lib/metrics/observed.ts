// The parts of the service that metrics are read from.

import type { Observable } from 'rxjs';
import type { AddressesState } from '../addresses/state';
import type { Answers, ScriptAnswers } from '../answers/answers';
import type { OutpointNotifier } from '../answers/outpoints/outpoint-notifier';
import type { StatusNotifier } from '../answers/status/status-notifier';
import type { SettledPasses } from '../answers/updates/settled-passes';
import type { TipNotifier } from '../answers/updates/tip-notifier';
import type { ChainIndex, IndexFigures } from '../index/types';
import type { FeedFigures } from '../node/types/fleet';
import type { ScriptsState } from '../scripts/types';
import type { SubscriptionMemory } from '../server/bounds/subscription-memory';
import type { RequestTimes } from '../server/figures/request-times';
import type { Serving } from '../server/serving';
import type { Sessions } from '../server/sockets/sessions';

export interface Observed {
  /** The version of this package. */
  readonly version: string;
  readonly serving: Serving;
  readonly answers: Answers;
  readonly index: Pick<ChainIndex, 'state' | 'state$' | 'blocks$'> & { readonly figures: IndexFigures };
  readonly times: RequestTimes;
  /** Undefined without an index by script. */
  readonly wallets: ObservedWallets | undefined;
  /** Undefined without a list of addresses. */
  readonly addresses: { readonly state: AddressesState } | undefined;
  /** Undefined for a process that feeds no fleet. */
  readonly feed: { readonly figures: FeedFigures } | undefined;
  /** Folders whose sizes are shown, by name. */
  readonly folders: Readonly<Record<string, string>>;
}

export interface ObservedWallets {
  readonly answers: ScriptAnswers;
  readonly scripts: {
    readonly state: ScriptsState;
    readonly state$: Observable<ScriptsState>;
    readonly scrubbed: number | undefined;
    readonly numberedBlocks: number;
    readonly looseBytes: number;
  };
  readonly passes: SettledPasses;
  readonly tips: TipNotifier;
  readonly statuses: StatusNotifier;
  readonly outpoints: OutpointNotifier;
  readonly sessions: Sessions;
  readonly subscriptions: SubscriptionMemory;
  readonly push: { readonly tracked: number; readonly hasListeners: boolean };
  readonly electrum: { readonly cutOffHandshakes: number };
}
