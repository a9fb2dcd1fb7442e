import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CallError } from '../../lib/answers/errors';
import { decodeTransaction } from '../../lib/answers/transactions/decoding';
import { Parameters, requireObject, usageOf, type Parameter } from '../../lib/rpc/parameters';

const PARAMETERS: readonly Parameter[] = [
  { name: 'hash', type: 'string', schema: {} },
  { name: 'verbosity|verbose', type: 'any', isOptional: true, schema: {} },
  { name: 'count', type: 'number', isOptional: true, schema: {} }
];

const read = (params: readonly unknown[] | Record<string, unknown>): Parameters =>
  new Parameters(PARAMETERS, params, usageOf('get', PARAMETERS));

/** `code: message` of the error that is thrown. */
function failure(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof CallError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('parameters', () => {
  it('come by position or by name, or both', () => {
    for (const params of [
      ['ab', 2, 3],
      { hash: 'ab', verbosity: 2, count: 3 },
      { hash: 'ab', verbose: 2, count: 3 },
      { args: ['ab', 2], count: 3 },
      { args: ['ab'], count: 3, verbose: 2 }
    ]) {
      const parameters = read(params);
      expect([parameters.text(0), parameters.verbosity(1, 0), parameters.integer(2)]).to.deep.equal(['ab', 2, 3]);
    }
    expect(read({ hash: 'ab', count: 3 }).verbosity(1, 7)).to.equal(7);
  });

  it('are objects, whose members may be named as well', () => {
    const options = [
      { name: 'list', type: 'array', schema: {} },
      { name: 'options', type: 'object', isOptional: true, members: ['a', 'b'], schema: {} }
    ] as const satisfies readonly Parameter[];
    const objectOf = (params: readonly unknown[] | Record<string, unknown>): unknown => new Parameters(options, params, '').object(1);
    expect(objectOf([[], { a: 1 }])).to.deep.equal({ a: 1 });
    expect(objectOf({ list: [], options: { a: 1 } })).to.deep.equal({ a: 1 });
    expect(objectOf({ list: [], b: 2, a: 1 })).to.deep.equal({ a: 1, b: 2 });
    expect(objectOf([[]])).to.deep.equal({});
    expect(failure(() => objectOf({ list: [], options: {}, a: 1 }))).to.equal('-8: Parameter options conflicts with parameter a');
    expect(failure(() => objectOf({ args: [[], {}], a: 1 }))).to.equal(
      '-8: Parameter options specified twice both as positional and named argument'
    );
    expect(requireObject({ a: 'x' }, { a: 'string', b: 'bool?' })).to.deep.equal({ a: 'x' });
    for (const [value, words] of [
      [5, 'JSON value of type number is not of expected type object'],
      [{}, 'Missing a'],
      [{ a: null }, 'Missing a'],
      [{ a: 1 }, 'JSON value of type number for field a is not of expected type string'],
      [{ a: 'x', c: 1 }, 'Unexpected key c']
    ] as const)
      expect(failure(() => requireObject(value, { a: 'string', b: 'bool?' }))).to.equal(`-3: ${words}`);
  });

  it('are refused when there are too many or too few, with the usage', () => {
    for (const params of [[], {}, ['ab', 1, 2, 3]]) expect(failure(() => read(params))).to.equal('-1: get "hash" ( verbosity count )\n');
  });

  it('are refused by name as Bitcoin Core does it', () => {
    expect(failure(() => read({ hash: 'ab', color: 1 }))).to.equal('-8: Unknown named parameter color');
    expect(failure(() => read({ hash: 'ab', verbose: 1, verbosity: 1 }))).to.equal('-8: Unknown named parameter verbose');
    const twice = (name: string): string => `-8: Parameter ${name} specified twice both as positional and named argument`;
    expect(failure(() => read({ args: ['ab'], hash: 'cd' }))).to.equal(twice('hash'));
    expect(failure(() => read({ args: ['ab', 1], verbose: 1 }))).to.equal(twice('verbosity|verbose'));
    // The first one that is named is the one that is said, and sooner than what is unknown.
    expect(failure(() => read({ args: ['ab', 1, 2], count: 2, verbosity: 1, color: 1 }))).to.equal(twice('verbosity|verbose'));
    expect(failure(() => read({ args: ['ab', 1], count: 2, color: 1 }))).to.equal('-8: Unknown named parameter color');
  });

  it('have types, and all wrong ones are named', () => {
    expect(failure(() => read([1, null, 'x']))).to.equal(
      '-3: Wrong type passed:\n{\n' +
        '    "Position 1 (hash)": "JSON value of type number is not of expected type string",\n' +
        '    "Position 3 (count)": "JSON value of type string is not of expected type number"\n}'
    );
    expect(failure(() => read([null]))).to.include('JSON value of type null is not of expected type string');
    expect(failure(() => read([true]))).to.include('JSON value of type bool is');
    expect(failure(() => read([[]]))).to.include('JSON value of type array is');
    expect(failure(() => read([{}]))).to.include('JSON value of type object is');
  });

  it('give verbosity as a number or a boolean', () => {
    const verbosity = (value: unknown): number => read(['ab', value]).verbosity(1, 1);
    expect([true, false, 3, -1, null].map(verbosity)).to.deep.equal([1, 0, 3, -1, 1]);
    expect(failure(() => verbosity('1'))).to.equal('-3: JSON value of type string is not of expected type number');
    for (const value of [1.5, 2 ** 31, 1e300]) expect(failure(() => verbosity(value))).to.equal('-1: JSON integer out of range');
  });

  it('are hashes with all digits', () => {
    const hash = (value: string): Buffer => read([value]).hash(0, 'blockhash');
    expect(hash('0A'.repeat(31) + 'ff').toString('hex')).to.equal('ff' + '0a'.repeat(31));
    expect(failure(() => hash('abc'))).to.equal("-8: blockhash must be of length 64 (not 3, for 'abc')");
    expect(failure(() => hash('\u00e9'))).to.equal("-8: blockhash must be of length 64 (not 2, for '\u00e9')");
    expect(failure(() => hash('x'.repeat(64)))).to.equal(`-8: blockhash must be hexadecimal string (not '${'x'.repeat(64)}')`);
  });

  it('are amounts to the satoshi', () => {
    const amount = (value: unknown): number => read(['ab', value]).amount(1, -1);
    const read8: readonly [value: unknown, satoshis: number][] = [
      [0.1, 10_000_000],
      ['0.1', 10_000_000],
      [1e-8, 1],
      ['1e-8', 1],
      ['0.00000001', 1],
      [0.29, 29_000_000],
      ['20999999.99999999', 2_099_999_999_999_999],
      [21e6, 2_100_000_000_000_000],
      ['1E+3', 100_000_000_000],
      ['0.100000000000', 10_000_000],
      [0, 0],
      ['-0', 0],
      ['0.000e9', 0],
      ['0.00000000000000000001e20', 100_000_000],
      [`0.1${'0'.repeat(300_000)}`, 10_000_000],
      [null, -1]
    ];
    for (const [value, satoshis] of read8) expect(amount(value), String(value).slice(0, 30)).to.equal(satoshis);
    const zeros = ['0e30', '0e10', '0e-30', '0.0e99999999999999', '-0e-9'];
    for (const value of ['', '1.', '.5', '01', '+1', '1e', ' 1', '0x1', '1e-9', 1e-9, '1e40', 'NaN', ...zeros, `1${'0'.repeat(300_000)}1`])
      expect(
        failure(() => amount(value)),
        String(value).slice(0, 30)
      ).to.equal('-3: Invalid amount');
    for (const value of [-1, '-0.00000001', 21_000_001, '21000000.00000001', '1e9'])
      expect(
        failure(() => amount(value)),
        String(value)
      ).to.equal('-3: Amount out of range');
    expect(failure(() => amount(true))).to.equal('-3: Amount is not a number or string');
    expect(failure(() => read(['ab', 1]).feeRate(1, 0))).to.equal('-8: Fee rates larger than or equal to 1BTC/kvB are not accepted');
  });

  it('are transactions in hex', () => {
    for (const value of ['', '0', '00', 'zz', ' 00'])
      expect(failure(() => decodeTransaction(value))).to.equal('-22: TX decode failed. Make sure the tx has at least one input.');
  });
});
