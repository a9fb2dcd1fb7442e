// Totals of a script over all transactions of the chain. They are cached with the block up to which they count: until the script's rows
// change nothing is counted, and then only transactions after that block. Clients that ask at the same time share one count.

import { keyOf } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { HistoryTooLongError } from '../../scripts/errors';
import { exact } from '../../scripts/read/script-snapshot';
import { MadeOnce } from '../../server/cache/made-once';
import { ClientGoneError } from '../../turns/client';
import { RowCache } from './row-cache';
import type { BlockPoint } from '../../node/types';
import type { ScriptSnapshot, ScriptTotals, Sum } from '../../scripts/types';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

/** The most transactions that are counted for one answer. */
const MOST_TRANSACTIONS = 1_000_000;

/** Totals of more transactions are cached at once, others when they are asked for a second time. */
const MANY_TRANSACTIONS = 10_000;

interface Counted {
  /** Undefined: there are too many transactions. */
  readonly totals: ScriptTotals | undefined;
  /** The block up to which they count. */
  readonly block: BlockPoint;
}

const plus = (a: Sum, b: Sum): Sum => ({ count: a.count + b.count, value: a.value + b.value });

/** A function to be called during long work, which throws ClientGoneError once the client has left. */
export function unlessGone(client: Client): () => void {
  return () => {
    if (client.isGone) throw new ClientGoneError('the client left before its script was counted');
  };
}

export class ChainTotals {
  readonly #cached: RowCache<Counted>;
  readonly #counting = new MadeOnce<ScriptTotals>();

  constructor(cache: AnswerCache) {
    this.#cached = new RowCache(cache, 'script-totals', () => 0);
  }

  /** The totals if they are cached and still right. `script`: its SHA-256. */
  known(script: Buffer, snapshot: ScriptSnapshot): ScriptTotals | undefined {
    return this.#cached.get(script, snapshot)?.totals;
  }

  /** `script`: its SHA-256. @throws HistoryTooLongError */
  of(script: Buffer, snapshot: ScriptSnapshot, client: Client): Promise<ScriptTotals> {
    const block = snapshot.index.tip;
    return this.#counting.get(keyOf(block.hash) + keyOf(script), client, (everybody) =>
      snapshot.during(this.#count(script, snapshot, everybody))
    );
  }

  async #count(script: Buffer, snapshot: ScriptSnapshot, client: Client): Promise<ScriptTotals> {
    const {
      stamp,
      index: { tip: block }
    } = snapshot;
    const totals = await this.#upToTip(script, snapshot, client).catch((error: unknown) => {
      if (!(error instanceof HistoryTooLongError)) throw error;
      return undefined;
    });
    const counted = { totals, block };
    // "Too many" is cached too: a history does not get shorter.
    if (totals === undefined || totals.transactions > MANY_TRANSACTIONS) this.#cached.set(script, stamp, counted);
    else this.#cached.setIfAskedBefore(script, stamp, () => counted);
    if (totals === undefined)
      throw new HistoryTooLongError(`more than ${MOST_TRANSACTIONS} transactions, or 2^53 satoshis, have to do with the script`);
    return totals;
  }

  /** @throws HistoryTooLongError */
  async #upToTip(script: Buffer, snapshot: ScriptSnapshot, client: Client): Promise<ScriptTotals | undefined> {
    const goOn = unlessGone(client);
    const right = this.#cached.get(script, snapshot);
    if (right !== undefined) return right.totals;
    const last = this.#cached.last(script);
    // Nothing is cached, or the totals count up to a block that is no longer in the chain.
    if (last === undefined || snapshot.index.heightOf(last.block.hash) === undefined)
      return snapshot.totals(script, MOST_TRANSACTIONS, { goOn });
    const { totals, block } = last;
    if (totals === undefined || block.height === snapshot.index.tip.height) return totals;
    const most = MOST_TRANSACTIONS - totals.transactions;
    const since = await snapshot.totals(script, most, { beyond: { height: block.height, index: MAX_TRANSACTIONS - 1 }, goOn });
    return exact({
      transactions: totals.transactions + since.transactions,
      funded: plus(totals.funded, since.funded),
      spent: plus(totals.spent, since.spent)
    });
  }
}
