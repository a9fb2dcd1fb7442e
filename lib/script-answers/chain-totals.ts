// What all transactions of the chain did with a script. For a long history that takes long: its totals are kept with the block up to which they
// count, so that a later question counts what came since; and all who ask at one time wait for one count.

import { MAX_TRANSACTIONS } from '../index/records/position';
import { MadeOnce, type Cached, type Shelf } from '../rest/cache/answers';
import { keyOf } from '../rest/cache/blocks';
import { HistoryTooLongError } from '../scripts/errors';
import type { BlockPoint } from '../node/types';
import type { EndpointContext } from '../rest/endpoint';
import type { Waiting } from '../rest/server/work-queue';
import type { ScriptSnapshot, ScriptTotals, Sum } from '../scripts/types';

/** Transactions that are counted for one answer. */
const MOST_TRANSACTIONS = 1_000_000;

/** Counting fewer again costs next to nothing. */
const FEW_TRANSACTIONS = 256;

interface CachedTotals extends Cached {
  readonly totals: ScriptTotals;
  readonly block: BlockPoint;
}

const plus = (a: Sum, b: Sum): Sum => ({ count: a.count + b.count, value: a.value + b.value });

export class ChainTotals {
  readonly #cached: Shelf<CachedTotals>;
  readonly #counting = new MadeOnce<ScriptTotals>();

  constructor({ cache }: Pick<EndpointContext, 'cache'>) {
    this.#cached = cache.shelf('script-totals');
  }

  /** `script`: its SHA-256. @throws HistoryTooLongError */
  of(script: Buffer, snapshot: ScriptSnapshot, client: Waiting): Promise<ScriptTotals> {
    const key = keyOf(script);
    const block = snapshot.index.tip;
    return this.#counting.get(keyOf(block.hash) + key, client, async () => {
      const totals = (await this.#fromCached(script, snapshot)) ?? (await snapshot.totals(script, MOST_TRANSACTIONS));
      if (totals.transactions > MOST_TRANSACTIONS)
        throw new HistoryTooLongError(`more than ${MOST_TRANSACTIONS} transactions have to do with the script`);
      if (totals.transactions > FEW_TRANSACTIONS) this.#cached.offer(key, () => ({ totals, block, byteLength: 0 }));
      return totals;
    });
  }

  /** Undefined when the block up to which they count is in the chain no more, or so much came since that counting anew is as good. */
  async #fromCached(script: Buffer, snapshot: ScriptSnapshot): Promise<ScriptTotals | undefined> {
    const cached = this.#cached.get(keyOf(script));
    if (cached === undefined || snapshot.index.heightOf(cached.block.hash) === undefined) return undefined;
    const { height } = cached.block;
    if (height === snapshot.index.tip.height) return cached.totals;
    const beyond = { height, index: MAX_TRANSACTIONS - 1 };
    const since = await snapshot.history(script, { beyond, limit: FEW_TRANSACTIONS, ascending: true });
    if (since.length === FEW_TRANSACTIONS) return undefined;
    return since.reduce(
      ({ transactions, funded, spent }, row) => ({
        transactions: transactions + 1,
        funded: plus(funded, row.funded),
        spent: plus(spent, row.spent)
      }),
      cached.totals
    );
  }
}
