import { expect } from 'chai';
import { describe, it } from 'mocha';
import { base58Check } from '../../lib/bitcoin/base58';
import { validatedAddress } from '../../lib/views/validated-address';
import { coreRegtestPrefixes } from '../support/chain/chain-a';

const ADDRESS = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const WRONG_SUM = 'Invalid checksum or length of Base58 address (P2PKH or P2SH)';
const UNREADABLE = 'Invalid or unsupported Segwit (Bech32) or Base58 encoding.';

const validate = (text: string): object => validatedAddress(text, [coreRegtestPrefixes]);
const fault = (error: string, places: readonly number[] = []): object => ({ isvalid: false, error_locations: places, error });

describe('an address that is validated', () => {
  it('may have white space around it in base58, and is shown without it', () => {
    for (const text of [ADDRESS, ` ${ADDRESS}`, `\t\n${ADDRESS}\v\f\r `])
      expect(validate(text), JSON.stringify(text)).to.include({ isvalid: true, address: ADDRESS });
    for (const text of [`${ADDRESS}\u00a0`, `${ADDRESS} 1`, `${' '.repeat(400_000)}1 1`])
      expect(validate(text), JSON.stringify(text).slice(0, 50)).to.deep.equal(fault(UNREADABLE));
    for (const text of ['', '  ']) expect(validate(text)).to.deep.equal(fault(WRONG_SUM));
  });

  it('is read as base58 if white space is in front, whatever follows', () => {
    expect(validate(' bcrt1qmgquap8nz')).to.deep.equal(fault(WRONG_SUM));
    expect(validate(' bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')).to.deep.equal(fault(UNREADABLE));
    expect(validate('bcrt1qmgquap8nz ')).to.deep.equal(fault('Invalid character or mixed case', [15]));
  });

  it('has its errors at bytes, of which a character may have several', () => {
    expect(validate('bcrt1\u00e98d2fsg')).to.deep.equal(fault('Invalid character or mixed case', [5, 6]));
    expect(validate('bcrt1Z5cpp\u00e9qh')).to.deep.equal(fault('Invalid character or mixed case', [5, 10, 11]));
    expect(validate(`bcrt1p${'\u00e9'.repeat(43)}`)).to.deep.equal(fault('Bech32 string too long', [90, 91]));
  });

  it('has a thousand errors at most, however long it is', () => {
    const places = Array.from({ length: 1_000 }, (_, i) => 90 + i);
    for (const length of [1_090, 1_091, 1_000_000])
      expect(validate('bcrt1'.padEnd(length, 'q')), `${length}`).to.deep.equal(fault('Bech32 string too long', places));
  });

  it('has an unknown prefix if it is a checksum of nothing', () => {
    expect(validate(base58Check(Buffer.alloc(0)))).to.deep.equal(fault('Invalid or unsupported Base58-encoded address.'));
  });

  it('is looked at up to a hundred bytes', () => {
    expect(validate(base58Check(Buffer.alloc(96, 0xff)))).to.deep.equal(fault(WRONG_SUM));
    expect(validate(base58Check(Buffer.alloc(97, 0xff)))).to.deep.equal(fault(UNREADABLE));
    expect(validate('1'.repeat(100))).to.deep.equal(fault(WRONG_SUM));
    expect(validate('1'.repeat(101))).to.deep.equal(fault(UNREADABLE));
  });
});
