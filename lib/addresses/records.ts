// Every key of the list of addresses. Integers are big endian, sizes in bytes; after each record comes its checksum,
// as in the main index (lib/index/records/layout.ts).
//
//   key            record
//   'S'            how the list was made, and how far it is: version of the layout 1, versions of base58 addresses 2, length of the
//                  prefix of bech32 addresses 1, the prefix, height of the last block 4, and hashes of blocks of its chain, 32 bytes
//                  each, from that block down in growing steps
//   'a' address    nothing

import { HASH_LENGTH } from '../bitcoin/hash';
import { damaged, putRecord, recordOf, type Records } from '../index/records/layout';
import type { AddressPrefixes } from '../bitcoin/address';
import type { KeyRange, StorePut } from '../store/store';

const LAYOUT_VERSION = 1;

const STATE_KEY = Buffer.from('S');

/** The key of the record that says how far the list is. */
export const STATE_KEYS: KeyRange = { gte: STATE_KEY, lt: Buffer.from('T') };

/** Blocks below the last one whose hashes are all kept; further down the steps double. */
const DENSE_BLOCKS = 10;

/** The last block whose outputs are in the list, and all below; and hashes of its chain, at the heights of `keptHeights`. */
export interface ListProgress {
  readonly height: number;
  readonly hashes: readonly Buffer[];
}

/** From a height down to 0, in steps that double, as in a block locator: the hashes there show about where another chain forks off. */
export function keptHeights(height: number): number[] {
  const heights: number[] = [];
  for (let at = height, step = 1; at > 0; at -= step) {
    heights.push(at);
    if (heights.length > DENSE_BLOCKS) step *= 2;
  }
  return [...heights, 0];
}

/** The write that moves the list. `hashes`: at the heights of `keptHeights`, in that order, 32 bytes each in wire order. */
export function putProgress({ height, hashes }: ListProgress, prefixes: AddressPrefixes): StorePut {
  const form = formOf(prefixes);
  const record = Buffer.alloc(form.length + 4);
  form.copy(record);
  record.writeUInt32BE(height, form.length);
  return putRecord(STATE_KEY, Buffer.concat([record, ...hashes]));
}

/** undefined: the list is empty; 'other': it has another layout, or addresses of another form. @throws DamagedIndexError */
export function findProgress(store: Records, prefixes: AddressPrefixes): ListProgress | 'other' | undefined {
  const value = store.get(STATE_KEY);
  if (value === undefined) return undefined;
  const record = recordOf(STATE_KEY, value);
  const form = formOf(prefixes);
  if (!form.equals(record.subarray(0, form.length))) return 'other';
  const start = form.length + 4;
  if (record.length < start) throw damaged(STATE_KEY, 'a height', `${record.length} bytes`);
  const height = record.readUInt32BE(form.length);
  const hashes = keptHeights(height).map((_, i) => record.subarray(start + i * HASH_LENGTH, start + (i + 1) * HASH_LENGTH));
  if (record.length !== start + hashes.length * HASH_LENGTH) throw damaged(STATE_KEY, `${hashes.length} hashes`, `${record.length} bytes`);
  return { height, hashes };
}

const NOTHING = Buffer.alloc(0);

/** The write that adds an address. */
export const putAddress = (address: string): StorePut => putRecord(Buffer.from(`a${address}`, 'latin1'), NOTHING);

/** The keys of addresses that begin with a text. */
export function addressKeys(prefix: string): KeyRange {
  const gte = Buffer.from(`a${prefix}`, 'latin1');
  return { gte, lt: Buffer.concat([gte, Buffer.from([0xff])]) };
}

/** @throws DamagedIndexError */
export function addressIn(key: Buffer, value: Buffer): string {
  recordOf(key, value, 0);
  return key.toString('latin1', 1);
}

function formOf({ pubkeyhash, scripthash, bech32 }: AddressPrefixes): Buffer {
  return Buffer.concat([Buffer.from([LAYOUT_VERSION, pubkeyhash, scripthash, bech32.length]), Buffer.from(bech32, 'latin1')]);
}
