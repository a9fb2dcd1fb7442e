// What a record of the index is about, for people. Knows the same letters as layout.ts. A
// transaction is named by its position: the index has only a hash of its txid.

import { toDisplayHex } from '../../bitcoin/hash';
import { GROUP_SIZE } from './coin-record';
import { GROUP_TRANSACTIONS } from './lengths';

/** `coins of transaction 3 of the block at height 7`, `header at height 7` and the like; the key in hex if the index has no such key. */
export function describeRecord(key: Buffer, value?: Buffer): string {
  const at = (bytes?: Buffer): string =>
    bytes === undefined || bytes.length < 6 ? 'unknown' : `${bytes.readUInt16BE(4)} of the block at height ${bytes.readUInt32BE(0)}`;
  switch (`${String.fromCharCode(key[0] ?? 0)}${key.length}`) {
    case '\x001':
      return 'layout version';
    case 'G1':
      return 'hash of the genesis block';
    case 'B1':
      return 'base';
    case 'T1':
      return 'tip';
    case 'b33':
      return `height of block ${toDisplayHex(key.subarray(1))}`;
    case 'c37':
      return `coin of the base ${toDisplayHex(key.subarray(1, 33))}-${key.readUInt32BE(33)}`;
    case 'd5':
      return `undo record of height ${key.readUInt32BE(1)}`;
    case 'e33':
      return `filter of block ${toDisplayHex(key.subarray(1))}, which was taken out`;
    case 'f5':
      return `filter of the block at height ${key.readUInt32BE(1)}`;
    case 'F1':
      return 'how far filters are';
    case 'g5':
      return `hashes of the filter of the block at height ${key.readUInt32BE(1)}`;
    case 'h5':
      return `header at height ${key.readUInt32BE(1)}`;
    case 'i33':
      return `hash over what block ${toDisplayHex(key.subarray(1))} spends`;
    case 'l6':
      return `lengths of the transactions at height ${key.readUInt32BE(1)}${key[5] === 0 ? '' : `, from ${key.readUInt8(5) * GROUP_TRANSACTIONS}`}`;
    case 'o7':
      return `coins of transaction ${at(key.subarray(1))}`;
    case 'o9':
      return `coins of transaction ${at(key.subarray(1))}, outputs from ${key.readUInt16BE(7) * GROUP_SIZE}`;
    case 'p13':
      return `position of transaction ${at(value)}`;
    case 's5':
      return `coins of the base that the block at height ${key.readUInt32BE(1)} spent`;
    case 'S1':
      return 'secret of the hashes of txids';
    default:
      return `unknown record ${key.toString('hex')}`;
  }
}
