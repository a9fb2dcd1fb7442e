import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/index/errors';
import { putRecord, SECRET_KEY } from '../../lib/index/layout';
import { newSecret, sameSecret, TxidHasher } from '../../lib/index/txid-hash';
import type { StorePut } from '../../lib/store/store';

const txid = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));
const secretOf = (bytes: Buffer): StorePut => putRecord(SECRET_KEY, bytes);
/** A store with nothing but a secret, or with nothing. */
const storeWith = (write?: StorePut): { get: (key: Buffer) => Buffer | undefined } =>
  ({ get: (key) => write?.key.equals(key) === true ? write.value : undefined });

describe('hashes of txids', () => {
  it('combine, for each byte of a txid, twelve bytes that the secret gives to this byte at this place', () => {
    const secret = randomBytes(32);
    const hasher = TxidHasher.of(storeWith(secretOf(secret)));
    const table = createHash('shake256', { outputLength: 32 * 256 * 16 }).update(secret).digest();
    fc.assert(fc.property(txid, (id) => {
      const expected = Array.from({ length: 12 }, (_, at) => id.reduce((hash, byte, i) => hash ^ (table[(i * 256 + byte) * 16 + at] ?? 0), 0));
      expect([...hasher.hash(id)]).to.deep.equal(expected);
    }));
  });

  it('are the same alone and one behind the other', () => {
    const hasher = TxidHasher.of(storeWith(newSecret()));
    fc.assert(fc.property(fc.array(txid), (ids) => {
      expect(hasher.hashAll(Buffer.concat(ids)).equals(Buffer.concat(ids.map((id) => hasher.hash(id))))).to.equal(true);
    }));
  });

  it('differ wherever two txids differ, also of txids that were alike under another secret', () => {
    const [one, other] = [TxidHasher.of(storeWith(newSecret())), TxidHasher.of(storeWith(newSecret()))];
    fc.assert(fc.property(txid, fc.nat({ max: 31 }), fc.integer({ min: 1, max: 255 }), (id, at, flip) => {
      const changed = Buffer.from(id);
      changed[at] = (changed[at] ?? 0) ^ flip;
      expect(one.hash(id).equals(one.hash(changed))).to.equal(false);
      expect(one.hash(id).equals(other.hash(id))).to.equal(false);
    }));
  });

  it('are those of the store\'s secret, as long as it has that', () => {
    const [first, second] = [newSecret(), newSecret()];
    const hasher = TxidHasher.of(storeWith(first));
    expect(TxidHasher.of(storeWith(first), hasher)).to.equal(hasher);
    const id = randomBytes(32);
    const later = TxidHasher.of(storeWith(second), hasher);
    expect(later.hash(id).equals(hasher.hash(id))).to.equal(false);
    expect(TxidHasher.of(storeWith(sameSecret(storeWith(second)))).hash(id)).to.deep.equal(later.hash(id));
  });

  it('cannot be made without a sound secret', () => {
    for (const store of [storeWith(), storeWith(secretOf(randomBytes(31))), storeWith({ type: 'put', key: SECRET_KEY, value: randomBytes(36) })]) {
      expect(() => TxidHasher.of(store)).to.throw(DamagedIndexError);
      expect(() => sameSecret(store)).to.throw(DamagedIndexError);
    }
  });
});
