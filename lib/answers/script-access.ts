// Access to scripts for other plugins of the node, without a connection.

import { Observable } from 'rxjs';
import { TXID_LENGTH } from '../bitcoin/transaction';
import { onceLive } from './scripts/once-live';
import { keyOf, scriptHashOf } from '../bitcoin/hash';
import { heightIn } from '../scripts/records/positions';
import { NO_CLIENT } from '../turns/client';
import type { ScriptAnswers } from './answers';
import type { ScriptHistory } from './status/history';
import type { StatusNotifier } from './status/status-notifier';
import type { StatusListener } from './status/subscribed-script';
import type { ScriptReader, ScriptsState, ScriptTotals } from '../scripts/types';

/** A transaction that pays to a script or spends from it. */
export interface ScriptTransaction {
  /** In wire order. */
  readonly txid: Buffer;
  /** 0: it is in the pool; -1: it is in the pool and spends an unconfirmed output. */
  readonly height: number;
  /** Satoshis; only for transactions of the pool. */
  readonly fee?: number;
}

/** An output of a script that nothing spends, neither in the chain nor in the pool. */
export interface UnspentOutput {
  /** In wire order. */
  readonly txid: Buffer;
  readonly index: number;
  /** Satoshis. */
  readonly value: number;
  /** 0: it was created in the pool. */
  readonly height: number;
}

export interface ScriptStats {
  readonly chain: ScriptTotals;
  /** Totals of unconfirmed transactions. */
  readonly pool: ScriptTotals;
}

export interface ScriptAccessParts {
  readonly scripts: { readonly reader: ScriptReader; readonly state$: Observable<ScriptsState> };
  readonly answers: Pick<ScriptAnswers, 'coins' | 'histories'>;
  readonly statuses: StatusNotifier;
}

/**
 * Scripts are passed whole, as an output has them (scriptPubKey). Each answer is of one moment of chain and pool.
 * All but `subscribe$` reject with ScriptsUnavailableError or IndexUnavailableError while the index is not at the node's tip.
 */
export class ScriptAccess {
  readonly #parts: ScriptAccessParts;

  constructor(parts: ScriptAccessParts) {
    this.#parts = parts;
  }

  /** Transactions of the chain in ascending order, then of the pool: at height 0 by txid, then at height -1 by txid. Without a limit. */
  history(script: Buffer): Promise<ScriptTransaction[]> {
    return this.#read(script, async (history) => {
      const found: ScriptTransaction[] = [];
      await history.confirmed(Infinity, NO_CLIENT, ({ positions, txids }) => {
        for (const [i, position] of positions.entries())
          found.push({ txid: Buffer.from(txids.subarray(i * TXID_LENGTH, (i + 1) * TXID_LENGTH)), height: heightIn(position) });
      });
      for (const { transaction, height } of await history.unconfirmed(NO_CLIENT))
        found.push({ txid: transaction.txid, height, fee: transaction.fee });
      return found;
    });
  }

  /** Coins of the chain in its order, then coins of the pool in no order. Without a limit. */
  coins(script: Buffer): Promise<UnspentOutput[]> {
    return this.#read(script, async ({ script: hash, snapshot, pooled }) => {
      const ofPool = await pooled.outputs(NO_CLIENT);
      const ofChain = await this.#parts.answers.coins.of(hash, Infinity, snapshot, NO_CLIENT);
      return [
        ...Array.from(ofChain.without(ofPool.spends), ({ txid, index, value, height }) => ({
          txid: Buffer.from(txid),
          index,
          value,
          height
        })),
        ...ofPool.coins.map(({ txid, index, value }) => ({ txid, index, value, height: 0 }))
      ];
    });
  }

  /** A coin that is created in the chain and spent in the pool counts as spent in `pool`. */
  stats(script: Buffer): Promise<ScriptStats> {
    return this.#read(script, async ({ script: hash, snapshot, pooled, totals }) => {
      const pool = await pooled.totals(NO_CLIENT);
      return { chain: await totals.of(hash, snapshot, NO_CLIENT), pool };
    });
  }

  /**
   * The status of the Electrum protocol: SHA-256 of the history, 32 bytes; undefined for a script without transactions. Emits the present
   * status as soon as the index is at the node's tip, then each change once chain and pool have settled. It never completes.
   */
  subscribe$(script: Buffer): Observable<Buffer | undefined> {
    const key = keyOf(scriptHashOf(script));
    return new Observable((subscriber) => {
      const { statuses } = this.#parts;
      const emit = (status: string): void => subscriber.next(status === '' ? undefined : Buffer.from(status, 'latin1'));
      const listener: StatusListener = {
        changed: ({ status }) => {
          emit(status);
        },
        failed: (error) => {
          subscriber.error(error);
        }
      };
      const begin = async (): Promise<void> => {
        const status = await onceLive(
          this.#parts.scripts,
          () => statuses.add(key, listener, Infinity),
          () => subscriber.closed
        );
        if (subscriber.closed) statuses.delete(key, listener);
        else if (status !== undefined) emit(status);
      };
      begin().catch((error: unknown) => subscriber.error(error));
      return () => statuses.delete(key, listener);
    });
  }

  async #read<T>(script: Buffer, use: (history: ScriptHistory) => Promise<T>): Promise<T> {
    const { scripts, answers } = this.#parts;
    return scripts.reader.read((snapshot) => use(answers.histories.at(scriptHashOf(script), snapshot)));
  }
}
