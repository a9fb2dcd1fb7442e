import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MAX_MONEY } from '../../../lib/payments/rules/amount';
import { formatBitcoinUri, parseBitcoinUri } from '../../../lib/payments/transport/bitcoin-uri';
import { codeOf } from '../vectors';

describe('bitcoin URI', () => {
  describe('reading', () => {
    it('accepts the examples of BIP21', () => {
      const address = '175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W';
      expect(parseBitcoinUri(`bitcoin:${address}`)).to.deep.equal({ address });
      expect(parseBitcoinUri(`bitcoin:${address}?label=Luke-Jr`)).to.deep.equal({ address, label: 'Luke-Jr' });
      expect(parseBitcoinUri(`bitcoin:${address}?amount=20.3&label=Luke-Jr`)).to.deep.equal({
        address,
        amount: 2_030_000_000n,
        label: 'Luke-Jr'
      });
      expect(parseBitcoinUri(`bitcoin:${address}?amount=50&label=Luke-Jr&message=Donation%20for%20project%20xyz`)).to.deep.equal({
        address,
        amount: 5_000_000_000n,
        label: 'Luke-Jr',
        message: 'Donation for project xyz'
      });
      expect(
        codeOf(() => parseBitcoinUri(`bitcoin:${address}?req-somethingyoudontunderstand=50&req-somethingelseyoudontget=999`))
      ).to.equal('malformed');
      expect(parseBitcoinUri(`bitcoin:${address}?somethingyoudontunderstand=50&somethingelseyoudontget=999`)).to.deep.equal({ address });
    });

    it('accepts the examples of BIP72', () => {
      expect(
        parseBitcoinUri('bitcoin:mq7se9wy2egettFxPbmn99cK8v5AFq55Lx?amount=0.11&r=https://merchant.com/pay.php?h%3D2a8628fc2fbe')
      ).to.deep.equal({
        address: 'mq7se9wy2egettFxPbmn99cK8v5AFq55Lx',
        amount: 11_000_000n,
        paymentUrl: 'https://merchant.com/pay.php?h=2a8628fc2fbe'
      });
      expect(parseBitcoinUri('bitcoin:?r=https://merchant.com/pay.php?h%3D2a8628fc2fbe')).to.deep.equal({
        paymentUrl: 'https://merchant.com/pay.php?h=2a8628fc2fbe'
      });
    });

    it('ignores the case of the scheme', () => expect(parseBitcoinUri('BITCOIN:abc')).to.deep.equal({ address: 'abc' }));

    for (const text of [
      'litecoin:abc',
      'bitcoin:',
      'bitcoin:?amount=1',
      'bitcoin:abc?amount=1e3',
      'bitcoin:abc?amount=-1',
      'bitcoin:abc?amount=0.000000001',
      'bitcoin:abc?amount=21000001',
      'bitcoin:abc?amount=1&amount=2',
      'bitcoin:abc?label=%ff',
      'bitcoin:?r=file:///etc/passwd',
      'bitcoin:?r=javascript:alert(1)',
      'bitcoin:?r=/pay/1',
      ''
    ])
      it(`refuses ${JSON.stringify(text)}`, () => expect(codeOf(() => parseBitcoinUri(text))).to.equal('malformed'));
  });

  describe('writing', () => {
    it('escapes what has to be escaped', () => {
      expect(
        formatBitcoinUri({
          address: 'abc',
          amount: 150_000n,
          label: 'A & B',
          message: '5% ☕',
          paymentUrl: 'https://shop.example/pay?id=1&x=2'
        })
      ).to.equal(
        'bitcoin:abc?amount=0.0015&label=A%20%26%20B&message=5%25%20%E2%98%95&r=https%3A%2F%2Fshop.example%2Fpay%3Fid%3D1%26x%3D2'
      );
    });

    it('needs no address if there is a payment URL (BIP72)', () => {
      expect(formatBitcoinUri({ paymentUrl: 'https://shop.example/pay/1' })).to.equal('bitcoin:?r=https%3A%2F%2Fshop.example%2Fpay%2F1');
    });

    it('escapes addresses, so that they cannot add parameters', () => {
      expect(parseBitcoinUri(formatBitcoinUri({ address: 'abc?amount=1&r=https://other.example' }))).to.deep.equal({
        address: 'abc?amount=1&r=https://other.example'
      });
    });

    it('refuses values that could not be read again', () => {
      for (const uri of [
        {},
        { amount: 1n },
        { address: 'abc', amount: -1n },
        { address: 'abc', amount: MAX_MONEY + 1n },
        { paymentUrl: 'ftp://shop.example' },
        { paymentUrl: 'https:shop.example' },
        { paymentUrl: 'https://shop.example\nhttps://other.example' },
        { address: 'abc', label: '\ud800' }
      ]) {
        expect(codeOf(() => formatBitcoinUri(uri))).to.equal('malformed');
      }
    });
  });

  it('is the same after writing and reading', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    const uri = fc.record(
      {
        address: fc.stringMatching(/^[a-zA-Z0-9]{1,40}$/),
        amount: fc.bigInt({ min: 0n, max: MAX_MONEY }),
        label: text,
        message: text,
        paymentUrl: fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['http', 'https'] })
      },
      { requiredKeys: ['address'] }
    );
    fc.assert(
      fc.property(uri, (original) => {
        expect(parseBitcoinUri(formatBitcoinUri(original))).to.deep.equal(original);
      }),
      { numRuns: 300 }
    );
  });

  it('throws only its own error for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseBitcoinUri(`bitcoin:${text}`);
        } catch (error) {
          expect(error).to.have.property('name', 'PaymentError');
        }
      }),
      { numRuns: 500 }
    );
  });
});
