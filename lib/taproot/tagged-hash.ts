// The tagged hashes of BIP340: SHA-256 of a message behind two copies of the tag's hash.

import { sha256 } from '../bitcoin/hash';

/** The hash of the parts one after the other, 32 bytes. */
export type TaggedHash = (...parts: readonly Buffer[]) => Buffer;

function taggedHash(tag: string): TaggedHash {
  const start = sha256(Buffer.from(tag));
  return (...parts) => sha256(Buffer.concat([start, start, ...parts]));
}

export const tapLeaf = taggedHash('TapLeaf');
export const tapBranch = taggedHash('TapBranch');
export const tapTweak = taggedHash('TapTweak');
export const tapSighash = taggedHash('TapSighash');
