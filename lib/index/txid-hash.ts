// A transaction has a hash of 12 bytes of its txid in the index, made with a secret of the index's
// own: 20 bytes less for each transaction of the chain, and nobody who does not know the
// secret can make two txids whose hashes are the same.
//
// Tabulation hashing: for each byte of the txid a word of 96 random bits, all of them combined
// by exclusive or. The hashes of two different txids are then the same once in 2^96 times,
// whatever the txids are; among the 1.3 billion of the main network, once in 10^11 indexes.

import { createHash, randomBytes } from 'node:crypto';
import { damaged, putRecord, recordOf, SECRET_KEY, TXID_HASH_LENGTH } from './layout';
import type { StorePut, StoreSnapshot } from '../store/store';

const SECRET_LENGTH = 32;

const TXID_LENGTH = 32;
/** Words for each value of each byte, one of them of no use: so that they lie side by side in the processor's cache. */
const WORDS = 4;
const TABLE_WORDS = TXID_LENGTH * 256 * WORDS;

/** The write of a secret that nobody else has. */
export function newSecret(): StorePut {
  return putRecord(SECRET_KEY, randomBytes(SECRET_LENGTH));
}

/** The write of the secret that a store has, for an index that is to have the same hashes. @throws DamagedIndexError when it has none. */
export function sameSecret(store: Pick<StoreSnapshot, 'get'>): StorePut {
  return putRecord(SECRET_KEY, secretIn(store));
}

function secretIn(store: Pick<StoreSnapshot, 'get'>): Buffer {
  const value = store.get(SECRET_KEY);
  const secret = value && recordOf(SECRET_KEY, value);
  if (secret?.length !== SECRET_LENGTH) throw damaged(SECRET_KEY, `a secret of ${SECRET_LENGTH} bytes`, `${secret?.length ?? 'none'}`);
  return secret;
}

/** Makes the hashes of an index. */
export class TxidHasher {
  readonly #words: Uint32Array;

  private constructor(private readonly secret: Buffer) {
    const bytes = createHash('shake256', { outputLength: TABLE_WORDS * 4 }).update(secret).digest();
    this.#words = Uint32Array.from({ length: TABLE_WORDS }, (_, i) => bytes.readUInt32BE(i * 4));
  }

  /** That of a store; `last` when it has the same secret. @throws DamagedIndexError when there is none. */
  static of(store: Pick<StoreSnapshot, 'get'>, last?: TxidHasher): TxidHasher {
    const secret = secretIn(store);
    return last?.secret.equals(secret) === true ? last : new TxidHasher(secret);
  }

  /** The hash of a txid, 32 bytes in wire order. */
  hash(txid: Buffer): Buffer {
    return this.hashAll(txid);
  }

  /** The hashes of txids, one behind the other. */
  hashAll(txids: Uint8Array): Buffer {
    const words = this.#words;
    const hashes = Buffer.allocUnsafe(txids.length / TXID_LENGTH * TXID_HASH_LENGTH);
    let at = 0;
    for (let txid = 0; txid < txids.length; txid += TXID_LENGTH) {
      let [a, b, c] = [0, 0, 0];
      for (let i = 0; i < TXID_LENGTH; i++) {
        const word = (i << 8 | (txids[txid + i] as number)) * WORDS; // whole txids
        a ^= words[word] as number; // the table has words for every byte
        b ^= words[word + 1] as number;
        c ^= words[word + 2] as number;
      }
      at = hashes.writeInt32BE(a, at);
      at = hashes.writeInt32BE(b, at);
      at = hashes.writeInt32BE(c, at);
    }
    return hashes;
  }
}
