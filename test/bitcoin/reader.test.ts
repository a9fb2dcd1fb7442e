import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { ByteReader, LONGEST_COMPACT_SIZE, MalformedBytesError, MAX_COMPACT_SIZE, writeCompactSize } from '../../lib/bitcoin/reader';

const reader = (hex: string): ByteReader => new ByteReader(Buffer.from(hex, 'hex'));

const compactSize = (size: number): Buffer => {
  const bytes = Buffer.alloc(LONGEST_COMPACT_SIZE);
  return bytes.subarray(0, writeCompactSize(bytes, size, 0));
};

/** Integers of the wire format as bytes. */
const ENCODINGS = {
  u8: (value: number): Buffer => Buffer.from([value]),
  u32: (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer),
  u64: (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer),
  compactSize
};

/** One field of the wire format, with a value for it. */
const field = fc.oneof(
  fc.record({ type: fc.constant('u8' as const), value: fc.nat(0xff) }),
  fc.record({ type: fc.constant('u32' as const), value: fc.nat(0xffff_ffff) }),
  fc.record({ type: fc.constant('u64' as const), value: fc.maxSafeNat() }),
  fc.record({ type: fc.constant('compactSize' as const), value: fc.nat(MAX_COMPACT_SIZE) })
);

describe('ByteReader', () => {
  it('reads back every sequence of fields, each with its own length', () => {
    fc.assert(
      fc.property(fc.array(field), fc.uint8Array({ maxLength: 600 }), (fields, tail) => {
        const bytes = Buffer.concat([...fields.map(({ type, value }) => ENCODINGS[type](value)), tail]);
        const reader = new ByteReader(bytes);
        expect(fields.map(({ type }) => reader[type]())).to.deep.equal(fields.map(({ value }) => value));
        expect([reader.remaining, reader.offset]).to.deep.equal([tail.length, bytes.length - tail.length]);
        expect(reader.bytes(tail.length).equals(tail)).to.equal(true);
        reader.requireEnd('fields');
      })
    );
  });

  it('says that more bytes follow', () => {
    expect(() => new ByteReader(Buffer.alloc(5), 2).requireEnd('field')).to.throw(
      MalformedBytesError,
      'expected the end of the field at byte 2, got 3 more bytes'
    );
  });

  it('hands out views, not copies', () => {
    const bytes = Buffer.from('0102030405', 'hex');
    const view = new ByteReader(bytes, 1).bytes(3);
    bytes[2] = 9;
    expect(view.toString('hex')).to.equal('020904');
  });

  it('says what it expected, where, and what it found', () => {
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

describe('writeCompactSize', () => {
  it('takes the shortest form', () => {
    const text = [0, 0xfc, 0xfd, 0xffff, 0x10000, MAX_COMPACT_SIZE].map((size) => compactSize(size).toString('hex'));
    expect(text).to.deep.equal(['00', 'fc', 'fdfd00', 'fdffff', 'fe00000100', 'fe00000002']);
  });
});
