// Layout 3: instead of a txid its hash of 12 bytes, made with a secret of the index's own. Keys
// and records of both layouts, integers big endian, sizes in bytes; a CRC-32 of key and record
// follows each record:
//
//   layout 2                                       layout 3
//                                                  'S': secret of the hashes 32 (0002/hash.ts)
//   'r' height 4: undo, starts of txids            'd' height 4: the same, starts of hashes (0002/undo.ts)
//   't' txid 32: place (height 4, position 2)      'p' hash 12: the same
//
// New letters for all that changes: what is there tells how far it came. Places move last:
// undo records have only starts of txids, and need them.

import { Hasher, makeSecret } from './0002/hash';
import { movePlaces } from './0002/places';
import { moveUndo } from './0002/undo';
import { Passes } from './pass';
import { lettered } from './records';
import type { Migration } from '../lib/store/migrate';

export const txidHashes: Migration = {
  from: 2,
  to: 3,
  info: 'hashes of 12 bytes instead of txids, which takes less room',
  async migrate(store, report) {
    const passes = new Passes(store, report);
    const hasher = new Hasher(await makeSecret(store));
    await moveUndo(store, hasher, passes, { from: 0, to: 0.4 });
    await movePlaces(store, hasher, passes, { from: 0.4, to: 0.9 });
    await store.compact(lettered('r'));
    await passes.compact('t', { from: 0.9, to: 1 });
    return [];
  }
};
