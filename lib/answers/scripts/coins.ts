// The outputs of a script that no transaction of the chain spends.

import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { TooManyCoinsError } from '../../scripts/errors';
import { MadeOnce } from '../../server/cache/made-once';
import { placedTransaction } from '../transactions/placed-transaction';
import { RowCache } from './row-cache';
import { unlessGone, type ChainTotals } from './totals';
import type { IndexSnapshot } from '../../index/types';
import type { FoundCoins as SearchedCoins, ScriptCoin, RowTransaction, ScriptSnapshot, ScriptTotals } from '../../scripts/types';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';

interface FoundCoins {
  /** How many coins were asked for. */
  readonly most: number;
  /** Undefined: there are more. */
  readonly coins: readonly ScriptCoin[] | undefined;
}

/** The memory of a coin: the object and its txid. */
const BYTES_PER_COIN = 256;

export class ChainCoins {
  readonly #blocks: RawBlocks;
  readonly #totals: ChainTotals;
  readonly #cached: RowCache<FoundCoins>;
  readonly #reading = new MadeOnce<FoundCoins>();

  constructor(blocks: RawBlocks, totals: ChainTotals, cache: AnswerCache) {
    this.#blocks = blocks;
    this.#cached = new RowCache(cache, 'script-coins', ({ coins }) => (coins?.length ?? 0) * BYTES_PER_COIN);
    this.#totals = totals;
  }

  /**
   * The coins in the order of the chain; a promise only if that takes more than one turn. `script`: its SHA-256.
   * @throws TooManyCoinsError for more than `most`, HttpError 503
   */
  of(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): readonly ScriptCoin[] | Promise<readonly ScriptCoin[]> {
    const cached = this.#cached.get(script, snapshot);
    if (cached !== undefined && isEnough(cached, most)) return upTo(most, cached);
    const keep = (found: FoundCoins): readonly ScriptCoin[] => {
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
    const done = (coins: readonly ScriptCoin[]): FoundCoins => ({ most, coins });
    const failed = (error: unknown): FoundCoins => {
      if (!(error instanceof TooManyCoinsError)) throw error;
      return { most, coins: undefined };
    };
    let coins: readonly ScriptCoin[] | Promise<readonly ScriptCoin[]>;
    try {
      coins = this.#search(script, most, snapshot, client);
    } catch (error) {
      return failed(error);
    }
    return coins instanceof Promise ? coins.then(done, failed) : done(coins);
  }

  #search(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): readonly ScriptCoin[] | Promise<readonly ScriptCoin[]> {
    const totals = (): ScriptTotals | Promise<ScriptTotals> => this.#totals.of(script, snapshot, client);
    const of = ({ coins, others }: SearchedCoins): readonly ScriptCoin[] | Promise<readonly ScriptCoin[]> =>
      coins.length === 0 && others > 0 ? this.#unspendable(script, most, snapshot, client) : coins;
    const searched = snapshot.coins(script, most, { totals, goOn: unlessGone(client) });
    return searched instanceof Promise ? searched.then(of) : of(searched);
  }

  /** Outputs of a script that is too long to run are not coins of the index, and never spent. Wallets are shown them all the same. */
  async #unspendable(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<ScriptCoin[]> {
    const { funded, transactions } = await this.#totals.of(script, snapshot, client);
    if (funded.count > most) throw tooMany(most);
    const rows = await snapshot.history(script, { limit: transactions, ascending: true });
    const found = await Promise.all(rows.map((row) => this.#outputsOf(row, script, snapshot.index, client)));
    return found.flat();
  }

  async #outputsOf(row: RowTransaction, script: Buffer, index: IndexSnapshot, client: Client): Promise<ScriptCoin[]> {
    const { outputs } = await placedTransaction(this.#blocks, row, index, client);
    return outputs.flatMap((output, n) =>
      isUnspendable(output.script) && scriptHashOf(output.script).equals(script)
        ? [{ txid: row.txid, index: n, value: output.value, height: row.position.height, coinbase: row.position.index === 0 }]
        : []
    );
  }
}

/** Whether this says what the coins are, or that there are more than `asked`. */
const isEnough = ({ coins, most }: FoundCoins, asked: number): boolean => coins !== undefined || most >= asked;

/** @throws TooManyCoinsError for more than `most` */
function upTo(most: number, { coins }: FoundCoins): readonly ScriptCoin[] {
  if (coins === undefined || coins.length > most) throw tooMany(most);
  return coins;
}

const tooMany = (most: number): Error => new TooManyCoinsError(`more than ${most} coins are the script's`);
