// How far the filling of an index is (lib/scripts/fill). Integers are big endian, sizes in bytes.
//
//   'F'    step 1 (1: rows are written to files; 2: files are sorted into the store), number of blocks whose rows are in the files 4, hash
//          of the last one 32, number of files that are in the store 4, and for each file its length 6

import { damaged, putRecord, recordOf, type Records } from '../../index/records/layout';
import { FILLING_KEY } from './layout';
import type { BlockPoint } from '../../node/types/chain';
import type { StorePut } from '../../store/store';

export interface FillingProgress {
  readonly step: 'partitioning' | 'sorting';
  /** The last block whose rows, and those of all blocks below, are in the files; undefined: there is none. */
  readonly at: BlockPoint | undefined;
  /** How many files, from the first one up, are sorted into the store. These files may be gone. */
  readonly loaded: number;
  /** For each file, its length on the disk, in bytes; bytes after that do not count. */
  readonly lengths: readonly number[];
}

const STEPS = ['partitioning', 'sorting'] as const;

const LENGTHS_AT = 1 + 4 + 32 + 4;
const LENGTH_BYTES = 6;

/** The write that says how far the filling is. */
export function putFilling({ step, at, loaded, lengths }: FillingProgress): StorePut {
  const record = Buffer.alloc(LENGTHS_AT + lengths.length * LENGTH_BYTES);
  record.writeUInt8(STEPS.indexOf(step) + 1);
  if (at !== undefined) {
    record.writeUInt32BE(at.height + 1, 1);
    at.hash.copy(record, 5);
  }
  record.writeUInt32BE(loaded, 37);
  lengths.forEach((length, file) => record.writeUIntBE(length, LENGTHS_AT + file * LENGTH_BYTES, LENGTH_BYTES));
  return putRecord(FILLING_KEY, record);
}

/** undefined: the index is not being filled. @throws DamagedIndexError */
export function findFilling(store: Records): FillingProgress | undefined {
  const value = store.get(FILLING_KEY);
  if (value === undefined) return undefined;
  const record = recordOf(FILLING_KEY, value);
  const files = (record.length - LENGTHS_AT) / LENGTH_BYTES;
  const step = STEPS[(record[0] ?? 0) - 1];
  if (step === undefined || !Number.isInteger(files) || files < 1)
    throw damaged(FILLING_KEY, 'a step and lengths of files', record.toString('hex', 0, LENGTHS_AT));
  const blocks = record.readUInt32BE(1);
  return {
    step,
    at: blocks === 0 ? undefined : { height: blocks - 1, hash: record.subarray(5, 37) },
    loaded: record.readUInt32BE(37),
    lengths: Array.from({ length: files }, (_, file) => record.readUIntBE(LENGTHS_AT + file * LENGTH_BYTES, LENGTH_BYTES))
  };
}
