// The index has a hash of 10 bytes for a script, and a hint of 2 for an outpoint. Both are made with a secret that differs from index to
// index: nobody who does not know it can make two scripts with the same hash, or outpoints with the same hint.
//
// A hash is SHA-256 of the secret and the script's SHA-256 (by which callers ask), truncated. Among 1.5 billion scripts two share a hash in
// one index of a million. A hint is SHA-256 of the secret and the outpoint, truncated: it says which transactions are worth reading.

import { hash } from 'node:crypto';
import { HASH_LENGTH, writeSha256 } from '../../bitcoin/hash';
import { OUTPOINT_LENGTH } from '../../bitcoin/transaction';
import { SECRET_LENGTH, secretIn } from '../../index/records/txid-hash';
import type { Records } from '../../index/records/layout';

export const SCRIPT_HASH_LENGTH = 10;

/** Makes the hashes and hints of an index. */
export class ScriptHasher {
  /** A copy of the secret, then a script's SHA-256. */
  readonly #script = Buffer.alloc(SECRET_LENGTH + HASH_LENGTH);
  /** A copy of the secret, then an outpoint. */
  readonly #outpoint = Buffer.alloc(SECRET_LENGTH + OUTPOINT_LENGTH);

  /** `secret`: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#script.set(secret);
    this.#outpoint.set(secret);
  }

  /** The hasher of a store. @throws DamagedIndexError when it has no secret. */
  static of(store: Records): ScriptHasher {
    return new ScriptHasher(secretIn(store));
  }

  /** For a hasher in another thread. */
  get secret(): Uint8Array {
    return Uint8Array.from(this.#script.subarray(0, SECRET_LENGTH));
  }

  /** The hash of a script. `scriptHash`: its SHA-256, 32 bytes. */
  hash(scriptHash: Uint8Array): Buffer {
    const bytes = Buffer.allocUnsafe(SCRIPT_HASH_LENGTH);
    this.writeHash(scriptHash, bytes, 0);
    return bytes;
  }

  /** Writes the hash of a script to `bytes`. `scriptHash`: its SHA-256, 32 bytes, or as many characters (latin1). */
  writeHash(scriptHash: Uint8Array | string, bytes: Buffer, at: number): void {
    if (typeof scriptHash === 'string') this.#script.write(scriptHash, SECRET_LENGTH, HASH_LENGTH, 'latin1');
    else this.#script.set(scriptHash, SECRET_LENGTH);
    writeSha256(this.#script, bytes, at, SCRIPT_HASH_LENGTH);
  }

  /** The hint of an outpoint, 16 bits. `txid`: in wire order. */
  hint(txid: Uint8Array, index: number): number {
    this.#outpoint.set(txid, SECRET_LENGTH);
    this.#outpoint.writeUInt32LE(index, SECRET_LENGTH + HASH_LENGTH);
    return this.#hint();
  }

  /** The hint of the outpoint that is in `bytes` at `at`, serialized as in a transaction. */
  hintAt(bytes: Buffer, at: number): number {
    bytes.copy(this.#outpoint, SECRET_LENGTH, at, at + OUTPOINT_LENGTH);
    return this.#hint();
  }

  #hint(): number {
    const text = hash('sha256', this.#outpoint, 'binary');
    return (text.charCodeAt(0) << 8) | text.charCodeAt(1);
  }
}
