import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inputSigops, sigopsIn } from '../../lib/policy/sigops';
import { candidate, input, P2WPKH } from './offered';

const [OP_0, OP_2, OP_16, OP_DROP] = [0x00, 0x52, 0x60, 0x75];
const [OP_CHECKSIG, OP_CHECKSIGVERIFY, OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY] = [0xac, 0xad, 0xae, 0xaf];

const P2SH = Buffer.from(`a914${'cd'.repeat(20)}87`, 'hex');
const P2WSH = Buffer.from(`0020${'cd'.repeat(32)}`, 'hex');
const TAPROOT = Buffer.from(`5120${'cd'.repeat(32)}`, 'hex');

/** Of two keys. */
const MULTISIG = Buffer.of(OP_2, OP_CHECKMULTISIG);

const pushOf = (data: Buffer): Buffer => Buffer.concat([Buffer.of(data.length), data]);

describe('signature operations', () => {
  it('count one for each signature, and twenty for several keys, or as many as the operation before says', () => {
    for (const opcode of [OP_CHECKSIG, OP_CHECKSIGVERIFY])
      for (const isAccurate of [true, false]) expect(sigopsIn(Buffer.of(opcode, opcode), isAccurate)).to.equal(2);
    for (const opcode of [OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY]) {
      const counts = [
        [OP_0, opcode],
        [OP_2, opcode],
        [OP_16, opcode],
        [OP_2, OP_DROP, opcode]
      ].map((bytes) => [true, false].map((isAccurate) => sigopsIn(Buffer.from(bytes), isAccurate)));
      expect(counts).to.deep.equal([
        [20, 20],
        [2, 20],
        [16, 20],
        [20, 20]
      ]);
    }
  });

  /** What an input counts for: in the cost of its transaction, and of all scripts that it runs. */
  const counted = (locking: Buffer, unlocking: Buffer = Buffer.alloc(0), ...witness: Buffer[]): [cost: number, run: number] => [
    candidate({ inputs: [{ ...input(0, unlocking), witness }] }, [{ script: locking }]).sigopCost,
    inputSigops(unlocking, locking, witness)
  ];

  it('cost four each outside of witnesses, where those of locking scripts count for outputs, not where they are spent', () => {
    expect(candidate({ outputs: [{ value: 1_000, script: MULTISIG }] }, [{ script: Buffer.of(OP_0) }]).sigopCost).to.equal(80);
    expect(counted(Buffer.of(OP_CHECKSIG), MULTISIG)).to.deep.equal([80, 3]);
    expect(counted(P2SH, pushOf(MULTISIG))).to.deep.equal([8, 2]);
    // Nothing is run that is not pushed.
    expect(counted(P2SH, Buffer.of(OP_CHECKSIG))).to.deep.equal([4, 1]);
  });

  it('cost one each in witnesses of version 0, also inside of script hashes', () => {
    for (const [program, witness, count] of [
      [P2WPKH, [], 1],
      [P2WSH, [Buffer.of(OP_CHECKSIG), MULTISIG], 2],
      [P2WSH, [], 0],
      [TAPROOT, [MULTISIG], 0],
      [Buffer.from(`0010${'cd'.repeat(16)}`, 'hex'), [MULTISIG], 0]
    ] as const) {
      expect(counted(program, undefined, ...witness), program.toString('hex')).to.deep.equal([count, count]);
      expect(counted(P2SH, pushOf(program), ...witness), program.toString('hex')).to.deep.equal([count, count]);
    }
  });
});
