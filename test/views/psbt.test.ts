import { expect } from 'chai';
import { describe, it } from 'mocha';
import { psbtIn } from '../../lib/bitcoin/psbt/read';
import { PROFILES } from '../../lib/views/profile';
import { psbtText } from '../../lib/views/psbt';
import { coreRegtestPrefixes } from '../support/chain-a';
import { finish } from '../support/finish';

/** A transaction of version 2 with one input and one output. */
const HEAD = '70736274ff01020402000000010401010105010101fb040200000000';
const INPUT = `010e20${'05'.repeat(32)}010f0400000000`;
const OUTPUT = '010308000000000000000001040151';
const KEY = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

/** Steps in which the text is written. */
function stepsOf(inputFields: string, outputFields = ''): number {
  const bytes = Buffer.from(`${HEAD}${INPUT}${inputFields}00${OUTPUT}${outputFields}00`, 'hex');
  const psbt = finish(psbtIn(bytes.toString('base64')));
  return [...psbtText(psbt, { prefixes: coreRegtestPrefixes, fields: PROFILES.modern.fields })].length;
}

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
});
