// The tagged hashes of BIP340: SHA-256 of a message behind two copies of the tag's hash.

import { hash } from 'node:crypto';

export type TaggedHash = (...parts: readonly Buffer[]) => Buffer;

function taggedHash(tag: string): TaggedHash {
  const start = hash('sha256', tag, 'buffer');
  return (...parts) => hash('sha256', Buffer.concat([start, start, ...parts]), 'buffer');
}

export const tapLeaf = taggedHash('TapLeaf');
export const tapBranch = taggedHash('TapBranch');
export const tapTweak = taggedHash('TapTweak');
export const tapSighash = taggedHash('TapSighash');
