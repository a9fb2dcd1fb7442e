// Where an output stands: the transaction that creates it, and the one that spends it, in chain and pool of one moment.

import { keyOf, scriptHashOf } from '../../bitcoin/hash';
import { placeIfKnown, positionOf, type Transactions } from '../transactions/transactions';
import type { Outpoint } from '../../bitcoin/transaction';
import type { IndexSnapshot } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Client } from '../../turns/client';
import type { Spends } from '../transactions/spends';

/** Heights as in histories of the Electrum protocol: 0 in the pool, -1 in the pool while a parent is not confirmed. */
export interface OutpointStatus {
  /** Of the transaction that creates the output; undefined: neither chain nor pool has the output. */
  readonly funderHeight: number | undefined;
  readonly spender: { readonly txid: Buffer; readonly height: number } | undefined;
}

export interface FoundOutpoint {
  readonly status: OutpointStatus;
  /** The SHA-256 of the output's script as a latin1 string, if the chain has the output and no block spends it: a spend is in its history. */
  readonly unspentOf: string | undefined;
  /** How many rows of histories were walked through. */
  readonly rows: number;
}

/** A transaction of the pool at one moment: its parents are others later. */
interface Pooled {
  readonly transaction: PooledTransaction;
  readonly parents: readonly PooledTransaction[];
}

/** What the pool has of an outpoint at one moment. */
export interface PooledOutpoint {
  readonly outpoint: Outpoint;
  readonly funder: Pooled | undefined;
  readonly spender: Pooled | undefined;
}

export interface OutpointStatusesParts {
  readonly pool: ScriptPool;
  readonly transactions: Transactions;
  readonly spends: Spends;
}

const NOWHERE: OutpointStatus = { funderHeight: undefined, spender: undefined };

export class OutpointStatuses {
  readonly #parts: OutpointStatusesParts;

  constructor(parts: OutpointStatusesParts) {
    this.#parts = parts;
  }

  /** To be called in the turn in which the snapshot was taken. @throws HistoryTooLongError, NotYetKnownError, HttpError 503 */
  at(outpoint: Outpoint, snapshot: ScriptSnapshot, client: Client): Promise<FoundOutpoint> {
    return this.of(this.pooled(outpoint), undefined, snapshot, client);
  }

  /** To be called in the turn of the snapshot with which it is used. */
  pooled(outpoint: Outpoint): PooledOutpoint {
    const { pool } = this.#parts;
    const { txid, index } = outpoint;
    return { outpoint, funder: pooledOf(pool.get(txid)), spender: pooledOf(pool.spender(txid, index)?.transaction) };
  }

  /** `seen`: a transaction that was seen to spend the output: then no history is searched for it. @throws as `at` */
  async of(
    { outpoint, funder, spender }: PooledOutpoint,
    seen: Buffer | undefined,
    snapshot: ScriptSnapshot,
    client: Client
  ): Promise<FoundOutpoint> {
    const { txid, index } = outpoint;
    const ofPool = spender && { txid: spender.transaction.txid, height: heightOf(spender, snapshot.index) };
    const position = positionOf(txid, snapshot.index);
    if (position === undefined) {
      const isThere = funder !== undefined && index < funder.transaction.transaction.outputs.length;
      return found(isThere ? { funderHeight: heightOf(funder, snapshot.index), spender: ofPool } : NOWHERE);
    }
    const { height } = position;
    // The coinbase of the genesis block is no coin, and height 0 is that of the pool.
    if (height === 0) return found(NOWHERE);
    const coin = snapshot.index.coin(txid, index);
    if (coin !== undefined) return found({ funderHeight: height, spender: ofPool }, keyOf(scriptHashOf(coin.script)));
    const place = seen && placeIfKnown(seen, snapshot.index);
    if (seen !== undefined && place !== undefined) return found({ funderHeight: height, spender: { txid: seen, height: place.height } });
    const { spend, rows = 0 } = await this.#parts.spends.of(txid, index, snapshot, client);
    if (spend?.status !== undefined)
      return found({ funderHeight: height, spender: { txid: spend.txid, height: spend.status.height } }, undefined, rows);
    // An output that is no coin and that nothing spends carries data, or there is none.
    const { outputs } = await this.#parts.transactions.at({ txid, position }, snapshot.index, client);
    return found(index < outputs.length ? { funderHeight: height, spender: undefined } : NOWHERE, undefined, rows);
  }
}

const found = (status: OutpointStatus, unspentOf?: string, rows = 0): FoundOutpoint => ({ status, unspentOf, rows });

const pooledOf = (transaction: PooledTransaction | undefined): Pooled | undefined =>
  transaction && { transaction, parents: transaction.parents };

const heightOf = ({ parents }: Pooled, index: IndexSnapshot): 0 | -1 =>
  parents.every(({ txid }) => placeIfKnown(txid, index) !== undefined) ? 0 : -1;

/** Whether clients would be told the same of both. */
export function isSameStatus(a: OutpointStatus, b: OutpointStatus): boolean {
  return (
    a.funderHeight === b.funderHeight &&
    a.spender?.height === b.spender?.height &&
    (a.spender === b.spender || (a.spender !== undefined && b.spender !== undefined && a.spender.txid.equals(b.spender.txid)))
  );
}
