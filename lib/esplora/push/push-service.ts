// The subset of mempool's WebSocket that wallets need, put together: updates of blocks, addresses, scripts and transactions.
// The messages are mempool's, the objects in them Esplora's.

import { acceptedPrefixes } from '../../bitcoin/address';
import { Ancestry } from './ancestry';
import { BlockUpdates } from './block-updates';
import { PushSession, type PushSessionParts } from './push-session';
import { ScriptUpdates } from './script-updates';
import { StatsUpdates } from './stats-updates';
import { TransactionUpdates } from './transaction-updates';
import type { Observable } from 'rxjs';
import type { SettledPasses } from '../../answers/updates/settled-passes';
import type { ScriptReader, ScriptsState } from '../../scripts/types';
import type { SubscriptionMemory } from '../../server/bounds/subscription-memory';
import type { ServerLogger } from '../../server/logger';
import type { Connection } from '../../server/sockets/connection';
import type { Outflow } from '../../server/sockets/outbox';
import type { Sessions } from '../../server/sockets/sessions';
import type { EsploraContext } from '../endpoint';

export interface PushServiceParts {
  readonly context: EsploraContext;
  /** The index by script, without a gate. */
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly passes: SettledPasses;
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
  readonly logger: ServerLogger;
}

export class PushService {
  readonly #parts: PushServiceParts;
  readonly #session: PushSessionParts;

  constructor(parts: PushServiceParts) {
    this.#parts = parts;
    const { context, scripts, passes, outflow, options, logger } = parts;
    const { node, scriptsGate: gate } = context;
    const { maxSubscriptions, maxHistory } = options;
    const ancestry = new Ancestry();
    // In each pass clients are notified in this order.
    const blockUpdates = new BlockUpdates(context, ancestry, passes);
    const scriptUpdates = new ScriptUpdates({ context, scripts, passes, ancestry, maxHistory });
    const transactionUpdates = new TransactionUpdates(context, passes);
    const statsUpdates = new StatsUpdates(context);
    this.#session = {
      scripts,
      blockUpdates,
      scriptUpdates,
      transactionUpdates,
      statsUpdates,
      prefixes: acceptedPrefixes(node.network.chain, node.network.addressPrefixes),
      maxSubscriptions,
      outflow,
      gate,
      logger
    };
  }

  /** How many scripts and transactions clients track. */
  get tracked(): number {
    return this.#session.scriptUpdates.size + this.#session.transactionUpdates.size;
  }

  /** Serves a client that was admitted. `address`: its IP address. */
  begin(connection: Connection, address: string): void {
    this.#parts.sessions.begin(address, (account, onClose) => {
      const memory = this.#parts.subscriptions.open(address);
      return new PushSession(this.#session, { connection, memory, account }, onClose);
    });
  }
}
