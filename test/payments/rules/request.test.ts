import { expect } from 'chai';
import { describe, it } from 'mocha';
import { encodePaymentDetails, type Output, type PaymentDetails, type PaymentRequest } from '../../../lib/payments/messages';
import { MAX_MONEY } from '../../../lib/payments/rules/amount';
import { checkAsked, checkPaymentRequest, type RequestConditions } from '../../../lib/payments/rules/request';
import { codeOf, errorOf } from '../vectors';

const script = Buffer.from(`0014${'00'.repeat(20)}`, 'hex');
const conditions: RequestConditions = { network: 'main', time: new Date(1_800_000_000_000) };

function request(details: Partial<PaymentDetails>, more: Partial<PaymentRequest> = {}): PaymentRequest {
  return {
    serializedPaymentDetails: encodePaymentDetails({ outputs: [{ amount: 1_000n, script }], time: 1_700_000_000n, ...details }),
    ...more
  };
}

function outputs(...amounts: (bigint | undefined)[]): { outputs: Output[] } {
  return { outputs: amounts.map((amount) => (amount === undefined ? { script } : { amount, script })) };
}

describe('checkPaymentRequest', () => {
  it('gives the outputs to be paid, with defaults filled in', () => {
    expect(checkPaymentRequest(request({}), conditions)).to.deep.equal({
      network: 'main',
      outputs: [{ amount: 1_000n, script }],
      total: 1_000n,
      time: 1_700_000_000n
    });
  });

  it('passes on optional fields', () => {
    const optional = {
      expires: 1_900_000_000n,
      memo: 'Two mugs',
      paymentUrl: 'https://shop.example/pay/1',
      merchantData: Buffer.from([1])
    };
    expect(checkPaymentRequest(request(optional), conditions)).to.deep.include(optional);
  });

  describe('version', () => {
    it('1 is supported', () =>
      expect(checkPaymentRequest(request({}, { paymentDetailsVersion: 1 }), conditions)).to.have.property('total'));

    it('2 asks for an upgrade, whatever the details contain', () => {
      const newer = { paymentDetailsVersion: 2, serializedPaymentDetails: Buffer.from('not of version 1') };
      expect(errorOf(() => checkPaymentRequest(newer, conditions)))
        .to.include({ code: 'upgrade' })
        .and.to.have.property('message')
        .that.matches(/upgrade/);
    });
  });

  describe('network', () => {
    it('has to be the expected one', () => {
      expect(codeOf(() => checkPaymentRequest(request({ network: 'test' }), conditions))).to.equal('wrong-network');
      expect(codeOf(() => checkPaymentRequest(request({}), { ...conditions, network: 'test' }))).to.equal('wrong-network');
      expect(codeOf(() => checkPaymentRequest(request({ network: 'Main' }), conditions))).to.equal('wrong-network');
    });
  });

  describe('expiry', () => {
    it('ends the request after its last second', () => {
      expect(
        checkPaymentRequest(request({ expires: 1_800_000_000n }), { ...conditions, time: new Date(1_800_000_000_999) })
      ).to.have.property('total');
      expect(codeOf(() => checkPaymentRequest(request({ expires: 1_799_999_999n }), conditions))).to.equal('expired');
    });

    it('that a merchant asks for is in seconds: it is in the year 5138 at the latest', () => {
      const ask = (expires: bigint): void => {
        checkAsked({ ...outputs(1_000n), expires }, conditions.time);
      };
      expect(() => {
        ask(100_000_000_000n);
      }).not.to.throw();
      expect(codeOf(() => ask(100_000_000_001n))).to.equal('malformed');
    });

    it('may be further away than any clock', () => {
      expect(checkPaymentRequest(request({ expires: 2n ** 64n - 1n }), conditions)).to.have.property('expires', 2n ** 64n - 1n);
    });
  });

  describe('outputs', () => {
    it('are needed', () => expect(codeOf(() => checkPaymentRequest(request(outputs()), conditions))).to.equal('unpayable'));

    it('of 0 are ignored if there are others', () => {
      const { outputs: due, total } = checkPaymentRequest(request(outputs(0n, 1_000n, undefined, 500n)), conditions);
      expect({ due: due.map(({ amount }) => amount), total }).to.deep.equal({ due: [1_000n, 500n], total: 1_500n });
    });

    it('of 0 alone leave the amount to the customer', () => {
      const { outputs: due, total } = checkPaymentRequest(request(outputs(0n, undefined)), conditions);
      expect({ due: due.length, total }).to.deep.equal({ due: 2, total: 0n });
    });

    it('of dust are not relayed', () => {
      expect(codeOf(() => checkPaymentRequest(request(outputs(1_000n, 293n)), conditions))).to.equal('unpayable');
      expect(checkPaymentRequest(request(outputs(294n)), conditions)).to.have.property('total', 294n);
    });

    it('must not ask for more coins than exist', () => {
      expect(checkPaymentRequest(request(outputs(MAX_MONEY)), conditions)).to.have.property('total', MAX_MONEY);
      expect(codeOf(() => checkPaymentRequest(request(outputs(MAX_MONEY, 294n)), conditions))).to.equal('unpayable');
      expect(codeOf(() => checkPaymentRequest(request(outputs(2n ** 64n - 1n, 2n)), conditions))).to.equal('unpayable');
    });
  });

  it('refuses malformed details', () => {
    expect(codeOf(() => checkPaymentRequest({ serializedPaymentDetails: Buffer.alloc(0) }, conditions))).to.equal('malformed');
  });
});
