// A reply that interfaces over HTTP give for a success.

import type { HeaderRecord } from '../../index/types';
import type { ChangePoint } from '../../node/types/fleet';

export type Format = 'bin' | 'hex' | 'json';

export const CONTENT_TYPES = { bin: 'application/octet-stream', hex: 'text/plain', json: 'application/json' } as const;

/** What a reply was made from. */
export interface Basis {
  /** Bytes of its memory. */
  readonly byteLength: number;
  /** Whether it is still the same, so that the reply is right. @throws HttpError 503 while that cannot be known */
  isSame(): boolean;
}

/** A successful reply. */
export interface Reply {
  readonly contentType: (typeof CONTENT_TYPES)[Format];
  readonly body: Buffer;
  /** True for a reply that never changes, so that anybody may cache it. */
  readonly isImmutable?: boolean | undefined;
  /** The tip of the state for which the reply holds; undefined when the reply depends on more than the index, or on less. */
  readonly tip?: HeaderRecord | undefined;
  /** What the reply depends on, if not on the state; undefined: that is not known. */
  readonly basis?: Basis | undefined;
  /** The name of the route that made it, in a reply from the cache. */
  readonly route?: string | undefined;
  /** What shows the change that this request has made; absent: it has made none. */
  readonly change?: ChangePoint;
  /** To be called once the operating system has the body, or the client has gone. */
  readonly release?: (() => void) | undefined;
}
