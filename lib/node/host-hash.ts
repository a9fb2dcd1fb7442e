// The one difference between bcoin 1.x and 2.x that shows everywhere: how a hash is held.

import type { HostHash } from './host';

export interface HostHashes {
  /** Our Buffer as the node's own kind of hash. */
  toHost(hash: Buffer): HostHash;
}

/** The conversion for a node whose hashes look like `sample`. */
export function hostHashesLike(sample: HostHash): HostHashes {
  return typeof sample === 'string'
    ? { toHost: (hash) => hash.toString('hex') }
    : { toHost: (hash) => hash };
}

/** The node's hash as a Buffer in wire order. */
export function fromHost(hash: HostHash): Buffer {
  return typeof hash === 'string' ? Buffer.from(hash, 'hex') : hash;
}

/** Whether two of the node's hashes are the same. */
export function sameHostHash(a: HostHash, b: HostHash): boolean {
  return typeof a === 'string' ? a === b : a.equals(fromHost(b));
}
