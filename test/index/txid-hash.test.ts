import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { putRecord } from '../../lib/index/records/layout';
import { newSecret, sameSecret, SECRET_KEY, TxidHasher } from '../../lib/index/records/txid-hash';
import type { StorePut } from '../../lib/store/store';

const txid = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));
const secretOf = (bytes: Buffer): StorePut => putRecord(SECRET_KEY, bytes);
/** A store with nothing but a secret, or with nothing. */
const storeWith = (write?: StorePut): { get: (key: Buffer) => Buffer | undefined } => ({
  get: (key) => (write?.key.equals(key) === true ? write.value : undefined)
});

describe('hashes of txids', () => {
  it('are the first twelve bytes of SHA-256 of secret and txid', () => {
    const secret = randomBytes(32);
    const hasher = TxidHasher.of(storeWith(secretOf(secret)));
    fc.assert(
      fc.property(txid, (id) => {
        expect(hasher.hash(id)).to.deep.equal(createHash('sha256').update(secret).update(id).digest().subarray(0, 12));
      })
    );
  });

  it('do not add up: from the hashes of some txids nobody can make another txid with the same hash', () => {
    const hasher = TxidHasher.of(storeWith(newSecret()));
    const combined = (buffers: readonly Buffer[]): Buffer =>
      buffers.reduce((all, one) => Buffer.from(all.map((byte, i) => byte ^ one.readUInt8(i))));
    fc.assert(
      fc.property(
        txid,
        fc.nat({ max: 30 }),
        fc.integer({ min: 1, max: 255 }),
        fc.integer({ min: 1, max: 255 }),
        (id, at, first, second) => {
          const changed = (...flips: readonly (readonly [number, number])[]): Buffer => {
            const bytes = Buffer.from(id);
            for (const [place, flip] of flips) bytes[place] = bytes.readUInt8(place) ^ flip;
            return bytes;
          };
          // Two changes, each alone and both together: a change must not alter the same bits of the hash in both cases.
          const four = [changed(), changed([at, first]), changed([at + 1, second]), changed([at, first], [at + 1, second])];
          expect(combined(four.map((one) => hasher.hash(one))).equals(Buffer.alloc(12))).to.equal(false);
        }
      )
    );
  });

  it('differ wherever two txids differ, even if they were the same under another secret', () => {
    const [one, other] = [TxidHasher.of(storeWith(newSecret())), TxidHasher.of(storeWith(newSecret()))];
    fc.assert(
      fc.property(txid, fc.nat({ max: 31 }), fc.integer({ min: 1, max: 255 }), (id, at, flip) => {
        const changed = Buffer.from(id);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(one.hash(id).equals(one.hash(changed))).to.equal(false);
        expect(one.hash(id).equals(other.hash(id))).to.equal(false);
      })
    );
  });

  it("are made with the store's secret", () => {
    const [first, second] = [newSecret(), newSecret()];
    const hasher = TxidHasher.of(storeWith(first));
    const id = randomBytes(32);
    expect(TxidHasher.of(storeWith(first)).hash(id)).to.deep.equal(hasher.hash(id));
    expect(new TxidHasher(hasher.secret).hash(id)).to.deep.equal(hasher.hash(id));
    const later = TxidHasher.of(storeWith(second));
    expect(later.hash(id).equals(hasher.hash(id))).to.equal(false);
    expect(TxidHasher.of(storeWith(sameSecret(storeWith(second)))).hash(id)).to.deep.equal(later.hash(id));
  });

  it('cannot be made without a sound secret', () => {
    for (const store of [
      storeWith(),
      storeWith(secretOf(randomBytes(31))),
      storeWith({ type: 'put', key: SECRET_KEY, value: randomBytes(36) })
    ]) {
      expect(() => TxidHasher.of(store)).to.throw(DamagedIndexError);
      expect(() => sameSecret(store)).to.throw(DamagedIndexError);
    }
  });
});
