// Fields of a serialized block header: 80 bytes, integers little endian. What a chain of headers adds up to: work, median time past.

import { proofOf } from './work';

export const HEADER_LENGTH = 80;

/** Blocks whose times make up a median time past (BIP113). */
export const MEDIAN_TIME_SPAN = 11;

/** Signed, as Bitcoin Core reads it. */
export function versionOf(header: Buffer): number {
  return header.readInt32LE(0);
}

/** 32 bytes in wire order, a view. */
export function previousHashOf(header: Buffer): Buffer {
  return header.subarray(4, 36);
}

/** 32 bytes in wire order, a view. */
export function merkleRootOf(header: Buffer): Buffer {
  return header.subarray(36, 68);
}

/** Unix seconds. */
export function timeOf(header: Buffer): number {
  return header.readUInt32LE(68);
}

/** The target in compact form (work.ts). */
export function bitsOf(header: Buffer): number {
  return header.readUInt32LE(72);
}

/** 32 bits, unsigned. */
export function nonceOf(header: Buffer): number {
  return header.readUInt32LE(76);
}

/**
 * Median of the times of a block and of the blocks before it, MEDIAN_TIME_SPAN at most. Of two times
 * in the middle it is the later one, as in Bitcoin Core. @throws RangeError for no times.
 */
export function medianTimePast(times: readonly number[]): number {
  const median = Uint32Array.from(times).sort()[times.length >> 1];
  if (median === undefined) throw new RangeError('expected the time of at least one block, got none');
  return median;
}

/** What a header and all headers below it add up to. */
export interface HeaderFold {
  /** Work of the chain up to and including the block. */
  readonly chainwork: bigint;
  /** Median time past of the block. */
  readonly medianTime: number;
  /** Times of the last blocks, MEDIAN_TIME_SPAN at most; the last one is the block's own. */
  readonly times: readonly number[];
}

/** The fold of a header. `below`: the fold of the header below it; undefined for the genesis block. */
export function nextHeader(below: Pick<HeaderFold, 'chainwork' | 'times'> | undefined, header: Buffer): HeaderFold {
  const times = [...(below?.times ?? []), timeOf(header)].slice(-MEDIAN_TIME_SPAN);
  return { chainwork: (below?.chainwork ?? 0n) + proofOf(bitsOf(header)), medianTime: medianTimePast(times), times };
}
