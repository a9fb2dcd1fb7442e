import { expect } from 'chai';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { psbtIn } from '../../lib/bitcoin/psbt/read';
import { PROFILES } from '../../lib/views/profile';
import { psbtText } from '../../lib/views/psbt';
import { coreRegtestPrefixes } from '../support/chain/chain-a';
import { finish } from '../support/expectations/finish';
import { madeTransaction } from '../support/chain/made-blocks';

const TXID = '05'.repeat(32);
const KEY = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const MAX_MONEY = 21_000_000n * 100_000_000n;

interface MadeInput {
  readonly txid?: string;
  readonly fields?: string;
}

interface MadeOutput {
  readonly value?: bigint;
  readonly fields?: string;
}

function u64(value: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes.toString('hex');
}

/** The text of a PSBT of version 2, as it is written. Fields are hex, `globals` those of the whole. */
function textOf(inputs: readonly MadeInput[], outputs: readonly MadeOutput[], globals = ''): Generator<void, Buffer> {
  const counts = [inputs, outputs].map(({ length }, i) => `010${4 + i}010${length}`).join('');
  const bytes = [
    `70736274ff01020402000000${counts}${globals}01fb040200000000`,
    ...inputs.map(({ txid = TXID, fields = '' }) => `010e20${txid}010f0400000000${fields}00`),
    ...outputs.map(({ value = 0n, fields = '' }) => `010308${u64(value)}01040151${fields}00`)
  ];
  const psbt = finish(psbtIn(Buffer.from(bytes.join(''), 'hex').toString('base64')));
  return psbtText(psbt, { prefixes: coreRegtestPrefixes, fields: PROFILES.modern.fields });
}

/** Steps in which the text is written. */
const stepsOf = (inputFields: string, outputFields = ''): number =>
  [...textOf([{ fields: inputFields }], [{ fields: outputFields }])].length;

interface Shown {
  readonly inputs: readonly [object];
  readonly fee?: number;
}

const shown = (inputs: readonly MadeInput[], outputs: readonly MadeOutput[] = [{}], globals = ''): Shown =>
  JSON.parse(finish(textOf(inputs, outputs, globals)).toString()) as Shown;

/** An input that spends an output of this value. */
const spending = (value: bigint): MadeInput => ({ fields: `01010a${u64(value)}0151` });

describe('the text of a PSBT', () => {
  const least = stepsOf('');

  for (const [what, count, inputFields, outputFields] of [
    ['item of a witness', 100, `01086564${'00'.repeat(100)}`, ''],
    ['path to a key', 2, ['02', '03'].map((sign) => `2206${sign}${KEY}0400000000`).join(''), ''],
    ['field of others', 2, ['00', '01'].map((end) => `04fc0101${end}0101`).join(''), ''],
    ['leaf of a tree', 2, '', '01060801c0015101c00151']
  ] as const)
    it(`is written with a step for each ${what}`, () => {
      expect(stepsOf(inputFields, outputFields) - least).to.equal(count);
    });

  it('has a fee if all amounts and both sums are money', () => {
    const feeOf = (spent: readonly bigint[], paid: readonly bigint[]): number | undefined =>
      shown(
        spent.map(spending),
        paid.map((value) => ({ value }))
      ).fee;
    expect(feeOf([MAX_MONEY], [0n])).to.equal(21_000_000);
    expect(feeOf([5n, 6n], [1n, 2n])).to.equal(8e-8);
    expect(feeOf([0n], [MAX_MONEY])).to.equal(-21_000_000);
    for (const wrong of [[MAX_MONEY, 1n], [MAX_MONEY + 1n], [5n, -2n], [-2n, 5n]]) {
      expect(feeOf(wrong, [0n]), `inputs of ${wrong.join()}`).to.equal(undefined);
      expect(feeOf([MAX_MONEY], wrong), `outputs of ${wrong.join()}`).to.equal(undefined);
    }
  });

  it('has the fee of the output in the whole transaction, whatever the output alone says', () => {
    const raw = madeTransaction([{ txid: Buffer.alloc(32, 1), index: 0 }], [{ value: 9, script: Buffer.of(0x51) }], 0);
    const txid = hash256(raw).toString('hex');
    const whole = `0100${raw.length.toString(16)}${raw.toString('hex')}`;
    expect(shown([{ txid, fields: whole + (spending(7n).fields ?? '') }]).fee).to.equal(9e-8);
  });

  it('says what of it may be changed (BIP370), if it has that field', () => {
    const NAMES = ['inputs_modifiable', 'outputs_modifiable', 'has_sighash_single'];
    for (const flags of [0, 1, 2, 4, 6, 0xf8])
      expect(shown([{}], [{}], `010601${flags.toString(16).padStart(2, '0')}`)).to.include(
        Object.fromEntries(NAMES.map((name, bit) => [name, (flags & (1 << bit)) !== 0]))
      );
    expect(shown([{}])).not.to.have.any.keys(NAMES);
  });

  it('has the sequence of an input only if that has one, also if it is the highest', () => {
    expect(shown([{}]).inputs[0]).not.to.have.property('sequence');
    expect(shown([{ fields: '011004ffffffff' }]).inputs[0]).to.include({ sequence: 0xffff_ffff });
  });

  it('names the sighash type of a signature in a final script', () => {
    const signature = '3006020101020101';
    expect(shown([{ fields: `01070a09${signature}03` }]).inputs[0]).to.have.deep.property('final_scriptSig', {
      asm: `${signature}[SINGLE]`,
      hex: `09${signature}03`
    });
  });

  it('names no sighash type that is unknown', () => {
    expect(shown([{ fields: '01030401000000' }]).inputs[0]).to.include({ sighash: 'ALL' });
    expect(shown([{ fields: '01030455000000' }]).inputs[0]).to.include({ sighash: '' });
  });

  it('has control blocks of one leaf together', () => {
    const [one, other] = [`2215c0${KEY}`, `2215c1${KEY}`];
    expect(shown([{ fields: `${one}0251c0${other}0251c0` }]).inputs[0])
      .to.have.property('taproot_scripts')
      .that.deep.equals([{ script: '51', leaf_ver: 0xc0, control_blocks: [`c0${KEY}`, `c1${KEY}`] }]);
    expect(shown([{ fields: `${one}0251c0${other}0252c0` }]).inputs[0])
      .to.have.property('taproot_scripts')
      .that.has.lengthOf(2);
  });

  it('has the nonce for a leaf whose hash is zero as that for the key path', () => {
    const nonce = (leaf: string): string => `${(67 + leaf.length / 2).toString(16)}1b02${KEY}03${KEY}${leaf}42${'07'.repeat(66)}`;
    const about = { participant_pubkey: `02${KEY}`, aggregate_pubkey: `03${KEY}`, pubnonce: '07'.repeat(66) };
    const noncesOf = (leaf: string): unknown =>
      (shown([{ fields: nonce(leaf) }]).inputs[0] as { musig2_pubnonces: unknown }).musig2_pubnonces;
    for (const keyPath of ['', '00'.repeat(32)]) expect(noncesOf(keyPath)).to.deep.equal([about]);
    const leaf = `${'00'.repeat(31)}01`;
    expect(noncesOf(leaf)).to.deep.equal([{ ...about, leaf_hash: leaf }]);
  });
});
