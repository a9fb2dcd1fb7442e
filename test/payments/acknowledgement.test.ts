import { expect } from 'chai';
import { describe, it } from 'mocha';
import { acknowledgePayment, MAX_PAYMENT_SIZE, decodePayment, decodePaymentACK, encodePayment } from '../../lib/payments/messages';
import { codeOf, vector } from './vectors';

describe('acknowledgePayment', () => {
  it('sends the Payment back with a memo', () => {
    const payment = vector('messages/Payment.full.hex');
    expect(decodePaymentACK(acknowledgePayment(payment, 'Thanks'))).to.deep.equal({ payment: decodePayment(payment), memo: 'Thanks' });
  });

  it('keeps every byte of the Payment, also with another order and encoding', () => {
    const payment = Buffer.from('c00601 2200 128100aa'.replace(/ /g, ''), 'hex');
    expect(acknowledgePayment(payment).toString('hex')).to.equal(`0a09${payment.toString('hex')}`);
  });

  it('refuses bytes that are not a Payment', () =>
    expect(codeOf(() => acknowledgePayment(Buffer.from('0a', 'hex')))).to.equal('malformed'));

  it('refuses a memo that makes it larger than wallets accept', () => {
    const payment = encodePayment({ transactions: [Buffer.alloc(MAX_PAYMENT_SIZE - 4)], refundTo: [] });
    expect(acknowledgePayment(payment, 'x'.repeat(9_990))).to.have.length(50_004 + 9_993);
    expect(codeOf(() => acknowledgePayment(payment, 'x'.repeat(10_000)))).to.equal('too-large');
  });
});
