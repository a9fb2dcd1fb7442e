// Scripts have hashes of 10 bytes in the index, and outpoints hints of 2, both made with a secret of the index's own: nobody who does not
// know it can make two scripts whose hashes are the same, or outpoints with the same hint.
//
// A hash is SHA-256 of the secret and the script's SHA-256, by which everybody asks, cut off. Of 1.5 billion scripts two have the same hash
// in one of a million indexes. A hint is SHA-256 of the secret and the outpoint, cut off: it says which transactions are worth a look.

import { hash } from 'node:crypto';
import { SECRET_LENGTH, secretIn } from '../../index/records/txid-hash';
import type { Records } from '../../index/records/layout';

export const SCRIPT_HASH_LENGTH = 10;

const SHA256_LENGTH = 32;
/** Txid and index. */
const OUTPOINT_LENGTH = 36;

/** Makes the hashes and hints of an index. */
export class ScriptHasher {
  /** Secret and a script's SHA-256, in memory of their own. */
  readonly #script = Buffer.alloc(SECRET_LENGTH + SHA256_LENGTH);
  /** Secret and outpoint, likewise. */
  readonly #outpoint = Buffer.alloc(SECRET_LENGTH + OUTPOINT_LENGTH);

  /** `secret`: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#script.set(secret);
    this.#outpoint.set(secret);
  }

  /** That of a store. @throws DamagedIndexError when it has no secret. */
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
    if (typeof scriptHash === 'string') this.#script.write(scriptHash, SECRET_LENGTH, SHA256_LENGTH, 'latin1');
    else this.#script.set(scriptHash, SECRET_LENGTH);
    // node:crypto makes text three times as fast as buffers.
    bytes.write(hash('sha256', this.#script, 'binary'), at, SCRIPT_HASH_LENGTH, 'latin1');
  }

  /** The hint of an outpoint, 16 bits. `txid`: in wire order. */
  hint(txid: Uint8Array, index: number): number {
    this.#outpoint.set(txid, SECRET_LENGTH);
    this.#outpoint.writeUInt32LE(index, SECRET_LENGTH + SHA256_LENGTH);
    return this.#hint();
  }

  /** The hint of the outpoint that stands in `bytes` as in a transaction. */
  hintAt(bytes: Buffer, at: number): number {
    bytes.copy(this.#outpoint, SECRET_LENGTH, at, at + OUTPOINT_LENGTH);
    return this.#hint();
  }

  #hint(): number {
    const text = hash('sha256', this.#outpoint, 'binary');
    return (text.charCodeAt(0) << 8) | text.charCodeAt(1);
  }
}
