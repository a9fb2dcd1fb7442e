// What a record of the index is about, for people. Knows the same letters as layout.ts.

import { toDisplayHex } from '../bitcoin/hash';

/** `coin <txid>-<index>`, `header at height 7` and the like; the key in hex where it is none of ours. */
export function describeKey(key: Buffer): string {
  const hash = (): string => toDisplayHex(key.subarray(1, 33));
  switch (`${String.fromCharCode(key[0] ?? 0)}${key.length}`) {
    case '\x001': return 'layout version';
    case 'G1': return 'hash of the genesis block';
    case 'T1': return 'tip';
    case 'b33': return `height of block ${hash()}`;
    case 'c37': return `coin ${hash()}-${key.readUInt32BE(33)}`;
    case 'h5': return `header at height ${key.readUInt32BE(1)}`;
    case 'u5': return `undo record of height ${key.readUInt32BE(1)}`;
    case 'x33': return `location of transaction ${hash()}`;
    default: return `unknown record ${key.toString('hex')}`;
  }
}
