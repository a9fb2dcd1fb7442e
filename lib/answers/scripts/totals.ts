// Totals of a script over all transactions of the chain. They are cached with the block up to which they count: until the script's rows
// change nothing is counted, and then only transactions after that block. Clients that ask at the same time share one count.

import { keyOf } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { HistoryTooLongError } from '../../scripts/errors';
import { exact } from '../../scripts/read/running-totals';
import { MadeOnce } from '../../server/cache/made-once';
import { ClientGoneError } from '../../turns/client';
import { RowCache } from './row-cache';
import type { BlockPoint } from '../../node/types/chain';
import type { ScriptSnapshot, ScriptTotals, Sum } from '../../scripts/types';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

/** The most transactions that are counted for one answer. */
const MOST_TRANSACTIONS = 1_000_000;

/** Totals of more transactions are cached at once, others when they are asked for a second time. */
export const MANY_TRANSACTIONS = 10_000;

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
  readonly #counting = new MadeOnce<Counted>();

  constructor(cache: AnswerCache) {
    this.#cached = new RowCache(cache, 'script-totals', () => 0);
  }

  /** `script`: its SHA-256. A promise only if it takes more than one turn. @throws HistoryTooLongError */
  of(script: Buffer, snapshot: ScriptSnapshot, client: Client): ScriptTotals | Promise<ScriptTotals> {
    const last = this.#cached.last(script, snapshot);
    if (last?.isRight === true) return given(last.value);
    const key = (): string => keyOf(snapshot.index.tip.hash) + keyOf(script);
    const counted = this.#counting.get(key, client, (everybody) => {
      const counting = this.#counted(script, snapshot, everybody, last?.value);
      return counting instanceof Promise ? snapshot.during(counting) : counting;
    });
    return counted instanceof Promise ? counted.then(given) : given(counted);
  }

  /** As `of`, if they are cached. */
  known(script: Buffer, snapshot: ScriptSnapshot): ScriptTotals | undefined {
    const counted = this.#cached.get(script, snapshot);
    return counted && given(counted);
  }

  /** `last`: what is cached, of other rows. */
  #counted(script: Buffer, snapshot: ScriptSnapshot, client: Client, last: Counted | undefined): Counted | Promise<Counted> {
    const {
      stamp,
      index: { tip: block }
    } = snapshot;
    const keep = (totals: ScriptTotals | undefined): Counted => {
      const counted = { totals, block };
      // "Too many" is cached too: a history does not get shorter.
      if (totals === undefined || totals.transactions > MANY_TRANSACTIONS) this.#cached.set(script, stamp, counted);
      else this.#cached.setIfAskedBefore(script, stamp, () => counted);
      return counted;
    };
    const failed = (error: unknown): Counted => {
      if (!(error instanceof HistoryTooLongError)) throw error;
      return keep(undefined);
    };
    let totals: ScriptTotals | undefined | Promise<ScriptTotals | undefined>;
    try {
      totals = this.#upToTip(script, snapshot, client, last);
    } catch (error) {
      return failed(error);
    }
    return totals instanceof Promise ? totals.then(keep, failed) : keep(totals);
  }

  /** @throws HistoryTooLongError */
  #upToTip(
    script: Buffer,
    snapshot: ScriptSnapshot,
    client: Client,
    last: Counted | undefined
  ): ScriptTotals | undefined | Promise<ScriptTotals | undefined> {
    const goOn = unlessGone(client);
    // Nothing is cached, or the totals count up to a block that is no longer in the chain.
    if (last === undefined || snapshot.index.heightOf(last.block.hash) === undefined)
      return snapshot.totals(script, MOST_TRANSACTIONS, { goOn });
    const { totals, block } = last;
    if (totals === undefined || block.height === snapshot.index.tip.height) return totals;
    const most = MOST_TRANSACTIONS - totals.transactions;
    const since = snapshot.totals(script, most, { beyond: { height: block.height, index: MAX_TRANSACTIONS - 1 }, goOn });
    return since instanceof Promise ? since.then((more) => sumOf(totals, more)) : sumOf(totals, since);
  }
}

/** @throws HistoryTooLongError */
function given({ totals }: Counted): ScriptTotals {
  if (totals !== undefined) return totals;
  throw new HistoryTooLongError(`more than ${MOST_TRANSACTIONS} transactions, or 2^53 satoshis, have to do with the script`);
}

/** @throws HistoryTooLongError */
const sumOf = (a: ScriptTotals, b: ScriptTotals): ScriptTotals =>
  exact({ transactions: a.transactions + b.transactions, funded: plus(a.funded, b.funded), spent: plus(a.spent, b.spent) });
