// mempool's WebSocket, put together: updates of blocks, addresses, scripts, transactions and the pool. The messages are mempool's.

import { acceptedPrefixes } from '../../bitcoin/address';
import { Ancestry } from './ancestry';
import { BlockUpdates } from './block-updates';
import { PoolUpdates, type PoolListener } from './pool-updates';
import { PushSession, type PushSessionParts } from './push-session';
import { Rounds } from './rounds';
import { ScriptUpdates } from './script-updates';
import { TransactionUpdates } from './transaction-updates';
import type { Observable } from 'rxjs';
import type { SettledPasses } from '../../answers/updates/settled-passes';
import type { ScriptReader, ScriptsState } from '../../scripts/types';
import type { SubscriptionMemory } from '../../server/bounds/subscription-memory';
import type { InterfaceTimes } from '../../server/figures/request-times';
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
  /** Counts requests; undefined: nobody does. */
  readonly times: InterfaceTimes | undefined;
}

export class PushService {
  readonly #parts: PushServiceParts;
  readonly #session: PushSessionParts;

  constructor(parts: PushServiceParts) {
    this.#parts = parts;
    const { context, scripts, passes, outflow, options, logger, times } = parts;
    const { node, scriptsGate: gate } = context;
    const { maxSubscriptions, maxHistory } = options;
    const ancestry = new Ancestry();
    // In each pass clients are notified in this order.
    // A confirmation is told beside its block, which comes after it.
    const transactionUpdates = new TransactionUpdates(context, ancestry, passes);
    const blockUpdates = new BlockUpdates(context, ancestry, passes);
    const scriptUpdates = new ScriptUpdates({ context, scripts, passes, ancestry, maxHistory });
    const rounds = new Rounds<PoolListener>([transactionUpdates, scriptUpdates]);
    const poolUpdates = new PoolUpdates(context, rounds, passes);
    passes.add(rounds);
    this.#session = {
      context,
      scripts,
      blockUpdates,
      scriptUpdates,
      transactionUpdates,
      poolUpdates,
      prefixes: acceptedPrefixes(node.network.chain, node.network.addressPrefixes),
      maxSubscriptions,
      outflow,
      gate,
      logger,
      times
    };
  }

  /** How many scripts and transactions clients track. */
  get tracked(): number {
    return this.#session.scriptUpdates.size + this.#session.transactionUpdates.size;
  }

  /** Whether any client is told of blocks, or of what they do with what it tracks. */
  get hasListeners(): boolean {
    return this.#session.blockUpdates.size + this.tracked > 0;
  }

  /** Serves a client that was admitted. `address`: its IP address. */
  begin(connection: Connection, address: string): void {
    this.#parts.sessions.begin(address, (account, onClose) => {
      const memory = this.#parts.subscriptions.open(address);
      return new PushSession(this.#session, { connection, memory, account }, onClose);
    });
  }
}
