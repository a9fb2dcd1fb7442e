import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { writeRustAsm } from '../../lib/bitcoin/rust-asm';
import { TextWriter } from '../../lib/bitcoin/text-writer';

const asmOf = (script: Buffer): string => {
  const writer = new TextWriter();
  writeRustAsm(writer, script);
  return writer.toString();
};

const asm = (hex: string): string => asmOf(Buffer.from(hex, 'hex'));

/** All opcodes that push no data. */
const plain = (first: number, last: number): string => asmOf(Buffer.from(Array.from({ length: last - first + 1 }, (_, i) => first + i)));

describe('writeRustAsm', () => {
  it('says how data is pushed, and what', () => {
    const pushes: [string, string][] = [
      ['00', 'OP_0'],
      ['0105', 'OP_PUSHBYTES_1 05'],
      [`4b${'ab'.repeat(75)}`, `OP_PUSHBYTES_75 ${'ab'.repeat(75)}`],
      ['4c0161', 'OP_PUSHDATA1 61'],
      ['4d02006162', 'OP_PUSHDATA2 6162'],
      ['4e03000000616263', 'OP_PUSHDATA4 616263'],
      ['4c0051', 'OP_PUSHDATA1 OP_PUSHNUM_1'],
      ['4d0000', 'OP_PUSHDATA2'],
      ['4e00000000', 'OP_PUSHDATA4']
    ];
    for (const [hex, expected] of pushes) expect(asm(hex), hex).to.equal(expected);
  });

  it('writes nothing for an empty script', () => {
    expect(asm('')).to.equal('');
  });

  it('names opcodes as rust-bitcoin does', () => {
    const numbers = Array.from({ length: 16 }, (_, i) => `OP_PUSHNUM_${i + 1}`).join(' ');
    expect(plain(0x4f, 0x60)).to.equal(`OP_PUSHNUM_NEG1 OP_RESERVED ${numbers}`);
    expect(plain(0x61, 0x6a)).to.equal('OP_NOP OP_VER OP_IF OP_NOTIF OP_VERIF OP_VERNOTIF OP_ELSE OP_ENDIF OP_VERIFY OP_RETURN');
    expect(plain(0x6b, 0x7d)).to.equal(
      'OP_TOALTSTACK OP_FROMALTSTACK OP_2DROP OP_2DUP OP_3DUP OP_2OVER OP_2ROT OP_2SWAP OP_IFDUP OP_DEPTH OP_DROP OP_DUP OP_NIP OP_OVER ' +
        'OP_PICK OP_ROLL OP_ROT OP_SWAP OP_TUCK'
    );
    expect(plain(0x7e, 0x8a)).to.equal(
      'OP_CAT OP_SUBSTR OP_LEFT OP_RIGHT OP_SIZE OP_INVERT OP_AND OP_OR OP_XOR OP_EQUAL OP_EQUALVERIFY OP_RESERVED1 OP_RESERVED2'
    );
    expect(plain(0x8b, 0xa5)).to.equal(
      'OP_1ADD OP_1SUB OP_2MUL OP_2DIV OP_NEGATE OP_ABS OP_NOT OP_0NOTEQUAL OP_ADD OP_SUB OP_MUL OP_DIV OP_MOD OP_LSHIFT OP_RSHIFT ' +
        'OP_BOOLAND OP_BOOLOR OP_NUMEQUAL OP_NUMEQUALVERIFY OP_NUMNOTEQUAL OP_LESSTHAN OP_GREATERTHAN OP_LESSTHANOREQUAL ' +
        'OP_GREATERTHANOREQUAL OP_MIN OP_MAX OP_WITHIN'
    );
    expect(plain(0xa6, 0xaf)).to.equal(
      'OP_RIPEMD160 OP_SHA1 OP_SHA256 OP_HASH160 OP_HASH256 OP_CODESEPARATOR OP_CHECKSIG OP_CHECKSIGVERIFY OP_CHECKMULTISIG ' +
        'OP_CHECKMULTISIGVERIFY'
    );
    expect(plain(0xb0, 0xbb)).to.equal(
      'OP_NOP1 OP_CLTV OP_CSV OP_NOP4 OP_NOP5 OP_NOP6 OP_NOP7 OP_NOP8 OP_NOP9 OP_NOP10 OP_CHECKSIGADD OP_RETURN_187'
    );
    expect(plain(0xfd, 0xff)).to.equal('OP_RETURN_253 OP_RETURN_254 OP_INVALIDOPCODE');
  });

  it('names the push that goes beyond the end, and nothing of what is left', () => {
    for (const [hex, opcode] of [
      ['05aabb', 'OP_PUSHBYTES_5'],
      ['4c05aabb', 'OP_PUSHDATA1'],
      ['4d0300aabb', 'OP_PUSHDATA2'],
      ['4e03000000aabb', 'OP_PUSHDATA4'],
      ['4effffffff', 'OP_PUSHDATA4'],
      ['4b', 'OP_PUSHBYTES_75']
    ] as const)
      expect(asm(`51${hex}`), hex).to.equal(`OP_PUSHNUM_1 ${opcode} <push past end>`);
  });

  it('marks an unexpected end right after the last operation', () => {
    for (const hex of ['4c', '4d', '4d0a', '4e', '4e010000']) {
      expect(asm(hex), hex).to.equal('<unexpected end>');
      expect(asm(`76a9${hex}`), hex).to.equal('OP_DUP OP_HASH160<unexpected end>');
    }
  });

  it('loses nothing of a script that is whole', () => {
    const push = (head: (length: number) => number[], minLength: number, maxLength: number): fc.Arbitrary<[Buffer, string]> =>
      fc
        .uint8Array({ minLength, maxLength })
        .map((data) => [Buffer.from([...head(data.length), ...data]), data.length === 0 ? '' : ` ${Buffer.from(data).toString('hex')}`]);
    const operation = fc.oneof(
      push((length) => [length], 1, 75),
      push((length) => [0x4c, length], 0, 255),
      push((length) => [0x4d, length & 255, length >> 8], 0, 300),
      push((length) => [0x4e, length, 0, 0, 0], 0, 20),
      fc.integer({ min: 0x4f, max: 0xff }).map((opcode): [Buffer, string] => [Buffer.of(opcode), ''])
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
        const texts = operations.map(([bytes]) => asmOf(bytes));
        expect(asmOf(Buffer.concat(operations.map(([bytes]) => bytes)))).to.equal(texts.join(' '));
        operations.forEach(([, data], i) => expect(texts[i]?.replace(/^OP_\w+/, '')).to.equal(data));
      })
    );
  });

  it('accepts any bytes, and parts of them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(80), fc.nat(80), (data, a, b) => {
        const bytes = Buffer.from(data);
        const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)];
        const writer = new TextWriter();
        writeRustAsm(writer, bytes, start, end);
        expect(writer.toString()).to.equal(asmOf(bytes.subarray(start, end)));
        expect(writer.toString()).to.match(/^((OP_\w+|[0-9a-f]+)( (?=.)|$|(?=<unexp)))*(<push past end>|<unexpected end>)?$/);
      })
    );
  });
});
