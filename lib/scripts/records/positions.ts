// Positions as single numbers, in the order of the chain: 2^16 times the height, and the index in the block. In an array they take 8 bytes
// each.

import type { Position } from '../../index/types';

const INDEXES = 0x1_0000;

/** A position as a number. `index`: below 2^16, which is not checked. */
export const packed = (height: number, index: number): number => height * INDEXES + index;

/** The height in a number that `packed` made. */
export const heightIn = (position: number): number => Math.floor(position / INDEXES);

/** The position in a number that `packed` made. */
export const unpacked = (position: number): Position => ({ height: heightIn(position), index: indexIn(position) });

/** The index in a number that `packed` made. */
export const indexIn = (position: number): number => position - heightIn(position) * INDEXES;
