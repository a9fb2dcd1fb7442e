import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readCertificate, merchantName } from '../../../lib/payments/x509/certificate';
import { UntrustedError } from '../../../lib/payments/x509/untrusted';
import { der } from '../vectors';

const certificate = readCertificate(der('no-san'));
const named = (commonName: string): string => merchantName({ ...certificate, commonNames: [commonName] });

describe('merchantName', () => {
  it('is the first DNS name', () => expect(merchantName(readCertificate(der('p256')))).to.equal('shop.example'));

  it('is the common name if there is no DNS name', () => expect(merchantName(certificate)).to.equal('Shop Ltd'));

  it('is never the common name if there are DNS names, even if these cannot be shown', () => {
    expect(() => merchantName({ ...certificate, dnsNames: ['shop example'] })).to.throw(UntrustedError);
  });

  it('may have a wildcard in front', () => {
    expect(merchantName({ ...certificate, dnsNames: ['*.shop.example'] })).to.equal('*.shop.example');
  });

  for (const [title, name] of [
    ['a NUL', 'bank.example\0.shop.example'],
    ['a line break', 'bank.example\nTrusted: yes'],
    ['a change of direction', 'shop\u202eknab'],
    ['a character without width', 'shop\u200b'],
    ['nothing', ''],
    ['more than 64 characters', 'x'.repeat(65)]
  ] as const) {
    it(`refuses a name with ${title}`, () => expect(() => named(name)).to.throw(UntrustedError));
  }

  it('accepts names in any script', () => expect(named('Büchersendung 本屋 & Søn')).to.equal('Büchersendung 本屋 & Søn'));
});
