// The index stores transactions under a hash of their txid, 12 bytes long and made with a secret
// that differs from index to index. That saves 20 bytes for each transaction of the chain, and
// nobody who does not know the secret can make two txids with the same hash.
//
//   'S'    secret 32
//
// The hash is SHA-256 of secret and txid, truncated. Two txids have the same one with a probability
// of 2^-96; among the 1.3 billion of the main network that happens in one index of 10^11. Even with
// the secret, 2^48 txids must be tried for any two with the same hash, and 2^96 for a given hash.

import { randomBytes } from 'node:crypto';
import { writeSha256 } from '../../bitcoin/hash';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { damaged, putRecord, recordOf, type Records } from './layout';
import type { StorePut } from '../../store/store';

export const SECRET_KEY = Buffer.from('S');
export const TXID_HASH_LENGTH = 12;

export const SECRET_LENGTH = 32;

/** The write of a new, random secret. */
export function newSecret(): StorePut {
  return putRecord(SECRET_KEY, randomBytes(SECRET_LENGTH));
}

/** The write of another store's secret, for an index that must have the same hashes. @throws DamagedIndexError when it has none. */
export function sameSecret(store: Records): StorePut {
  return putRecord(SECRET_KEY, secretIn(store));
}

/** The secret that a store has. @throws DamagedIndexError when it has none. */
export function secretIn(store: Records): Buffer {
  const value = store.get(SECRET_KEY);
  const secret = value && recordOf(SECRET_KEY, value);
  if (secret?.length !== SECRET_LENGTH) throw damaged(SECRET_KEY, `a secret of ${SECRET_LENGTH} bytes`, `${secret?.length ?? 'none'}`);
  return secret;
}

/** Makes the hashes of an index. */
export class TxidHasher {
  /** A copy of the secret, then the txid to be hashed. */
  readonly #message = Buffer.alloc(SECRET_LENGTH + TXID_LENGTH);

  /** `secret`: 32 bytes. */
  constructor(secret: Uint8Array) {
    this.#message.set(secret);
  }

  /** The hasher of a store. @throws DamagedIndexError when it has no secret. */
  static of(store: Records): TxidHasher {
    return new TxidHasher(secretIn(store));
  }

  /** For a hasher in another thread. */
  get secret(): Uint8Array {
    return Uint8Array.from(this.#message.subarray(0, SECRET_LENGTH));
  }

  /** The hash of a txid, 32 bytes in wire order. */
  hash(txid: Uint8Array): Buffer {
    const bytes = Buffer.allocUnsafe(TXID_HASH_LENGTH);
    this.writeHash(txid, bytes, 0);
    return bytes;
  }

  /** Writes the hash of a txid to `bytes`. */
  writeHash(txid: Uint8Array, bytes: Buffer, at: number): void {
    this.#message.set(txid, SECRET_LENGTH);
    writeSha256(this.#message, bytes, at, TXID_HASH_LENGTH);
  }
}
