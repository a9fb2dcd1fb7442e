// The control block: which leaf of the output's tree a script is (BIP341).

import { HASH_LENGTH } from '../bitcoin/hash';
import { serializedLength } from './spend';
import { tapBranch, tapLeaf, tapTweak } from './tagged-hash';
import type { Curve } from './curve';

/** The leaf version of tapscript. */
export const TAPSCRIPT = 0xc0;

const LEAF_VERSION_MASK = 0xfe;
const KEY_END = 33;
/** 128 levels. */
const LONGEST = KEY_END + 128 * HASH_LENGTH;

/** A control block that has one of the valid lengths. */
export class ControlBlock {
  private constructor(readonly bytes: Buffer) {}

  /** Undefined for another length. */
  static of(bytes: Buffer): ControlBlock | undefined {
    const { length } = bytes;
    return length >= KEY_END && length <= LONGEST && (length - KEY_END) % HASH_LENGTH === 0 ? new ControlBlock(bytes) : undefined;
  }

  /** The first byte without its lowest bit, which is the parity of the output key (BIP341). */
  get leafVersion(): number {
    return (this.bytes[0] as number) & LEAF_VERSION_MASK; // it has a length
  }

  /** The hash (BIP341, TapLeaf) of a script as a leaf of this version, 32 bytes. */
  leafHash(script: Buffer): Buffer {
    return tapLeaf(Buffer.of(this.leafVersion), serializedLength(script), script);
  }

  /** Whether the output key commits to the leaf. */
  commitsTo(leafHash: Buffer, outputKey: Buffer, curve: Curve): boolean {
    const { bytes } = this;
    let root = leafHash;
    for (let at = KEY_END; at < bytes.length; at += HASH_LENGTH) {
      const other = bytes.subarray(at, at + HASH_LENGTH);
      root = root.compare(other) < 0 ? tapBranch(root, other) : tapBranch(other, root);
    }
    const key = bytes.subarray(1, KEY_END);
    const isOdd = ((bytes[0] as number) & 1) === 1; // it has a length
    return curve.isTweaked(outputKey, isOdd, key, tapTweak(key, root));
  }
}
