// The txids of a script's rows. Before BIP30 a coinbase could have the txid of an earlier one, whose coins were then lost: such a txid is
// shown at its last position.

import { TXID_LENGTH } from '../../bitcoin/transaction';
import { heightIn, indexIn } from '../records/positions';
import type { IndexSnapshot } from '../../index/types';
import type { RowTransactions } from '../types';
import type { TxidView } from '../txids/txid-view';

/** In one snapshot. Txids are concatenated, in the order of the positions (lib/scripts/records/positions.ts). */
export class RowTxids {
  readonly #index: IndexSnapshot;
  readonly #txids: TxidView;

  constructor(index: IndexSnapshot, txids: TxidView) {
    this.#index = index;
    this.#txids = txids;
  }

  /** Of transactions at ascending positions; a promise as for `TxidView.of`. @throws DamagedIndexError */
  of(positions: readonly number[]): Buffer | Promise<Buffer> {
    return this.#txids.of(positions);
  }

  /** Of transactions at descending positions; a promise as for `of`. @throws DamagedIndexError */
  below(positions: readonly number[]): Buffer | Promise<Buffer> {
    if (positions.length === 1) return this.#txids.of(positions);
    const ascending = this.#txids.of([...positions].reverse());
    return ascending instanceof Promise ? ascending.then(reversedTxids) : reversedTxids(ascending);
  }

  /** Without transactions whose txid is in the chain again later (before BIP30). */
  lastOnly(positions: readonly number[], txids: Buffer): RowTransactions {
    const last = this.lastPlaces(positions, txids);
    if (last === undefined) return { positions, txids };
    return { positions: last.map((i) => positions[i] as number), txids: Buffer.concat(last.map((i) => txidOf(txids, i))) }; // within
  }

  /** Places of transactions whose txid is not in the chain again later; undefined: that is true of all. */
  lastPlaces(positions: readonly number[], txids: Buffer): number[] | undefined {
    // Only a coinbase can have the txid of another transaction.
    if (!positions.some((position) => indexIn(position) === 0)) return undefined;
    const left = positions.flatMap((position, i) => {
      const isLast = indexIn(position) > 0 || this.#index.position(txidOf(txids, i))?.block.height === heightIn(position);
      return isLast ? [i] : [];
    });
    return left.length === positions.length ? undefined : left;
  }
}

/** The txid at a place of concatenated ones, as a view. */
export const txidOf = (txids: Buffer, index: number): Buffer => txids.subarray(index * TXID_LENGTH, (index + 1) * TXID_LENGTH);

/** Txids in the opposite order. */
function reversedTxids(txids: Buffer): Buffer {
  const found = Buffer.allocUnsafe(txids.length);
  for (let from = 0; from < txids.length; from += TXID_LENGTH)
    txids.copy(found, txids.length - from - TXID_LENGTH, from, from + TXID_LENGTH);
  return found;
}
