import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { keyWeakness } from '../../../lib/payments/x509/algorithms';

/** Why a key is refused whose modulus is a number of this many bits; nobody looks for its factors. */
function weaknessOf(bits: number, exponent: number): string | undefined {
  const modulus = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  modulus[0] = 0xff >> ((8 - (bits % 8)) % 8);
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: Buffer.of(exponent).toString('base64url') };
  return keyWeakness(createPublicKey({ key: jwk, format: 'jwk' }));
}

describe('an RSA key', () => {
  it('has 2048 to 8192 bits', () => {
    for (const bits of [2_048, 8_192]) expect(weaknessOf(bits, 3), String(bits)).to.equal(undefined);
    for (const bits of [2_047, 8_193]) expect(weaknessOf(bits, 3)).to.equal(`RSA with 2048 to 8192 bits expected, ${bits} came`);
  });

  it('has an exponent from 3', () => {
    expect(weaknessOf(2_048, 3)).to.equal(undefined);
    expect(weaknessOf(2_048, 1)).to.equal('an exponent from 3 expected, 1 came');
  });
});
