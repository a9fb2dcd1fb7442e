// What a record of the index by script is about, for people. Knows the same letters as layout.ts.

import { GROUP_BLOCKS } from './block-txids';

export type ScriptRecordKind = 'single' | 'undo' | 'loose' | 'transactions' | 'rows' | 'unknown';

/** `single`: there is at most one record of the kind. */
export function kindOfRecord(key: Buffer): ScriptRecordKind {
  switch (nameOf(key)) {
    case '\x001':
    case 'F1':
    case 'G1':
    case 'L1':
    case 'M1':
    case 'P1':
    case 'S1':
    case 'T1':
      return 'single';
    case 'd5':
      return 'undo';
    case 'l5':
      return 'loose';
    case 'n5':
      return 'transactions';
    case 's11':
    case 's17':
      return 'rows';
    default:
      return 'unknown';
  }
}

/** `row of transaction 3 of the block at height 7, of the script with the hash 0102…` and the like; the key in hex if it is unknown. */
export function describeScriptRecord(key: Buffer): string {
  switch (nameOf(key)) {
    case '\x001':
      return 'layout version';
    case 'F1':
      return 'how far the filling is';
    case 'G1':
      return 'hash of the genesis block';
    case 'L1':
      return 'size of the filter of scripts with rows of their own';
    case 'M1':
      return 'how many blocks have their txids on the disk';
    case 'P1':
      return 'txids of the last page';
    case 'S1':
      return 'secret of the hashes of scripts';
    case 'T1':
      return 'tip';
    case 'd5':
      return `undo record of height ${key.readUInt32BE(1)}`;
    case 'l5':
      return `part ${key.readUInt32BE(1)} of the filter of scripts with rows of their own`;
    case 'n5':
      return `transactions of the blocks from height ${key.readUInt32BE(1)} to ${key.readUInt32BE(1) + GROUP_BLOCKS - 1}`;
    case 's11':
      return `first rows of the script with the hash ${key.toString('hex', 1, 11)}`;
    case 's17':
      return (
        `row of transaction ${key.readUInt16BE(15)} of the block at height ${key.readUInt32BE(11)}, ` +
        `of the script with the hash ${key.toString('hex', 1, 11)}`
      );
    default:
      return `unknown record ${key.toString('hex')}`;
  }
}

/** Letter and length. */
const nameOf = (key: Buffer): string => `${String.fromCharCode(key[0] ?? 0)}${key.length}`;
