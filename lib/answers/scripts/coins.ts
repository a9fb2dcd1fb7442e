// The outputs of a script that no transaction of the chain spends.

import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { isUnspendable } from '../../bitcoin/script';
import { TooManyCoinsError } from '../../scripts/errors';
import { MadeOnce } from '../../server/cache/made-once';
import { placedTransaction } from '../transactions/placed-transaction';
import { unlessGone, type ChainTotals } from './totals';
import type { IndexSnapshot } from '../../index/types';
import type { ScriptCoin, ScriptRow, ScriptSnapshot, ScriptTotals } from '../../scripts/types';
import type { AnswerCache, Cached, CacheSection } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';
import type { RawBlocks } from '../blocks/raw-blocks';

export type ChainCoin = Pick<ScriptCoin, 'txid' | 'index' | 'value' | 'height'>;

interface FoundCoins {
  /** Of the snapshot in which they were searched. */
  readonly stamp: number;
  /** How many coins were asked for. */
  readonly most: number;
  /** Undefined: there are more. */
  readonly coins: readonly ChainCoin[] | undefined;
}

type CachedCoins = FoundCoins & Cached;

/** The memory of a coin: the object and its txid. */
const BYTES_PER_COIN = 256;

export class ChainCoins {
  readonly #blocks: RawBlocks;
  readonly #totals: ChainTotals;
  /** By script; right until its rows change. */
  readonly #cached: CacheSection<CachedCoins>;
  readonly #reading = new MadeOnce<FoundCoins>();

  constructor(blocks: RawBlocks, totals: ChainTotals, cache: AnswerCache) {
    this.#blocks = blocks;
    this.#cached = cache.section('script-coins');
    this.#totals = totals;
  }

  /** The coins in the order of the chain. `script`: its SHA-256. @throws TooManyCoinsError for more than `most`, HttpError 503 */
  async of(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<readonly ChainCoin[]> {
    const key = keyOf(script);
    const cached = this.#cached.get(key);
    const isRight = cached !== undefined && isEnough(cached, most) && snapshot.hasSameRows(script, cached.stamp);
    const found = isRight ? cached : await this.#found(`${keyOf(snapshot.index.tip.hash)}${key}`, script, most, snapshot, client);
    if (!isRight) this.#cached.setIfAskedBefore(key, () => ({ ...found, byteLength: (found.coins?.length ?? 1) * BYTES_PER_COIN }));
    const { coins } = found;
    if (coins === undefined || coins.length > most) throw tooMany(most);
    return coins;
  }

  /** The coins if they are cached and still right, and no more than `most`. `script`: its SHA-256. */
  known(script: Buffer, most: number, snapshot: ScriptSnapshot): readonly ChainCoin[] | undefined {
    const cached = this.#cached.get(keyOf(script));
    if (cached?.coins === undefined || cached.coins.length > most || !snapshot.hasSameRows(script, cached.stamp)) return undefined;
    return cached.coins;
  }

  /** Clients that ask at the same time share one search, if it allows as many coins as they do. */
  async #found(key: string, script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<FoundCoins> {
    for (;;) {
      const found = await this.#reading.get(key, client, (everybody) => snapshot.during(this.#read(script, most, snapshot, everybody)));
      if (isEnough(found, most)) return found;
    }
  }

  async #read(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<FoundCoins> {
    const { stamp } = snapshot;
    try {
      return { stamp, most, coins: await this.#search(script, most, snapshot, client) };
    } catch (error) {
      if (error instanceof TooManyCoinsError) return { stamp, most, coins: undefined };
      throw error;
    }
  }

  async #search(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<readonly ChainCoin[]> {
    const totals = (): Promise<ScriptTotals> => this.#totals.of(script, snapshot, client);
    const coins = await snapshot.coins(script, most, { totals, goOn: unlessGone(client) });
    if (coins.length === 0) return this.#unspendable(script, most, snapshot, client);
    return coins.map(({ txid, index, value, height }) => ({ txid, index, value, height }));
  }

  /** Outputs of a script that is too long to run are not coins of the index, and never spent. Wallets are shown them all the same. */
  async #unspendable(script: Buffer, most: number, snapshot: ScriptSnapshot, client: Client): Promise<ChainCoin[]> {
    const { funded, spent, transactions } = await this.#totals.of(script, snapshot, client);
    if (funded.count === spent.count) return [];
    if (funded.count > most) throw tooMany(most);
    const rows = await snapshot.history(script, { limit: transactions, ascending: true });
    const found = await Promise.all(rows.map((row) => this.#outputsOf(row, script, snapshot.index, client)));
    return found.flat();
  }

  async #outputsOf(row: ScriptRow, script: Buffer, index: IndexSnapshot, client: Client): Promise<ChainCoin[]> {
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
