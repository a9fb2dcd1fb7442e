// Layout 2: coins lie under the place of their transaction in the chain, and txids lead to
// places. Keys and records of both layouts, integers big endian, sizes in bytes; a CRC-32 of
// key and record follows each record:
//
//   layout 1                                       layout 2
//   'x' txid 32: height 4, offset 4, length 4      't' txid 32: place (height 4, position 2)
//                                                  'l' height 4: lengths of the transactions
//   'c' txid 32, index 4: coin                     'o' place 6, group 2 unless 0: coins (0001/coins.ts)
//   'u' height 4: undo                             'r' height 4: undo (0001/undo.ts)
//
// New letters for all that changes: what is there tells how far it came. 'y' holds the
// locations in the order of the chain meanwhile: height 4, offset 4: length 4, txid 32.

import { moveCoins } from './0001/coins';
import { addMissingLengths, orderLocations, placeTransactions } from './0001/places';
import { moveUndo } from './0001/undo';
import { Passes } from './pass';
import { lettered } from './records';
import type { Migration } from '../lib/store/migrate';

export const places: Migration = {
  from: 1,
  to: 2,
  info: 'coins by the place of their transaction, which takes less than half the room',
  async migrate(store, report) {
    const passes = new Passes(store, report);
    await orderLocations(store, passes, { from: 0, to: 0.2 });
    await placeTransactions(store, passes, { from: 0.2, to: 0.5 });
    await addMissingLengths(store);
    await moveCoins(store, passes, { from: 0.5, to: 0.7 });
    await moveUndo(store, passes, { from: 0.7, to: 0.9 });
    // What was deleted is twice as much as what is there.
    for (const letter of ['u', 'y']) await store.compact(lettered(letter));
    await passes.compact('c', { from: 0.9, to: 0.95 });
    await passes.compact('x', { from: 0.95, to: 1 });
    return [];
  }
};
