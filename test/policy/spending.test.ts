import { expect } from 'chai';
import { describe, it } from 'mocha';
import { dustLimit } from '../../lib/policy/dust';
import { feeAt } from '../../lib/policy/limits';
import { checkFee, checkSigopCost, checkSpentScripts, checkValues, checkWitnesses } from '../../lib/policy/spending';
import { candidate, input, P2WPKH } from './offered';
import { refusalOf } from './refusal-of';
import type { SpentCoin } from '../../lib/policy/transaction';

const [OP_CHECKSIG, OP_CHECKMULTISIG, OP_0, OP_15] = [0xac, 0xae, 0x00, 0x5f];
const P2SH = Buffer.from(`a914${'cd'.repeat(20)}87`, 'hex');
const TAPROOT = Buffer.from(`5120${'cd'.repeat(32)}`, 'hex');

const pushOf = (data: Buffer): Buffer => Buffer.concat([Buffer.of(data.length), data]);

describe('what a transaction for the pool spends', () => {
  it('is mature, and no less than what it pays', () => {
    const values = (coin: Partial<SpentCoin>, height: number): unknown =>
      refusalOf(() => {
        checkValues(candidate({}, [coin]), height);
      });
    expect(values({ isCoinbase: true, height: 1 }, 101)).to.equal(undefined);
    expect(values({ isCoinbase: true, height: 1 }, 100)).to.equal(
      'bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99'
    );
    expect(values({ value: 10_000 }, 2)).to.equal(undefined);
    expect(values({ value: 9_999 }, 2)).to.equal('bad-txns-in-belowout, value in (0.00009999) < value out (0.0001)');
  });

  it('has at most 15 signature operations in a redeem script, and 2,500 in all that run', () => {
    const spending = (...counts: number[]): unknown =>
      refusalOf(() => {
        const inputs = counts.map((count, i) => input(i, pushOf(Buffer.alloc(count, OP_CHECKSIG))));
        checkSpentScripts(
          candidate(
            { inputs },
            counts.map(() => ({ script: P2SH }))
          )
        );
      });
    const many = Array<number>(166).fill(15);
    expect(spending(...many, 10)).to.equal(undefined);
    expect(spending(...many, 11)).to.equal('bad-txns-nonstandard-inputs, non-witness sigops exceed bip54 limit');
    // Operations for several keys count for as many as there are, or for 20 if that is not known.
    const ofKeys = (opcode: number): unknown =>
      refusalOf(() => {
        checkSpentScripts(candidate({ inputs: [input(0, pushOf(Buffer.of(opcode, OP_CHECKMULTISIG)))] }, [{ script: P2SH }]));
      });
    expect(ofKeys(OP_15)).to.equal(undefined);
    for (const [opcode, count] of [
      [OP_15 + 1, 16],
      [OP_0, 20]
    ] as const)
      expect(ofKeys(opcode)).to.match(new RegExp(`\\(input 0: ${count} > 15\\)$`));
    expect(spending(16)).to.equal('bad-txns-nonstandard-inputs, p2sh redeemscript sigops exceed limit (input 0: 16 > 15)');
  });

  it('is a script that is known, with a redeem script that is there', () => {
    const spending = (script: Buffer, unlocking: Buffer = Buffer.alloc(0)): unknown =>
      refusalOf(() => {
        checkSpentScripts(candidate({ inputs: [input(0, unlocking)] }, [{ script }]));
      });
    expect(spending(Buffer.of(0x51))).to.equal('bad-txns-nonstandard-inputs, input 0 script unknown');
    expect(spending(Buffer.from(`5220${'11'.repeat(32)}`, 'hex'))).to.equal(
      'bad-txns-nonstandard-inputs, input 0 witness program is undefined'
    );
    expect(spending(P2SH)).to.equal('bad-txns-nonstandard-inputs, input 0 P2SH redeemscript missing');
    // Neither another operation nor a push that is too long leaves one.
    const long = (length: number): Buffer => Buffer.concat([Buffer.of(0x4d, length & 0xff, length >> 8), Buffer.alloc(length, 0x51)]);
    for (const unlocking of [Buffer.of(0x61), long(521)])
      expect(spending(P2SH, unlocking)).to.equal('bad-txns-nonstandard-inputs, p2sh scriptsig malformed (input 0)');
    expect(spending(P2SH, long(520))).to.equal(undefined);
  });

  it('has a script with at most 3,600 bytes and 100 items of 80 bytes in a witness of version 0, and none where no witness belongs', () => {
    const P2WSH = Buffer.from(`0020${'cd'.repeat(32)}`, 'hex');
    const unlocked = (script: Buffer, ...witness: Buffer[]): unknown =>
      refusalOf(() => {
        checkWitnesses(candidate({ inputs: [{ ...input(0), witness }] }, [{ script }]));
      });
    const items = (count: number, length = 80): Buffer[] => Array.from({ length: count }, () => Buffer.alloc(length, 1));
    const script = Buffer.alloc(3_600, OP_CHECKSIG);
    expect(unlocked(P2WSH, ...items(100), script)).to.equal(undefined);
    for (const witness of [
      [...items(101), script],
      [...items(1, 81), script],
      [...items(100), Buffer.alloc(3_601)]
    ])
      expect(unlocked(P2WSH, ...witness)).to.equal('bad-witness-nonstandard');
    expect(unlocked(P2WPKH, ...items(2, 520))).to.equal(undefined);
    const redeemed = (redeem: Buffer, ...witness: Buffer[]): unknown =>
      refusalOf(() => {
        checkWitnesses(candidate({ inputs: [{ ...input(0, pushOf(redeem)), witness }] }, [{ script: P2SH }]));
      });
    expect(redeemed(P2WSH, ...items(100), script)).to.equal(undefined);
    expect(redeemed(P2WSH, ...items(101), script)).to.equal('bad-witness-nonstandard');
    expect(redeemed(script.subarray(0, 32), ...items(1))).to.equal('bad-witness-nonstandard');
    // Nothing is known of other versions there.
    expect(redeemed(TAPROOT, ...items(102))).to.equal(undefined);
    // With an annex.
    expect(unlocked(TAPROOT, ...items(1, 64), Buffer.of(0x50))).to.equal('bad-witness-nonstandard');
    expect(unlocked(TAPROOT, ...items(1, 64))).to.equal(undefined);
    for (const locking of [Buffer.from('51024e73', 'hex'), Buffer.from(`76a914${'00'.repeat(20)}88ac`, 'hex')])
      expect(unlocked(locking, ...items(1))).to.equal('bad-witness-nonstandard');
  });

  it('costs at most 16,000 for signature operations', () => {
    const cost = (multisigs: number, checksigs: number): unknown =>
      refusalOf(() => {
        const script = Buffer.concat([Buffer.alloc(multisigs, OP_CHECKMULTISIG), Buffer.alloc(checksigs, OP_CHECKSIG)]);
        checkSigopCost(candidate({ outputs: [{ value: 1_000, script }] }, [{ script: Buffer.of(OP_0) }]));
      });
    expect(cost(200, 0)).to.equal(undefined);
    expect(cost(200, 1)).to.equal('bad-txns-too-many-sigops, 16004');
  });

  it('makes it as large as its signature operations', () => {
    const { size, weight, offered } = candidate({ outputs: [{ value: 1_000, script: Buffer.alloc(10, OP_CHECKSIG) }] });
    expect(weight).to.equal((40 + 1) * 20);
    expect(size).to.equal(205);
    expect(offered.transaction.weight).to.be.below(weight);
    // A witness takes fractions of a virtual byte.
    const witnessed = candidate({ inputs: [{ ...input(0), witness: [Buffer.alloc(3)] }] });
    expect(witnessed.weight % 4).to.equal(3);
    expect(witnessed.size).to.equal((witnessed.weight + 1) / 4);
  });

  it('pays what a full pool asks for before what is asked for always', () => {
    const fee = (paid: number, floor: number): unknown =>
      refusalOf(() => {
        checkFee(paid, 201, { floor, relay: 100 });
      });
    expect(fee(21, 0)).to.equal(undefined);
    expect(fee(20, 0)).to.equal('min relay fee not met, 20 < 21');
    expect(fee(31, 150)).to.equal(undefined);
    expect(fee(30, 150)).to.equal('mempool min fee not met, 30 < 31');
    expect(fee(20, 150)).to.equal('mempool min fee not met, 20 < 31');
    expect(fee(0, 1)).to.equal('mempool min fee not met, 0 < 1');
  });

  it('is dust below the limits of Bitcoin Core', () => {
    const limits = [
      `76a914${'00'.repeat(20)}88ac`,
      P2SH.toString('hex'),
      P2WPKH.toString('hex'),
      `0020${'00'.repeat(32)}`,
      `5120${'00'.repeat(32)}`,
      '51024e73',
      '6a',
      // The length of a script takes one byte up to 252, and three from there on.
      '51'.repeat(252),
      '51'.repeat(253)
    ];
    expect(limits.map((hex) => dustLimit(Buffer.from(hex, 'hex')))).to.deep.equal([546, 540, 294, 330, 330, 240, 0, 1_227, 1_236]);
    expect(feeAt(100, 1)).to.equal(1);
  });
});
