import { expect } from 'chai';
import { describe, it } from 'mocha';
import { hasOnlyPushes, redeemScriptOf } from '../../lib/policy/redeem-script';

const [OP_PUSHDATA1, OP_1NEGATE, OP_RESERVED, OP_1, OP_16, OP_NOP] = [0x4c, 0x4f, 0x50, 0x51, 0x60, 0x61];

const script = (...bytes: number[]): Buffer => Buffer.from(bytes);

describe('an unlocking script of a script hash', () => {
  it('ends with the redeem script, which may be a small number', () => {
    expect(redeemScriptOf(script(1, 7, 2, 8, 9))).to.deep.equal(script(8, 9));
    expect(redeemScriptOf(script(OP_1))).to.deep.equal(script(1));
    expect(redeemScriptOf(script(OP_16))).to.deep.equal(script(16));
    expect(redeemScriptOf(script(OP_1NEGATE))).to.deep.equal(script(0x81));
    expect(redeemScriptOf(script(0))).to.deep.equal(script());
  });

  it('has none if it is empty, has another operation, or is cut off', () => {
    for (const bytes of [[], [1, 7, OP_NOP], [OP_RESERVED], [1, 7, 2, 8], [1, 7, OP_PUSHDATA1]])
      expect(redeemScriptOf(script(...bytes)), bytes.join(' ')).to.equal(undefined);
  });

  it('has only pushes up to the operation that pushes 16', () => {
    for (const bytes of [[], [1, 7], [OP_1NEGATE, OP_RESERVED, OP_16]])
      expect(hasOnlyPushes(script(...bytes)), bytes.join(' ')).to.equal(true);
    for (const bytes of [[OP_NOP], [1, 7, 2, 8], [1, 7, OP_PUSHDATA1]])
      expect(hasOnlyPushes(script(...bytes)), bytes.join(' ')).to.equal(false);
  });
});
