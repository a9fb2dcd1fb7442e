// Every key of the index by script. Integers are big endian, so that ranges of keys ascend; hashes are in wire order. Sizes are in bytes.
// A position is a transaction's place in the chain: height 4, index in its block 2. After each record comes its checksum, as in the main
// index (lib/index/records/layout.ts).
//
//   key                      record
//   00                       the version of the layout (lib/store/migrate.ts)
//   'F'                      only while the index is being filled: how far the filling is (lib/scripts/fill)
//   'G'                      hash of the network's genesis block 32
//   'L'                      how large the filter of scripts with loose rows is (loose-scripts.ts)
//   'M'                      how many blocks have their txids on the disk (block-txids.ts)
//   'P'                      txids of the last page (block-txids.ts)
//   'S'                      secret of the hashes 32 (script-hasher.ts)
//   'T'                      tip (lib/index/records/chain.ts)
//   'd' height 4             undo record (undo-record.ts)
//   'l' part 4               a part of that filter
//   'n' height 4             transactions of 256 blocks (block-txids.ts)
//   's' hash 10              the first rows of a script (row.ts)
//   's' hash 10, position 6  further rows
//
// The txids of all transactions are in the pages of the store (lib/scripts/txids).

import type { KeyRange } from '../../store/store';

export const LAYOUT_VERSION = 5;

/** The keys of the records that say what the index holds: layout, filling, network, filter, txids of the last page, secret, tip. */
export const STATE_KEYS: KeyRange = { gte: Buffer.from([0]), lt: Buffer.from('U') };

/** Key of a record that exists only while the index is being filled. */
export const FILLING_KEY = Buffer.from('F');
