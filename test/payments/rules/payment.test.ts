import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkPayment } from '../../../lib/payments/rules/payment';
import { payableOutputs } from '../../../lib/payments/rules/request';
import { outpoint, serialize } from '../transactions';
import { codeOf, errorOf } from '../vectors';
import type { Payment } from '../../../lib/payments/messages';

const [shop, donation, other] = ['00', '01', '02'].map((fill) => Buffer.from(`0014${fill.repeat(20)}`, 'hex')) as [Buffer, Buffer, Buffer];
const merchantData = Buffer.from('a1b2', 'hex');

const request = {
  ...payableOutputs({
    outputs: [
      { amount: 1_000n, script: shop },
      { amount: 500n, script: donation },
      { amount: 700n, script: shop }
    ]
  }),
  merchantData
};
const openRequest = payableOutputs({ outputs: [{ script: shop }, { script: donation }] });

/** A transaction that spends the coin `seed` and pays these satoshis. */
function pays(seed: number, ...outputs: [script: Buffer, value: bigint][]): Buffer {
  return serialize({ inputs: [outpoint(seed)], outputs: outputs.map(([script, value]) => ({ script, value })), witness: true });
}

function payment(...transactions: Buffer[]): Payment {
  return { merchantData, transactions, refundTo: [] };
}

describe('checkPayment', () => {
  it('is satisfied by one transaction that pays everything', () => {
    expect(checkPayment(payment(pays(1, [shop, 1_700n], [donation, 500n], [other, 9n])), request)).to.have.length(1);
  });

  it('is satisfied by several transactions together', () => {
    expect(checkPayment(payment(pays(1, [shop, 1_000n]), pays(2, [donation, 500n]), pays(3, [shop, 700n])), request)).to.have.length(3);
  });

  it('accepts more than was requested', () => {
    expect(checkPayment(payment(pays(1, [shop, 5_000n], [donation, 501n])), request)).to.have.length(1);
  });

  it('adds up requested amounts with the same script', () => {
    expect(errorOf(() => checkPayment(payment(pays(1, [shop, 1_000n], [donation, 500n])), request))).to.include({
      code: 'underpaid',
      message: `1700 satoshis to the script ${shop.toString('hex')} expected, 1000 came.`
    });
  });

  it('notices a single missing satoshi', () => {
    expect(codeOf(() => checkPayment(payment(pays(1, [shop, 1_700n], [donation, 499n])), request))).to.equal('underpaid');
  });

  it('does not count coins to one script for another', () => {
    expect(codeOf(() => checkPayment(payment(pays(1, [shop, 2_200n])), request))).to.equal('underpaid');
  });

  it('counts a transaction once, however often it comes and whatever its witness', () => {
    const half = {
      inputs: [outpoint(1)],
      outputs: [
        { script: shop, value: 850n },
        { script: donation, value: 250n }
      ]
    };
    const twice = payment(serialize(half), serialize(half), serialize({ ...half, witness: true }));
    expect(codeOf(() => checkPayment(twice, request))).to.equal('underpaid');
  });

  it('refuses transactions of which only one can confirm', () => {
    const conflict = payment(pays(1, [shop, 1_700n]), pays(1, [donation, 500n]));
    expect(errorOf(() => checkPayment(conflict, request)).message).to.match(/the same coin twice/);
  });

  it('needs a transaction', () => expect(codeOf(() => checkPayment(payment(), request))).to.equal('underpaid'));

  it('refuses malformed transactions', () => {
    expect(codeOf(() => checkPayment(payment(pays(1, [shop, 1_700n], [donation, 500n]), Buffer.from('00', 'hex')), request))).to.equal(
      'malformed'
    );
  });

  it('requires its merchant_data back unchanged', () => {
    const good = pays(1, [shop, 1_700n], [donation, 500n]);
    for (const data of [Buffer.from('a1b3', 'hex'), Buffer.alloc(0), Buffer.from('a1b200', 'hex')]) {
      expect(codeOf(() => checkPayment({ ...payment(good), merchantData: data }, request))).to.equal('wrong-merchant-data');
    }
    expect(codeOf(() => checkPayment({ transactions: [good], refundTo: [] }, request))).to.equal('wrong-merchant-data');
  });

  it('treats absent and empty merchant_data alike', () => {
    const { outputs, total } = request;
    expect(
      checkPayment({ ...payment(pays(1, [shop, 1_700n], [donation, 500n])), merchantData: Buffer.alloc(0) }, { outputs, total })
    ).to.have.length(1);
  });

  describe('when the customer chooses the amount', () => {
    it('is satisfied by anything to any of the outputs', () => {
      expect(checkPayment({ transactions: [pays(1, [donation, 1n])], refundTo: [] }, openRequest)).to.have.length(1);
    });

    it('is not satisfied by no coins, nor by coins to other scripts', () => {
      expect(codeOf(() => checkPayment({ transactions: [pays(1, [donation, 0n], [other, 5n])], refundTo: [] }, openRequest))).to.equal(
        'underpaid'
      );
    });
  });
});
