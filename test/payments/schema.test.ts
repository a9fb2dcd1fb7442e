import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DEFAULTS } from '../../lib/payments/messages';
import { messageType } from '../../lib/payments/schema';

// The fields of BIP70: name, type, number, rule, default.
const FIELDS: Record<string, string[]> = {
  Output: ['amount uint64 1 optional 0', 'script bytes 2 required'],
  PaymentDetails: [
    'network string 1 optional main',
    'outputs Output 2 repeated',
    'time uint64 3 required',
    'expires uint64 4 optional',
    'memo string 5 optional',
    'paymentUrl string 6 optional',
    'merchantData bytes 7 optional'
  ],
  PaymentRequest: [
    'paymentDetailsVersion uint32 1 optional 1',
    'pkiType string 2 optional none',
    'pkiData bytes 3 optional',
    'serializedPaymentDetails bytes 4 required',
    'signature bytes 5 optional'
  ],
  X509Certificates: ['certificate bytes 1 repeated'],
  Payment: ['merchantData bytes 1 optional', 'transactions bytes 2 repeated', 'refundTo Output 3 repeated', 'memo string 4 optional'],
  PaymentACK: ['payment Payment 1 required', 'memo string 2 optional']
};

describe('payments schema', () => {
  for (const [name, fields] of Object.entries(FIELDS)) {
    it(`has ${name} with the fields of BIP70`, () => {
      const actual = messageType(name).fieldsArray.map((field) => {
        const rule = field.repeated ? 'repeated' : field.required ? 'required' : 'optional';
        const fallback = (field.options?.['default'] as string | undefined) ?? '';
        return `${field.name} ${field.type} ${field.id} ${rule} ${fallback}`.trim();
      });
      expect(actual).to.deep.equal(fields);
    });

    it(`reserves the fields of ${name} from 100 on for extensions`, () => {
      expect(messageType(name).extensions).to.deep.equal([[100, 536870911]]);
    });
  }

  it('has the defaults that the library fills in', () => {
    const fallback = (message: string, field: string): unknown => messageType(message).fields[field]?.options?.['default'];
    expect(String(fallback('Output', 'amount'))).to.equal(String(DEFAULTS.amount));
    expect(fallback('PaymentDetails', 'network')).to.equal(DEFAULTS.network);
    expect(fallback('PaymentRequest', 'paymentDetailsVersion')).to.equal(DEFAULTS.paymentDetailsVersion);
    expect(fallback('PaymentRequest', 'pkiType')).to.equal(DEFAULTS.pkiType);
  });
});
