import { expect } from 'chai';
import { describe, it } from 'mocha';
import { checkForm, checkLength, checkStandard } from '../../lib/policy/form';
import { LIMITS } from '../../lib/policy/limits';
import { PolicyRefusal } from '../../lib/policy/refusal';
import { input, offered, P2WPKH } from './offered';
import type { MadeTransaction } from '../taproot/made-transaction';

const [OP_RETURN, OP_1, OP_4, OP_CHECKMULTISIG] = [0x6a, 0x51, 0x54, 0xae];
const NOTHING = Buffer.alloc(36);
NOTHING.writeUInt32LE(0xffff_ffff, 32);
const BLOCK_BYTES = 1_000_000;
const MAX_MONEY = 2_100_000_000_000_000;
/** Written without a sign. */
const NEGATIVE = 2 ** 64 - 2 ** 32;

const refusalOf = (check: () => void): [kind: string, message: string] | undefined => {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyRefusal)) throw error;
    return [error.kind, error.message];
  }
};
const form = (parts: Partial<MadeTransaction>): unknown => refusalOf(() => checkForm(offered(parts)));
const standard = (parts: Partial<MadeTransaction>): unknown => refusalOf(() => checkStandard(offered(parts)));

/** A script of one push. */
const pushOf = (length: number): Buffer => Buffer.concat([Buffer.of(0x4d, length & 0xff, length >> 8), Buffer.alloc(length, 1)]);
const scriptSig = (length: number): Buffer => Buffer.concat([...Array<Buffer>(3).fill(pushOf(500)), pushOf(length - 3 * 503 - 3)]);
const multisig = (keys: number): Buffer => {
  const key = Buffer.concat([Buffer.of(33, 2), Buffer.alloc(32, 5)]);
  return Buffer.concat([Buffer.of(OP_1), ...Array<Buffer>(keys).fill(key), Buffer.of(OP_1 + keys - 1, OP_CHECKMULTISIG)]);
};

describe('the form of a transaction for the pool', () => {
  it('is what blocks ask for', () => {
    expect(form({})).to.equal(undefined);
    expect(form({ inputs: [{ ...input(0), outpoint: NOTHING, script: Buffer.of(1, 1) }] })).to.deep.equal(['invalid', 'coinbase']);
    for (const [length, reason] of [
      [1, 'bad-cb-length'],
      [2, 'coinbase'],
      [100, 'coinbase'],
      [101, 'bad-cb-length']
    ] as const)
      expect(form({ inputs: [{ ...input(0), outpoint: NOTHING, script: Buffer.alloc(length, 1) }] })).to.deep.equal(['invalid', reason]);
    expect(form({ inputs: [input(0), { ...input(1), outpoint: NOTHING }] })).to.deep.equal(['invalid', 'bad-txns-prevout-null']);
    // One half of what stands for no output is an outpoint like others.
    const [noTxid, lastIndex] = [Buffer.alloc(36), Buffer.concat([Buffer.alloc(32, 7), NOTHING.subarray(32)])];
    for (const outpoint of [noTxid, lastIndex]) expect(form({ inputs: [input(0), { ...input(1), outpoint }] })).to.equal(undefined);
    expect(form({ inputs: [input(3), input(3)] })).to.deep.equal(['invalid', 'bad-txns-inputs-duplicate']);
    expect(form({ inputs: [], outputs: [] })).to.deep.equal(['invalid', 'bad-txns-vin-empty']);
    expect(form({ outputs: [] })).to.deep.equal(['invalid', 'bad-txns-vout-empty']);
    const { strippedLength } = offered({ outputs: [{ value: 1, script: Buffer.alloc(BLOCK_BYTES / 2) }] }).transaction;
    const room = BLOCK_BYTES / 2 + BLOCK_BYTES - strippedLength;
    expect(form({ outputs: [{ value: 1, script: Buffer.alloc(room) }] })).to.equal(undefined);
    expect(form({ outputs: [{ value: 1, script: Buffer.alloc(room + 1) }] })).to.deep.equal(['invalid', 'bad-txns-oversize']);
    expect(form({ outputs: [{ value: NEGATIVE, script: P2WPKH }] })).to.deep.equal(['invalid', 'bad-txns-vout-negative']);
    expect(form({ outputs: [{ value: MAX_MONEY + 1, script: P2WPKH }] })).to.deep.equal(['invalid', 'bad-txns-vout-toolarge']);
    const half = { value: MAX_MONEY / 2, script: P2WPKH };
    expect(form({ outputs: [half, { value: MAX_MONEY / 2 + 1, script: P2WPKH }] })).to.deep.equal([
      'invalid',
      'bad-txns-txouttotal-toolarge'
    ]);
    for (const outputs of [[{ value: MAX_MONEY, script: P2WPKH }], [half, half]]) expect(form({ outputs })).to.equal(undefined);
  });

  it('is standard: version, weight, unlocking scripts', () => {
    for (const version of [1, 2, 3]) expect(standard({ version })).to.equal(undefined);
    for (const version of [-1, 0, 4]) expect(standard({ version })).to.deep.equal(['policy', 'version']);
    const data = (length: number): Buffer => Buffer.concat([Buffer.of(OP_RETURN), pushOf(length)]);
    const dataOutputs = (...lengths: number[]): MadeTransaction['outputs'] => lengths.map((length) => ({ value: 0, script: data(length) }));
    const { weight } = offered({ outputs: dataOutputs(50_000, 1_000) }).transaction;
    const left = (LIMITS.mostWeight - weight) / 4;
    expect(standard({ outputs: dataOutputs(50_000, 1_000 + left) })).to.equal(undefined);
    expect(standard({ outputs: dataOutputs(50_000, 1_000 + left + 1) })).to.deep.equal(['policy', 'tx-size']);
    expect(standard({ inputs: [input(0, scriptSig(LIMITS.mostScriptSigBytes))] })).to.equal(undefined);
    expect(standard({ inputs: [input(0, scriptSig(LIMITS.mostScriptSigBytes + 1))] })).to.deep.equal(['policy', 'scriptsig-size']);
    expect(standard({ inputs: [input(0, Buffer.of(OP_RETURN))] })).to.deep.equal(['policy', 'scriptsig-not-pushonly']);
  });

  it('is standard: what is paid to', () => {
    const paid = (...scripts: Buffer[]): unknown => standard({ outputs: scripts.map((script) => ({ value: 10_000, script })) });
    for (const hex of ['51024e73', `5120${'11'.repeat(32)}`, `5210${'11'.repeat(16)}`, '6a', '6a0101'])
      expect(paid(Buffer.from(hex, 'hex')), hex).to.equal(undefined);
    expect(paid(multisig(3))).to.equal(undefined);
    expect(multisig(4).at(-2)).to.equal(OP_4);
    for (const script of [multisig(4), Buffer.of(OP_1), Buffer.from('6a51ff', 'hex'), Buffer.alloc(0)])
      expect(paid(script), script.toString('hex')).to.deep.equal(['policy', 'scriptpubkey']);
  });

  it('has one output of dust at most', () => {
    const outputs = (...values: number[]): unknown => standard({ outputs: values.map((value) => ({ value, script: P2WPKH })) });
    expect(outputs(294, 294)).to.equal(undefined);
    expect(outputs(294, 293)).to.equal(undefined);
    expect(outputs(293, 293)).to.deep.equal(['policy', 'dust']);
  });

  it('is not so short that it could be taken for an inner node of a Merkle tree', () => {
    const length = (script: Buffer): unknown => refusalOf(() => checkLength(offered({ outputs: [{ value: 0, script }] })));
    expect(length(Buffer.alloc(5))).to.equal(undefined);
    expect(length(Buffer.alloc(4))).to.deep.equal(['policy', 'tx-size-small']);
  });
});
