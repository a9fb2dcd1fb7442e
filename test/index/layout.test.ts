import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { DamagedIndexError } from '../../lib/index/errors';
import {
  blockHashKey, coinKey, decodeCoin, decodeHeader, decodeHeight, decodeLocation, decodeTip, encodeCoin, encodeHeader, encodeHeight,
  encodeLocation, encodeTip, headerKey, locationKey, putRecord, recordOf, TIP_KEY, undoKey
} from '../../lib/index/layout';
import { decodeUndo, encodeUndo } from '../../lib/index/undo-record';

const bytes = (length: number): fc.Arbitrary<Buffer> => fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const someBytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const hash = bytes(32);
const height = fc.nat({ max: 0x7fff_ffff });
const u32 = fc.nat({ max: 0xffff_ffff });
const amount = fc.nat({ max: Number.MAX_SAFE_INTEGER });

/** The value under which a record is stored. */
function stored(key: Buffer, record: Buffer): Buffer {
  const write = putRecord(key, record);
  return write.type === 'put' ? write.value : expect.fail('a put');
}

describe('the layout of the index', () => {
  it('reads every record as it was written', () => {
    const coin = fc.record({ height, coinbase: fc.boolean(), value: amount, script: someBytes });
    const header = fc.record({
      height, hash, header: bytes(80), chainwork: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), medianTime: u32,
      transactionCount: u32, chainTransactions: amount, chainBytes: amount
    });
    const location = fc.record({ height, offset: u32, length: u32 });
    fc.assert(fc.property(hash, u32, coin, header, location, (id, index, aCoin, aHeader, aLocation) => {
      const keys = { coin: coinKey(id, index), header: headerKey(aHeader.height), location: locationKey(id), block: blockHashKey(id) };
      expect(decodeCoin(keys.coin, stored(keys.coin, encodeCoin(aCoin)))).to.deep.equal(aCoin);
      expect(decodeHeader(keys.header, stored(keys.header, encodeHeader(aHeader)))).to.deep.equal(aHeader);
      expect(decodeLocation(keys.location, stored(keys.location, encodeLocation(aLocation)))).to.deep.equal(aLocation);
      expect(decodeHeight(keys.block, stored(keys.block, encodeHeight(aHeader.height)))).to.equal(aHeader.height);
      const tip = { hash: id, height: aHeader.height };
      expect(decodeTip(stored(TIP_KEY, encodeTip(tip)))).to.deep.equal(tip);
    }));
  });

  it('reads every undo record as it was written', () => {
    fc.assert(fc.property(fc.record({
      hash,
      transactions: fc.array(fc.record({ txid: hash, outputs: u32 })),
      coins: fc.array(fc.record({ txid: hash, index: u32, record: someBytes })),
      locations: fc.array(fc.record({ txid: hash, record: someBytes }))
    }), (undo) => {
      expect(decodeUndo(encodeUndo(undo))).to.deep.equal(undo);
    }));
  });

  it('refuses undo records that end too early or go on', () => {
    const whole = encodeUndo({
      hash: Buffer.alloc(32),
      transactions: [{ txid: Buffer.alloc(32), outputs: 1 }],
      coins: [{ txid: Buffer.alloc(32), index: 1, record: Buffer.alloc(12) }],
      locations: [{ txid: Buffer.alloc(32), record: Buffer.alloc(12) }]
    });
    for (let length = 0; length < whole.length; length++)
      expect(() => decodeUndo(whole.subarray(0, length)), `${length} bytes`).to.throw(DamagedIndexError);
    expect(() => decodeUndo(Buffer.concat([whole, Buffer.alloc(1)]))).to.throw(DamagedIndexError);
  });

  it('notices every flipped bit, and a value under another key', () => {
    const key = coinKey(Buffer.alloc(32, 7), 3);
    const value = stored(key, encodeCoin({ height: 5, coinbase: true, value: 50, script: Buffer.from('51', 'hex') }));
    for (let bit = 0; bit < value.length * 8; bit++) {
      const flipped = Buffer.from(value);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ 1 << (bit & 7);
      expect(() => recordOf(key, flipped), `bit ${bit}`).to.throw(DamagedIndexError, 'expected checksum');
    }
    expect(() => decodeCoin(coinKey(Buffer.alloc(32, 7), 4), value)).to.throw(DamagedIndexError);
    expect(() => recordOf(key, Buffer.alloc(3))).to.throw(DamagedIndexError);
  });

  it('refuses records of another length', () => {
    const key = headerKey(1);
    for (const decode of [decodeHeader, decodeHeight, decodeLocation, decodeCoin])
      expect(() => decode(key, stored(key, Buffer.alloc(11)))).to.throw(DamagedIndexError, 'bytes, got 11');
  });

  it('orders heights and output indexes by number', () => {
    fc.assert(fc.property(u32, u32, (a, b) => {
      for (const key of [headerKey, undoKey, (index: number) => coinKey(Buffer.alloc(32), index)])
        expect(Buffer.compare(key(a), key(b))).to.equal(Math.sign(a - b));
    }));
  });
});
