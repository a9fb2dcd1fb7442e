import { rootCertificates } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  CertificatePolicies,
  InhibitAnyPolicy,
  PolicyConstraints,
  PolicyInformation,
  PolicyMapping,
  PolicyMappings,
  id_ce_certificatePolicies,
  id_ce_certificatePolicies_anyPolicy,
  id_ce_inhibitAnyPolicy,
  id_ce_policyConstraints,
  id_ce_policyMappings,
  type Extension
} from '@peculiar/asn1-x509';
import { encodePaymentDetails } from '../../../lib/payments/messages';
import { signPaymentRequest } from '../../../lib/payments/signature';
import { verifyPaymentRequest, type Verification } from '../../../lib/payments/verify';
import { readCertificate } from '../../../lib/payments/x509/certificate';
import { TrustRoots } from '../../../lib/payments/x509/trust';
import { extension, makeCertificate } from '../made-certificates';

const serializedPaymentDetails = encodePaymentDetails({ outputs: [], time: 1_800_000_000n });

const GOLD = '2.16.840.1.101.3.2.1.48.1';
const SILVER = '2.16.840.1.101.3.2.1.48.2';

const zero = new Uint8Array([0]).buffer;

function policies(...ids: string[]): Extension {
  const informations = ids.map((policyIdentifier) => new PolicyInformation({ policyIdentifier }));
  return extension(id_ce_certificatePolicies, false, new CertificatePolicies(informations));
}

function constraints(fields: Partial<PolicyConstraints>, critical: boolean): Extension {
  return extension(id_ce_policyConstraints, critical, new PolicyConstraints(fields));
}

function mapping(issuerDomainPolicy: string, subjectDomainPolicy: string, critical: boolean): Extension {
  // The constructor's types name another class.
  const pair = Object.assign(new PolicyMapping(), { issuerDomainPolicy, subjectDomainPolicy });
  return extension(id_ce_policyMappings, critical, new PolicyMappings([pair]));
}

/** Verifies a request whose signer is certified by an intermediate authority; each of the three may have further extensions. */
function verifyWith(extensions: Partial<Record<'root' | 'authority' | 'leaf', Extension[]>>): Verification {
  const root = makeCertificate({ commonName: 'Root', ca: true, extensions: extensions.root ?? [] });
  const authority = makeCertificate({ commonName: 'Authority', ca: true, issuer: root, extensions: extensions.authority ?? [] });
  const leaf = makeCertificate({ commonName: 'shop.example', issuer: authority, extensions: extensions.leaf ?? [] });
  const signed = signPaymentRequest({ serializedPaymentDetails }, { key: leaf.key, certificates: [leaf.der, authority.der] });
  return verifyPaymentRequest(signed, { roots: new TrustRoots([root.der]), time: new Date() });
}

describe('policies in certificates', () => {
  it('are no obstacle if nothing is required of them', () => {
    expect(verifyWith({})).to.include({ status: 'trusted', name: 'shop.example' });
    expect(verifyWith({ authority: [policies(GOLD)], leaf: [policies(GOLD)] })).to.include({ status: 'trusted' });
    const any = policies(id_ce_certificatePolicies_anyPolicy);
    expect(verifyWith({ authority: [any], leaf: [policies(SILVER)] })).to.include({ status: 'trusted' });
    expect(verifyWith({ authority: [policies(GOLD)], leaf: [policies(SILVER)] })).to.include({ status: 'trusted' });
  });

  const constraining: [title: string, of: (critical: boolean) => Extension][] = [
    ['requireExplicitPolicy', (critical) => constraints({ requireExplicitPolicy: zero }, critical)],
    ['inhibitPolicyMapping', (critical) => constraints({ inhibitPolicyMapping: zero }, critical)],
    ['inhibitAnyPolicy', (critical) => extension(id_ce_inhibitAnyPolicy, critical, new InhibitAnyPolicy(zero))],
    ['a mapping', (critical) => mapping(GOLD, SILVER, critical)],
    ['a mapping from anyPolicy', (critical) => mapping(id_ce_certificatePolicies_anyPolicy, GOLD, critical)],
    ['a mapping to anyPolicy', (critical) => mapping(GOLD, id_ce_certificatePolicies_anyPolicy, critical)]
  ];
  for (const [title, of] of constraining) {
    for (const critical of [false, true]) {
      it(`are refused with ${title}, ${critical ? 'critical' : 'not critical'}`, () => {
        for (const where of ['root', 'authority', 'leaf']) {
          const verification = verifyWith({ authority: [policies(GOLD)], leaf: [policies(SILVER)], [where]: [of(critical)] });
          expect(verification, where).to.deep.include({ status: 'untrusted', reason: 'policy-constraints' });
        }
      });
    }
  }

  it('are not constrained by any root of Node.js', () => {
    for (const root of rootCertificates) {
      expect(readCertificate(new X509Certificate(root).raw)).to.have.property('hasPolicyConstraints', false);
    }
  });
});
