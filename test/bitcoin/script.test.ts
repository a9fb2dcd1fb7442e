import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { isUnspendable, lastPush, OLD_OPCODE_NAMES, OPCODE_NAMES, writeAsm, writeScriptSigAsm } from '../../lib/bitcoin/script';
import { TextWriter } from '../../lib/bitcoin/text-writer';

const asm = (hex: string, write = writeAsm, names = OLD_OPCODE_NAMES): string => {
  const writer = new TextWriter();
  write(writer, names, Buffer.from(hex, 'hex'));
  return writer.toString();
};

const scriptSigAsm = (hex: string): string => asm(hex, writeScriptSigAsm);

/** A push of up to 75 bytes. */
const push = (hex: string): string => (hex.length / 2).toString(16).padStart(2, '0') + hex;

/** DER with the shortest R and S, and a hash type. */
const signature = (hashType: string): string => `3006020101020101${hashType}`;

describe('writeAsm', () => {
  it('prints pushes of up to four bytes as numbers, minimal or not', () => {
    const numbers: [string, string][] = [
      ['00', '0'],
      ['4c00', '0'],
      ['0180', '0'],
      ['0181', '-1'],
      ['03616263', '6513249'],
      ['04ffffffff', '-2147483647'],
      ['04ffffff7f', '2147483647'],
      ['020100', '1'],
      ['4d0200ff80', '-255'],
      ['4e0100000005', '5'],
      ['0400000080', '0'],
      ['51024e73', '1 29518']
    ];
    for (const [hex, expected] of numbers) expect(asm(hex), hex).to.equal(expected);
  });

  it('prints longer pushes as hex, however they are pushed', () => {
    expect(asm('050000000000')).to.equal('0000000000');
    expect(asm('4c050102030405')).to.equal('0102030405');
    expect(asm('4e050000000102030405')).to.equal('0102030405');
  });

  it('ends with [error] at a push that does not fit', () => {
    for (const hex of ['76a914ffff', '76a94c', '76a94d01', '76a94e010000', '76a94effffffff00'])
      expect(asm(hex), hex).to.equal('OP_DUP OP_HASH160 [error]');
    expect(asm('05')).to.equal('[error]');
  });

  it('names opcodes as the reference does', () => {
    expect(asm('4f50515860')).to.equal('-1 OP_RESERVED 1 8 16');
    expect(asm('6162656a')).to.equal('OP_NOP OP_VER OP_VERIF OP_RETURN');
    expect(asm('7e7f80818283848586')).to.equal('OP_CAT OP_SUBSTR OP_LEFT OP_RIGHT OP_SIZE OP_INVERT OP_AND OP_OR OP_XOR');
    expect(asm('87888a8ba6a9acae')).to.equal(
      'OP_EQUAL OP_EQUALVERIFY OP_RESERVED2 OP_1ADD OP_RIPEMD160 OP_HASH160 OP_CHECKSIG OP_CHECKMULTISIG'
    );
    expect(asm('b0b1b2b3b9')).to.equal('OP_NOP1 OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_NOP4 OP_NOP10');
    expect(asm('bafafdfeff')).to.equal('OP_UNKNOWN OP_UNKNOWN OP_UNKNOWN OP_UNKNOWN OP_INVALIDOPCODE');
    expect(asm('b9babbff', writeAsm, OPCODE_NAMES)).to.equal('OP_NOP10 OP_CHECKSIGADD OP_UNKNOWN OP_INVALIDOPCODE');
  });

  it('leaves signatures in locking scripts alone', () => {
    expect(asm(push(signature('01')))).to.equal(signature('01'));
  });

  it('prints any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const text = asm(Buffer.from(bytes).toString('hex'));
        expect(text === '').to.equal(bytes.length === 0);
        expect(text).to.match(/^([-\w]+( |$))*(\[error\])?$/);
      })
    );
  });
});

describe('writeScriptSigAsm', () => {
  it('spells out the six hash types', () => {
    const types: [string, string][] = [
      ['01', 'ALL'],
      ['02', 'NONE'],
      ['03', 'SINGLE'],
      ['81', 'ALL|ANYONECANPAY'],
      ['82', 'NONE|ANYONECANPAY'],
      ['83', 'SINGLE|ANYONECANPAY']
    ];
    for (const [byte, name] of types) expect(scriptSigAsm(push(signature(byte)))).to.equal(`${signature('')}[${name}]`);
  });

  it('leaves other hash types as hex', () => {
    for (const byte of ['00', '04', '41', '80', '84', 'c1', 'ff']) expect(scriptSigAsm(push(signature(byte)))).to.equal(signature(byte));
  });

  it('accepts only strict DER as a signature', () => {
    const malformed = {
      'wrong sequence tag': '310602010102010101',
      'wrong length': '300702010102010101',
      'R no integer': '300603010102010101',
      'S no integer': '300602010103010101',
      'R empty': '30050200020101' + '01' + '01',
      'S empty': '3006020201010200' + '01',
      'R negative': '300602018102010101',
      'S negative': '300602010102018101',
      'R padded': '30070202000102010101',
      'S padded': '30070201010202000101',
      'R beyond the end': '300602fe0102010101',
      'too short': '3005020101020101',
      'too long': `3048022401${'11'.repeat(35)}022001${'11'.repeat(31)}01`
    };
    for (const [why, hex] of Object.entries(malformed)) expect(scriptSigAsm(push(hex)), why).to.equal(hex);
    expect(scriptSigAsm(push('3007020200ff02010101')), 'needed padding').to.equal('3007020200ff020101[ALL]');
  });

  it('looks for no signatures in a script that nothing can run', () => {
    expect(scriptSigAsm(`6a${push(signature('01'))}`)).to.equal(`OP_RETURN ${signature('01')}`);
  });
});

describe('isUnspendable', () => {
  it('is true for scripts that begin with OP_RETURN or have more than 10,000 bytes', () => {
    expect(isUnspendable(Buffer.of(0x6a))).to.equal(true);
    expect(isUnspendable(Buffer.alloc(10_001))).to.equal(true);
    expect(isUnspendable(Buffer.alloc(10_000))).to.equal(false);
    expect(isUnspendable(Buffer.alloc(0))).to.equal(false);
    expect(isUnspendable(Buffer.of(0x51, 0x6a))).to.equal(false);
  });
});

describe('lastPush', () => {
  const push = (hex: string): string | undefined => {
    const bytes = Buffer.from(`ff${hex}ff`, 'hex');
    return lastPush(bytes, 1, bytes.length - 1)?.toString('hex');
  };

  it('is what the last operation pushes, however that is done', () => {
    expect(push('51026162')).to.equal('6162');
    expect(push('4c0161')).to.equal('61');
    expect(push('5100')).to.equal('');
    expect(push('4d0000')).to.equal('');
  });

  it('is nothing where the last operation pushes no data or is cut off', () => {
    for (const hex of ['', '51', '4f', '016151', '0161ac', '016105aa', '4c', '01614d01']) expect(push(hex), hex).to.equal(undefined);
  });
});
