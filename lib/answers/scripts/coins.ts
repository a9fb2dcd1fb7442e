// The outputs of a script that no transaction of the chain spends.

import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { TooManyCoinsError } from '../../scripts/errors';
import { MadeOnce } from '../../server/cache/made-once';
import { placedTransaction } from '../transactions/placed-transaction';
import { RowCache } from './row-cache';
import { unlessGone, type ChainTotals } from './totals';
import type { IndexSnapshot } from '../../index/types';
import type { ScriptCoin, RowTransaction, ScriptSnapshot, ScriptTotals } from '../../scripts/types';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';

export type ChainCoin = Pick<ScriptCoin, 'txid' | 'index' | 'value' | 'height'>;

interface FoundCoins {
  /** How many coins were asked for. */
  readonly most: number;
  /** Undefined: there are more. */
  readonly coins: readonly ChainCoin[] | undefined;
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

  /** The coins in the order of the chain. `script`: its SHA-256. @throws TooManyCoinsError for more than `most`, HttpError 503 */
  async of(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<readonly ChainCoin[]> {
    const cached = this.#cached.get(script, snapshot);
    const isKnown = cached !== undefined && isEnough(cached, most);
    const found = isKnown ? cached : await this.#found(script, most, snapshot, client);
    if (!isKnown) this.#cached.setIfAskedBefore(script, snapshot.stamp, () => found);
    const { coins } = found;
    if (coins === undefined || coins.length > most) throw tooMany(most);
    return coins;
  }

  /** Clients that ask at the same time share one search, if it allows as many coins as they do. */
  async #found(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<FoundCoins> {
    const key = keyOf(snapshot.index.tip.hash) + keyOf(script);
    for (;;) {
      const found = await this.#reading.get(key, client, (everybody) => snapshot.during(this.#read(script, most, snapshot, everybody)));
      if (isEnough(found, most)) return found;
    }
  }

  async #read(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<FoundCoins> {
    try {
      return { most, coins: await this.#search(script, most, snapshot, client) };
    } catch (error) {
      if (error instanceof TooManyCoinsError) return { most, coins: undefined };
      throw error;
    }
  }

  async #search(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<readonly ChainCoin[]> {
    const totals = (): Promise<ScriptTotals> => this.#totals.of(script, snapshot, client);
    const { coins, others } = await snapshot.coins(script, most, { totals, goOn: unlessGone(client) });
    if (coins.length === 0 && others > 0) return this.#unspendable(script, most, snapshot, client);
    return coins.map(({ txid, index, value, height }) => ({ txid, index, value, height }));
  }

  /** Outputs of a script that is too long to run are not coins of the index, and never spent. Wallets are shown them all the same. */
  async #unspendable(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<ChainCoin[]> {
    const { funded, transactions } = await this.#totals.of(script, snapshot, client);
    if (funded.count > most) throw tooMany(most);
    const rows = await snapshot.history(script, { limit: transactions, ascending: true });
    const found = await Promise.all(rows.map((row) => this.#outputsOf(row, script, snapshot.index, client)));
    return found.flat();
  }

  async #outputsOf(row: RowTransaction, script: Buffer, index: IndexSnapshot, client: Client): Promise<ChainCoin[]> {
    const { outputs } = await placedTransaction(this.#blocks, row, index, client);
    return outputs.flatMap((output, n) =>
      isUnspendable(output.script) && scriptHashOf(output.script).equals(script)
        ? [{ txid: row.txid, index: n, value: output.value, height: row.position.height }]
        : []
    );
  }
}

/** Whether this says what the coins are, or that there are more than `asked`. */
const isEnough = ({ coins, most }: FoundCoins, asked: number): boolean => coins !== undefined || most >= asked;

const tooMany = (most: number): Error => new TooManyCoinsError(`more than ${most} coins are the script's`);
