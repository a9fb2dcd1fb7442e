// What a record of the index is about, for people. Knows the same letters as layout.ts.

import { toDisplayHex } from '../bitcoin/hash';
import { GROUP_SIZE } from './coin-record';

/** `place of transaction <txid>`, `header at height 7` and the like; the key in hex where it is none of ours. */
export function describeKey(key: Buffer): string {
  const hash = (): string => toDisplayHex(key.subarray(1, 33));
  const place = (): string => `${key.readUInt16BE(5)} of the block at height ${key.readUInt32BE(1)}`;
  switch (`${String.fromCharCode(key[0] ?? 0)}${key.length}`) {
    case '\x001': return 'layout version';
    case 'G1': return 'hash of the genesis block';
    case 'B1': return 'base';
    case 'T1': return 'tip';
    case 'b33': return `height of block ${hash()}`;
    case 'c37': return `coin of the base ${hash()}-${key.readUInt32BE(33)}`;
    case 'h5': return `header at height ${key.readUInt32BE(1)}`;
    case 'l5': return `lengths of the transactions at height ${key.readUInt32BE(1)}`;
    case 'o7': return `coins of transaction ${place()}`;
    case 'o9': return `coins of transaction ${place()}, outputs from ${key.readUInt16BE(7) * GROUP_SIZE}`;
    case 's5': return `coins of the base that the block at height ${key.readUInt32BE(1)} spent`;
    case 'r5': return `undo record of height ${key.readUInt32BE(1)}`;
    case 't33': return `place of transaction ${hash()}`;
    default: return `unknown record ${key.toString('hex')}`;
  }
}
