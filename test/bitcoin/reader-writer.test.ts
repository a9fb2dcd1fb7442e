import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ByteReader, MalformedBytesError, MAX_COMPACT_SIZE } from '../../lib/bitcoin/reader';
import { ByteWriter } from '../../lib/bitcoin/writer';

const reader = (hex: string): ByteReader => new ByteReader(Buffer.from(hex, 'hex'));

/** One field of the wire format, with a value for it. */
const field = fc.oneof(
  fc.record({ type: fc.constant('u8' as const), value: fc.nat(0xff) }),
  fc.record({ type: fc.constant('u16' as const), value: fc.nat(0xffff) }),
  fc.record({ type: fc.constant('u32' as const), value: fc.nat(0xffff_ffff) }),
  fc.record({ type: fc.constant('i32' as const), value: fc.integer() }),
  fc.record({ type: fc.constant('u64' as const), value: fc.maxSafeNat() }),
  fc.record({ type: fc.constant('compactSize' as const), value: fc.nat(MAX_COMPACT_SIZE) })
);

describe('ByteReader and ByteWriter', () => {
  it('give back every sequence of fields, and each its own length', () => {
    fc.assert(fc.property(fc.array(field), fc.uint8Array({ maxLength: 600 }), (fields, tail) => {
      const writer = new ByteWriter(1);
      for (const { type, value } of fields)
        writer[type](value);
      writer.varBytes(Buffer.from(tail));
      const back = new ByteReader(writer.toBuffer());
      expect(fields.map(({ type }) => back[type]())).to.deep.equal(fields.map(({ value }) => value));
      expect(back.varBytes().equals(tail)).to.equal(true);
      expect([back.remaining, back.offset]).to.deep.equal([0, writer.length]);
    }));
  });

  it('write integers little endian and compact sizes in their shortest form', () => {
    const writer = new ByteWriter().u16(0x0102).u32(0x01020304).i32(-2).u64(0x1f_0203_0405_0607);
    for (const size of [0xfc, 0xfd, 0xffff, 0x10000])
      writer.compactSize(size);
    expect(writer.toBuffer().toString('hex')).to.equal('020104030201feffffff0706050403021f00' + 'fcfdfd00fdfffffe00000100');
  });
});

describe('ByteReader', () => {
  it('hands out views, not copies', () => {
    const bytes = Buffer.from('0102030405', 'hex');
    const view = new ByteReader(bytes, 1).bytes(3);
    bytes[2] = 9;
    expect(view.toString('hex')).to.equal('020904');
  });

  it('says what it expected, where, and what came', () => {
    expect(() => reader('0102').u32()).to.throw(MalformedBytesError, 'expected 4 more bytes at byte 0, got 2');
    const past = reader('01020304');
    past.skip(3);
    expect(() => past.bytes(2)).to.throw(MalformedBytesError, 'expected 2 more bytes at byte 3, got 1');
    expect(() => new ByteReader(Buffer.alloc(2), 5).u8()).to.throw(MalformedBytesError, 'got 0');
  });

  it('refuses amounts above 2^53 - 1', () => {
    expect(reader('ffffffffffff1f00').u64()).to.equal(Number.MAX_SAFE_INTEGER);
    expect(() => reader('0000000000002000').u64()).to.throw(MalformedBytesError, 'got 9007199254740992');
    expect(() => reader('ffffffffffffffff').u64()).to.throw(MalformedBytesError, 'got 18446744073709551615');
  });

  it('refuses compact sizes in a longer form than needed, as the reference does', () => {
    for (const hex of ['fdfc00', 'fe10000000', 'feffff0000', 'ff0100000000000000', 'ffffffffff00000000'])
      expect(() => reader(hex).compactSize(), hex).to.throw(MalformedBytesError, 'shortest form');
    expect(reader('fdfd00').compactSize()).to.equal(0xfd);
    expect(reader('fe00000100').compactSize()).to.equal(0x10000);
  });

  it('refuses compact sizes above the limit of the reference', () => {
    expect(reader('fe00000002').compactSize()).to.equal(MAX_COMPACT_SIZE);
    expect(() => reader('fe01000002').compactSize()).to.throw(MalformedBytesError, 'at most 33554432');
    expect(() => reader('ff0000000001000000').compactSize()).to.throw(MalformedBytesError, 'at most 33554432');
  });
});
