// A reply that interfaces over HTTP give for a success.

import type { HeaderRecord } from '../../index/types';

export type Format = 'bin' | 'hex' | 'json';

export const CONTENT_TYPES = { bin: 'application/octet-stream', hex: 'text/plain', json: 'application/json' } as const;

/** A successful reply. */
export interface Reply {
  readonly contentType: (typeof CONTENT_TYPES)[Format];
  readonly body: Buffer;
  /** True for a reply that never changes, so that anybody may cache it. */
  readonly isImmutable?: boolean | undefined;
  /** The tip of the state for which the reply holds; undefined when the reply depends on more than the index. */
  readonly tip?: HeaderRecord | undefined;
  /** To be called once the operating system has the body, or the client has gone. */
  readonly release?: (() => void) | undefined;
}
