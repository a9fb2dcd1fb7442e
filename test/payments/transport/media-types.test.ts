import { expect } from 'chai';
import { describe, it } from 'mocha';
import { negotiate } from '../../../lib/payments/transport/media-types';

describe('negotiate', () => {
  const cases: [accept: string | undefined, representation: string][] = [
    // The header that Bitcoin Core sent.
    ['application/bitcoin-paymentrequest', 'payment-request'],
    ['Application/Bitcoin-PaymentRequest', 'payment-request'],
    ['text/uri-list', 'uri-list'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'page'],
    ['*/*', 'page'],
    ['application/*', 'page'],
    [undefined, 'page'],
    ['', 'page'],
    ['application/json', 'state'],
    ['application/json;q=0.9, text/html', 'page'],
    ['text/html, text/uri-list, application/bitcoin-paymentrequest', 'payment-request'],
    ['text/html;q=0.5, text/uri-list;q=0.9', 'uri-list'],
    ['application/bitcoin-paymentrequest;q=0.1, text/html', 'page'],
    ['application/bitcoin-paymentrequest;q=0, text/uri-list;q=0.1', 'uri-list'],
    ['application/bitcoin-paymentrequest; charset=x; q=0.7, text/html;q=0.2', 'payment-request'],
    ['application/bitcoin-paymentrequest;q=much', 'page']
  ];
  for (const [accept, representation] of cases) {
    it(`answers ${(JSON.stringify(accept) as string | undefined) ?? 'no Accept header'} with ${representation}`, () =>
      expect(negotiate(accept)).to.equal(representation));
  }
});
