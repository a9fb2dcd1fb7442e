// Keys, trees and signatures of taproot (BIP340, BIP341), as wallets make them.

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { tapBranch, tapLeaf, tapTweak } from '../../../lib/taproot/tagged-hash';
import { serializedLength } from '../../../lib/taproot/spend';

/** The part of tiny-secp256k1 that makes keys and signatures. The package declares its types for modules of the other kind only. */
interface Signing {
  xOnlyPointFromScalar(secret: Uint8Array): Uint8Array;
  pointFromScalar(secret: Uint8Array, compressed: true): Uint8Array | null;
  privateNegate(secret: Uint8Array): Uint8Array;
  privateAdd(secret: Uint8Array, tweak: Uint8Array): Uint8Array | null;
  signSchnorr(hash: Uint8Array, secret: Uint8Array, entropy: Uint8Array): Uint8Array;
}

const curve = createRequire(__filename)('tiny-secp256k1') as Signing;

/** The leaf version of tapscript. */
const TAPSCRIPT = 0xc0;

export interface TaprootLeaf {
  readonly script: Buffer;
  /** Tapscript unless given. */
  readonly version?: number;
}

export type TaprootTree = TaprootLeaf | readonly [TaprootTree, TaprootTree];

interface PlacedLeaf {
  readonly script: Buffer;
  readonly version: number;
  readonly hash: Buffer;
  /** The hashes beside the way from the leaf to the root. */
  readonly path: readonly Buffer[];
}

const isBranch = (tree: TaprootTree): tree is readonly [TaprootTree, TaprootTree] => Array.isArray(tree);

function place(tree: TaprootTree): { readonly hash: Buffer; readonly leaves: readonly PlacedLeaf[] } {
  if (!isBranch(tree)) {
    const { script, version = TAPSCRIPT } = tree;
    const hash = tapLeaf(Buffer.of(version), serializedLength(script), script);
    return { hash, leaves: [{ script, version, hash, path: [] }] };
  }
  const [left, right] = [place(tree[0]), place(tree[1])];
  const hash = tapBranch(...[left.hash, right.hash].toSorted((a, b) => a.compare(b)));
  const below = (branch: typeof left, other: typeof left): PlacedLeaf[] =>
    branch.leaves.map((leaf) => ({ ...leaf, path: [...leaf.path, other.hash] }));
  return { hash, leaves: [...below(left, right), ...below(right, left)] };
}

/** A private key with its x-only public key. */
export class TaprootKey {
  readonly #secret: Uint8Array;
  readonly publicKey: Buffer;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
    this.publicKey = Buffer.from(curve.xOnlyPointFromScalar(secret));
  }

  static of(seed: string): TaprootKey {
    return new TaprootKey(createHash('sha256').update(seed).digest());
  }

  /** A signature of BIP340: 64 bytes. */
  sign(hash: Buffer): Buffer {
    return Buffer.from(curve.signSchnorr(hash, this.#secret, Buffer.alloc(32)));
  }

  /** The key plus a multiple of the generator. */
  tweaked(tweak: Buffer): { readonly key: TaprootKey; readonly isOdd: boolean } {
    const hasOddY = curve.pointFromScalar(this.#secret, true)?.[0] === 3;
    const even = hasOddY ? curve.privateNegate(this.#secret) : this.#secret;
    const secret = curve.privateAdd(even, tweak);
    if (secret === null) throw new Error('expected a tweak that makes a key');
    return { key: new TaprootKey(secret), isOdd: curve.pointFromScalar(secret, true)?.[0] === 3 };
  }
}

/** An output that a key and the leaves of a tree can spend. */
export class TaprootOutput {
  readonly script: Buffer;
  /** The key of the key path. */
  readonly key: TaprootKey;
  readonly #internal: TaprootKey;
  readonly #isOdd: boolean;
  readonly #leaves: readonly PlacedLeaf[];

  constructor(internal: TaprootKey, tree?: TaprootTree) {
    const placed = tree && place(tree);
    const { key, isOdd } = internal.tweaked(tapTweak(internal.publicKey, ...(placed === undefined ? [] : [placed.hash])));
    this.#internal = internal;
    this.key = key;
    this.#isOdd = isOdd;
    this.#leaves = placed?.leaves ?? [];
    this.script = Buffer.concat([Buffer.of(0x51, 32), key.publicKey]);
  }

  /** What the witness has of a leaf, by its number from the left, and its hash. */
  leaf(number: number): { readonly script: Buffer; readonly control: Buffer; readonly hash: Buffer } {
    const leaf = this.#leaves[number];
    if (leaf === undefined) throw new RangeError(`expected the number of a leaf, got ${number}`);
    const first = Buffer.of(leaf.version | (this.#isOdd ? 1 : 0));
    return { script: leaf.script, control: Buffer.concat([first, this.#internal.publicKey, ...leaf.path]), hash: leaf.hash };
  }
}
