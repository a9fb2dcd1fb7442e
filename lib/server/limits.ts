// Limits of requests that options set. The plugin reads the options, under these names and Bitcoin Core's.

import type { ProfileLimits } from '../views/profile';

export interface Limits extends ProfileLimits {
  /** Outpoints in one getutxos request. */
  readonly maxOutpoints: number;
  /** Headers in one request. */
  readonly maxHeaders: number;
  /** Milliseconds without a byte from or to a client before it is cut off. */
  readonly timeoutMs: number;
  /** Bytes a second at which clients have to read replies, on average over `timeoutMs`. */
  readonly readRate: number;
  /** Bytes of a request body. */
  readonly maxBodyBytes: number;
}

/**
 * Bitcoin Core's limits, except for the body and the rate of reading, which it does not bound: Bitcoin Core takes bodies of 32 MiB, while 15
 * outpoints are 552 bytes (1,104 as hex). 1 MiB leaves room for higher limits and keeps hostile bodies small.
 */
export const DEFAULT_LIMITS = {
  maxOutpoints: 15,
  maxHeaders: 2_000,
  timeoutMs: 30_000,
  readRate: 5_000,
  maxBodyBytes: 1_024 * 1_024
} as const satisfies Omit<Limits, keyof ProfileLimits>;

/** Bytes of memory behind replies that clients have yet to read: some 25 of the largest blocks as JSON. */
export const MOST_BYTES_IN_FLIGHT = 256 * 1_024 * 1_024;

/** Requests that wait for a state which this process has not come to, at a time. */
export const MOST_WAITING_READS = 1_000;

/** Milliseconds that such a request waits. */
export const READ_PATIENCE_MS = 2_000;

/** Milliseconds that clients get to read their replies once the node stops. */
export const CLOSING_MS = 1_500;
