// The outputs of a script that no transaction of the chain spends.

import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { TooManyCoinsError } from '../../scripts/errors';
import { packed } from '../../scripts/records/positions';
import { ScriptCoins, type PlacedCoin } from '../../scripts/script-coins';
import { MadeOnce } from '../../server/cache/made-once';
import { placedTransaction } from '../transactions/placed-transaction';
import { RowCache } from './row-cache';
import { unlessGone, type ChainTotals } from './totals';
import type { IndexSnapshot } from '../../index/types';
import type { FoundCoins as SearchedCoins, RowTransaction, ScriptSnapshot, ScriptTotals } from '../../scripts/types';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';

interface FoundCoins {
  /** How many coins were asked for. */
  readonly most: number;
  /** Undefined: there are more. */
  readonly coins: ScriptCoins | undefined;
}

/** The memory of a coin: its txid, and three numbers. */
const BYTES_PER_COIN = 64;

export class ChainCoins {
  readonly #blocks: RawBlocks;
  readonly #totals: ChainTotals;
  readonly #cached: RowCache<FoundCoins>;
  readonly #reading = new MadeOnce<FoundCoins>();

  constructor(blocks: RawBlocks, totals: ChainTotals, cache: AnswerCache) {
    this.#blocks = blocks;
    this.#cached = new RowCache(cache, 'script-coins', ({ coins }) => (coins?.count ?? 0) * BYTES_PER_COIN);
    this.#totals = totals;
  }

  /**
   * The coins in the order of the chain; a promise only if that takes more than one turn. `script`: its SHA-256.
   * @throws TooManyCoinsError for more than `most`, HttpError 503
   */
  of(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): ScriptCoins | Promise<ScriptCoins> {
    const cached = this.#cached.get(script, snapshot);
    if (cached !== undefined && isEnough(cached, most)) return upTo(most, cached);
    const keep = (found: FoundCoins): ScriptCoins => {
      this.#cached.setIfAskedBefore(script, snapshot.stamp, () => found);
      return upTo(most, found);
    };
    const found = this.#found(script, most, snapshot, client);
    // What was found at once is found as quickly again.
    return found instanceof Promise ? found.then(keep) : upTo(most, found);
  }

  /** Clients that ask at the same time share one search, if it allows as many coins as they do. */
  #found(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): FoundCoins | Promise<FoundCoins> {
    const key = (): string => keyOf(snapshot.index.tip.hash) + keyOf(script);
    const found = this.#reading.get(key, client, (everybody) => {
      const reading = this.#read(script, most, snapshot, everybody);
      return reading instanceof Promise ? snapshot.during(reading) : reading;
    });
    if (!(found instanceof Promise)) return found;
    return found.then((shared) => (isEnough(shared, most) ? shared : this.#found(script, most, snapshot, client)));
  }

  #read(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): FoundCoins | Promise<FoundCoins> {
    const done = (coins: ScriptCoins): FoundCoins => ({ most, coins });
    const failed = (error: unknown): FoundCoins => {
      if (!(error instanceof TooManyCoinsError)) throw error;
      return { most, coins: undefined };
    };
    let coins: ScriptCoins | Promise<ScriptCoins>;
    try {
      coins = this.#search(script, most, snapshot, client);
    } catch (error) {
      return failed(error);
    }
    return coins instanceof Promise ? coins.then(done, failed) : done(coins);
  }

  #search(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): ScriptCoins | Promise<ScriptCoins> {
    const totals = (): ScriptTotals | Promise<ScriptTotals> => this.#totals.of(script, snapshot, client);
    const of = ({ coins, others }: SearchedCoins): ScriptCoins | Promise<ScriptCoins> =>
      coins.count === 0 && others > 0 ? this.#unspendable(script, most, snapshot, client) : coins;
    const searched = snapshot.coins(script, most, { totals, goOn: unlessGone(client) });
    return searched instanceof Promise ? searched.then(of) : of(searched);
  }

  /** Outputs of a script that is too long to run are not coins of the index, and never spent. Wallets are shown them all the same. */
  async #unspendable(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<ScriptCoins> {
    const { funded, transactions } = await this.#totals.of(script, snapshot, client);
    if (funded.count > most) throw new TooManyCoinsError(most);
    const rows = await snapshot.history(script, { limit: transactions, ascending: true });
    const found = await Promise.all(rows.map((row) => this.#outputsOf(row, script, snapshot.index, client)));
    return ScriptCoins.of(found.flat());
  }

  async #outputsOf(row: RowTransaction, script: Buffer, index: IndexSnapshot, client: Client): Promise<PlacedCoin[]> {
    const { outputs } = await placedTransaction(this.#blocks, row, index, client);
    const position = packed(row.position.height, row.position.index);
    return outputs.flatMap(({ script: own, value }, index) =>
      isUnspendable(own) && scriptHashOf(own).equals(script) ? [{ position, txid: row.txid, index, value }] : []
    );
  }
}

/** Whether this says what the coins are, or that there are more than `asked`. */
const isEnough = ({ coins, most }: FoundCoins, asked: number): boolean => coins !== undefined || most >= asked;

/** @throws TooManyCoinsError for more than `most` */
function upTo(most: number, { coins }: FoundCoins): ScriptCoins {
  if (coins === undefined || coins.count > most) throw new TooManyCoinsError(most);
  return coins;
}
