import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MAX_MONEY, dustThreshold, formatCoins, parseCoins } from '../../../lib/payments/rules/amount';

describe('dustThreshold', () => {
  const scripts: [kind: string, script: string, dust: bigint][] = [
    // The figures that Bitcoin Core names in its policy.
    ['pubkeyhash', `76a914${'00'.repeat(20)}88ac`, 546n],
    ['scripthash', `a914${'00'.repeat(20)}87`, 540n],
    ['witness_v0_keyhash', `0014${'00'.repeat(20)}`, 294n],
    ['witness_v0_scripthash', `0020${'00'.repeat(32)}`, 330n],
    ['witness_v1', `5120${'00'.repeat(32)}`, 330n],
    ['the longest witness program', `6028${'00'.repeat(40)}`, 354n],
    ['one byte more', `6029${'00'.repeat(41)}`, 600n],
    ['pubkey', `21${'02'.repeat(33)}ac`, 576n],
    ['an output that nobody can spend', '6a0100', 0n],
    ['an output that nobody can spend for its size', '51'.repeat(10_001), 0n],
    ['almost a witness program', `4f14${'00'.repeat(20)}`, 537n]
  ];
  for (const [kind, script, dust] of scripts) {
    it(`is ${dust} for ${kind}`, () => expect(dustThreshold(Buffer.from(script, 'hex'))).to.equal(dust));
  }
});

describe('coins as text', () => {
  it('have no more decimals than they need', () => {
    expect([0n, 1n, 100_000_000n, 150_000n, MAX_MONEY].map(formatCoins)).to.deep.equal(['0', '0.00000001', '1', '0.0015', '21000000']);
  });

  it('are satoshis again', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX_MONEY }), (amount) => {
        expect(parseCoins(formatCoins(amount))).to.equal(amount);
      })
    );
  });

  it('need digits only on one side of the point', () => {
    expect(['.5', '1.', '00.10'].map(parseCoins)).to.deep.equal([50_000_000n, 100_000_000n, 10_000_000n]);
  });

  it('are 21 million at most', () => {
    expect(['21000000', '21000000.00000001'].map(parseCoins)).to.deep.equal([MAX_MONEY, undefined]);
  });

  it('do not have any other form', () => {
    for (const text of ['', '.', '..5', '1.5.', '-1', '1e3', '0.000000001', '1,5', ' 1', '0x1']) {
      expect(parseCoins(text), text).to.equal(undefined);
    }
  });
});
