// How the coin cache holds the coins of a transaction: as 32-bit words, so that hashes are
// compared word by word and the entries of a block move with one copy. An entry corresponds to
// one record of coins (coin-record.ts), at most 32 outputs:
//
//   words 0 to 7   txid
//   word 8         height
//   word 9         group * 2^16 + index in the block
//   word 10        which outputs are unspent, a bit for each
//   word 11        length of the coins in bytes * 8 + flags
//   from word 12   the coins, as in a record, padded to a whole word
//
// Numbers and bytes are in the machine's order: entries never leave the process.

export const HEIGHT = 8;
export const POSITION = 9;
export const UNSPENT = 10;
export const STATE = 11;
export const HEAD_WORDS = 12;
export const HEAD_BYTES = HEAD_WORDS * 4;

/** A flag: the store has a record of the entry. */
export const STORED = 1;
/** A flag: outputs were spent since the entry was made or last written. */
export const CHANGED = 2;

/** Words of an outpoint: txid and index. */
export const OUTPOINT_WORDS = 9;

/** Of the word at STATE: the length of the coins in bytes. */
export function coinBytes(state: number): number {
  return state >>> 3;
}

/** Of the word at STATE: the length of the entry in words. */
export function entryWords(state: number): number {
  return HEAD_WORDS + ((coinBytes(state) + 3) >> 2);
}

/** The word at POSITION. */
export function packPosition(index: number, group: number): number {
  return (group << 16) | index;
}

/** Of the word at POSITION: the index in the block. */
export function indexOf(position: number): number {
  return position & 0xffff;
}

/** Of the word at POSITION: the group of outputs. */
export function groupOf(position: number): number {
  return position >>> 16;
}
