// The hash of a txid in layout 3: for each byte of the txid 96 bits of a table, all of them combined
// by exclusive or; the table is SHAKE256 of the secret, 16 bytes for each value of each byte, of
// which the first 12 are used.

import { createHash, randomBytes } from 'node:crypto';
import { keyOf, put, recordIn } from '../records';
import type { Store } from '../../lib/store/store';

const HASH_LENGTH = 12;
const ENTRY_LENGTH = 16;
const SECRET_LENGTH = 32;

/** The store's secret: the one of an interrupted migration, or a new one. */
export async function makeSecret(store: Store): Promise<Buffer> {
  const key = keyOf('S');
  const value = store.get(key);
  if (value !== undefined) return recordIn(key, value);
  const secret = randomBytes(SECRET_LENGTH);
  await store.batch([put(key, secret)], { durable: true });
  return secret;
}

export class Hasher {
  readonly #table: Buffer;

  constructor(secret: Buffer) {
    this.#table = createHash('shake256', { outputLength: 32 * 256 * ENTRY_LENGTH }).update(secret).digest();
  }

  hash(txid: Buffer): Buffer {
    const hash = Buffer.alloc(HASH_LENGTH);
    for (let i = 0; i < txid.length; i++) {
      const entry = (i * 256 + (txid[i] as number)) * ENTRY_LENGTH; // within the txid
      for (let at = 0; at < HASH_LENGTH; at++) hash[at] = (hash[at] as number) ^ (this.#table[entry + at] as number); // within hash and table
    }
    return hash;
  }
}
