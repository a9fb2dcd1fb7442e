import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/follow/errors';
import { COIN_OVERHEAD, coinAt, coinKey, writeCoin } from '../../lib/index/records/coin-record';
import { decodeHeader, decodeTip, encodeHeader, headerAt, headerKey, heightOf, putHeight, putTip } from '../../lib/index/records/chain';
import { putRecord, recordOf, WriteBuffer, type Records } from '../../lib/index/records/layout';
import { lengthsKeys, putLengths, spanOf } from '../../lib/index/records/lengths';
import { decodePosition, encodePosition, positionKey, positionOf, positionsOfHashes, putPosition } from '../../lib/index/records/position';
import { TxidHasher } from '../../lib/index/records/txid-hash';
import { decodeUndo, encodeUndo, HASH_START_LENGTH, SpentCoinList, undoKey } from '../../lib/index/records/undo-record';
import { writeInteger } from '../../lib/index/records/numbers';
import type { StorePut } from '../../lib/store/store';

const bytes = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const someBytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const hash = bytes(32);
const txidHash = bytes(12);
const height = fc.nat({ max: 0x7fff_ffff });
const u32 = fc.nat({ max: 0xffff_ffff });
const amount = fc.nat({ max: Number.MAX_SAFE_INTEGER });

const somePosition = fc.record({ height, index: fc.nat({ max: 0xffff }) });

/** A coin as it is in a record. */
function packed(slot: number, value: number, script: Buffer): Buffer {
  const coin = Buffer.alloc(script.length + COIN_OVERHEAD);
  return coin.subarray(0, writeCoin(coin, 0, slot, value, script, 0, script.length));
}

/** A store with some records. */
const storeWith = (...records: StorePut[]): Records => ({ get: (wanted) => records.find(({ key }) => wanted.equals(key))?.value });

describe('the layout of the index', () => {
  it('reads every record as it was written', () => {
    const header = fc.record({
      height,
      hash,
      header: bytes(80),
      chainwork: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
      medianTime: u32,
      transactionCount: u32,
      chainTransactions: amount,
      chainBytes: amount
    });
    fc.assert(
      fc.property(hash, txidHash, hash, somePosition, header, (id, txid, secret, position, aHeader) => {
        const headers = storeWith(putRecord(headerKey(aHeader.height), encodeHeader(aHeader)));
        expect(headerAt(headers, aHeader.height)).to.deep.equal(aHeader);
        expect(() => headerAt(headers, aHeader.height + 1)).to.throw(DamagedIndexError, 'expected a header, got none');
        const hasher = new TxidHasher(secret);
        const put = putRecord(positionKey(hasher.hash(id)), encodePosition(position));
        expect(positionOf(storeWith(put), hasher, id)).to.deep.equal(position);
        expect(positionOf(storeWith(put), hasher, secret)).to.equal(undefined);
        expect(putPosition(new WriteBuffer(), txid, 0, position.height, position.index)).to.deep.equal(
          putRecord(positionKey(txid), encodePosition(position))
        );
        expect(heightOf(storeWith(putHeight(id, aHeader.height)), id)).to.equal(aHeader.height);
        const tip = { hash: id, height: aHeader.height };
        expect(decodeTip(putTip(tip).value)).to.deep.equal(tip);
      })
    );
  });

  it('reads every undo record as it was written', () => {
    const spent = fc.record({
      position: somePosition,
      group: fc.nat({ max: 0xffff }),
      slot: fc.nat({ max: 31 }),
      value: amount,
      script: someBytes
    });
    fc.assert(
      fc.property(
        hash,
        fc.array(txidHash),
        fc.option(somePosition, { nil: undefined }),
        fc.array(spent),
        u32,
        (id, hashes, replaced, coins, height) => {
          const list = new SpentCoinList();
          const expected = coins.map(({ position: { height: before, index }, group, slot, value, script }) => {
            const coin = packed(slot, value, script);
            const blocksBefore = Math.min(before, height);
            list.add(blocksBefore, index, group, Buffer.concat([Buffer.alloc(1), coin]), 1, 1 + coin.length);
            return { position: { height: height - blocksBefore, index }, group, coin };
          });
          const hashStarts = Buffer.concat(hashes.map((one) => one.subarray(0, HASH_START_LENGTH)));
          expect(decodeUndo(encodeUndo(id, Buffer.concat(hashes), replaced, list.bytes), height)).to.deep.equal({
            hash: id,
            hashStarts,
            replaced,
            coins: expected
          });
        }
      )
    );
  });

  it('bounds the positions of all hashes that begin with some bytes', () => {
    fc.assert(
      fc.property(txidHash, fc.integer({ min: 1, max: 12 }), txidHash, fc.nat({ max: 12 }), (id, length, other, filled) => {
        const start = Buffer.concat([id.subarray(0, Math.max(0, length - filled)), Buffer.alloc(Math.min(length, filled), 0xff)]);
        const { gte, lt } = positionsOfHashes(start);
        const key = positionKey(other);
        const within = key.compare(gte) >= 0 && key.compare(lt) < 0;
        expect(within).to.equal(other.subarray(0, length).equals(start));
        const alike = positionKey(Buffer.concat([start, other.subarray(length)]));
        expect(alike.compare(gte) >= 0 && alike.compare(lt) < 0).to.equal(true);
      })
    );
  });

  it('finds offset and length of each transaction of a block', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 60, max: 4_000_000 }), { minLength: 1, maxLength: 600 }), (lengths) => {
        const record = Buffer.alloc(lengths.length * 8);
        let end = 0;
        for (const length of lengths) end = writeInteger(record, end, length);
        let offset = lengths.length < 0xfd ? 81 : 83;
        const blockLength = lengths.reduce((sum, length) => sum + length, offset);
        const store = storeWith(...putLengths(7, record.subarray(0, end), lengths.length, blockLength));
        lengths.forEach((length, index) => {
          expect(spanOf(store, { height: 7, index })).to.deep.equal({ offset, length, blockLength });
          offset += length;
        });
        expect(() => spanOf(store, { height: 7, index: lengths.length })).to.throw(DamagedIndexError);
        expect(() => spanOf(store, { height: 8, index: 0 })).to.throw(DamagedIndexError, 'expected lengths of transactions, got none');
      }),
      // From 253 transactions on their number takes three bytes, and from 257 on there is another group.
      { examples: [252, 253, 256, 257].map((count) => [Array.from({ length: count }, () => 60)]) }
    );
  });

  it('refuses undo records that end too early or too late', () => {
    const list = new SpentCoinList();
    const coin = packed(4, 5, Buffer.from('51', 'hex'));
    list.add(1, 2, 3, coin, 0, coin.length);
    const whole = encodeUndo(Buffer.alloc(32), Buffer.alloc(12), { height: 1, index: 0 }, list.bytes);
    const endOfCoins = whole.length - list.bytes.length;
    for (let length = 0; length < whole.length; length++)
      if (length !== endOfCoins) expect(() => decodeUndo(whole.subarray(0, length), 7), `${length} bytes`).to.throw(DamagedIndexError);
    expect(() => decodeUndo(Buffer.concat([whole, Buffer.alloc(1)]), 7)).to.throw(DamagedIndexError);
    expect(() => decodeUndo(whole, 0)).to.throw(DamagedIndexError, 'expected a coin of at most 0 blocks before, got 1');
  });

  it('notices every flipped bit, and a value under another key', () => {
    const at = { height: 7, index: 0 };
    const key = coinKey(at, 0);
    const put = putRecord(key, packed(3, 50, Buffer.from('51', 'hex')));
    const { value } = put;
    expect([2, 4, 35, 2 ** 32 - 1].map((output) => coinAt(storeWith(put), at, output))).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined
    ]);
    expect(coinAt(storeWith(put), at, 3)).to.deep.equal({ height: 7, coinbase: true, value: 50, script: Buffer.from('51', 'hex') });
    for (let bit = 0; bit < value.length * 8; bit++) {
      const flipped = Buffer.from(value);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => recordOf(key, flipped), `bit ${bit}`).to.throw(DamagedIndexError, 'expected checksum');
    }
    expect(() => coinAt({ get: () => value }, at, 40)).to.throw(DamagedIndexError);
    expect(() => recordOf(key, Buffer.alloc(3))).to.throw(DamagedIndexError);
  });

  it('refuses records of another length', () => {
    const key = headerKey(1);
    const { value } = putRecord(key, Buffer.alloc(11));
    for (const decode of [decodeHeader, decodePosition]) expect(() => decode(key, value)).to.throw(DamagedIndexError, 'bytes, got 11');
    const [lengths = expect.fail('a key')] = lengthsKeys(7, 1);
    expect(() => spanOf(storeWith(putRecord(lengths, Buffer.alloc(7))), { height: 7, index: 0 })).to.throw(DamagedIndexError, '7 bytes');
    const height = putHeight(key, 1);
    expect(() => heightOf(storeWith(putRecord(height.key, Buffer.alloc(11))), key)).to.throw(DamagedIndexError, 'bytes, got 11');
  });

  it('orders heights, positions and groups by number', () => {
    fc.assert(
      fc.property(u32, u32, (a, b) => {
        for (const key of [headerKey, undoKey, (at: number) => coinKey({ height: at, index: 5 }, 0)])
          expect(Buffer.compare(key(a), key(b))).to.equal(Math.sign(a - b));
        const [low, high] = [a & 0xffff, b & 0xffff];
        expect(Buffer.compare(coinKey({ height: 1, index: low }, 3), coinKey({ height: 1, index: high }, 0))).to.equal(
          Math.sign(low - high) || 1
        );
        expect(Buffer.compare(coinKey({ height: 1, index: 1 }, low), coinKey({ height: 1, index: 1 }, high))).to.equal(
          Math.sign(low - high)
        );
      })
    );
  });
});
