import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { multisigOf, scriptTypeOf, type ScriptType } from '../../lib/bitcoin/script-type';

const typeOf = (hex: string): ScriptType => scriptTypeOf(Buffer.from(hex, 'hex'));

const compressed = `02${'11'.repeat(32)}`;
const uncompressed = `04${'11'.repeat(64)}`;
const key = `21${compressed}`;
const hash = '11'.repeat(20);
const number = (n: number): string => (0x50 + n).toString(16);

describe('scriptTypeOf', () => {
  const cases: [ScriptType, Record<string, string>][] = [
    ['pubkey', { compressed: `${key}ac`, uncompressed: `41${uncompressed}ac`, hybrid: `4106${'11'.repeat(64)}ac` }],
    ['pubkeyhash', { plain: `76a914${hash}88ac` }],
    ['scripthash', { plain: `a914${hash}87` }],
    [
      'multisig',
      {
        'one of one': `51${key}51ae`,
        'two of three': `52${key.repeat(3)}53ae`,
        'sixteen of sixteen': `60${key.repeat(16)}60ae`,
        'one of seventeen': `51${key.repeat(17)}0111ae`,
        'twenty of twenty': `0114${key.repeat(20)}0114ae`,
        'mixed keys': `51${key}41${uncompressed}52ae`,
        'a key in OP_PUSHDATA1': `514c${key}51ae`
      }
    ],
    [
      'nulldata',
      { empty: '6a', data: '6a0548656c6c6f', numbers: '6a00514f60', OP_RESERVED: '6a50', large: `6a4d0010${'00'.repeat(4096)}` }
    ],
    ['witness_v0_keyhash', { plain: `0014${hash}` }],
    ['witness_v0_scripthash', { plain: `0020${'11'.repeat(32)}` }],
    ['witness_v1_taproot', { plain: `5120${'11'.repeat(32)}` }],
    ['anchor', { plain: '51024e73' }],
    [
      'witness_unknown',
      {
        shortest: '51024e74',
        longest: `6028${'11'.repeat(40)}`,
        'a taproot program of version 2': `5220${'11'.repeat(32)}`,
        'an anchor of version 2': '52024e73'
      }
    ],
    [
      'nonstandard',
      {
        empty: '',
        'version 0 of another length': `0015${hash}11`,
        'witness of one byte': '510111',
        'witness of 41 bytes': `5129${'11'.repeat(41)}`,
        'witness with OP_PUSHDATA1': `514c20${'11'.repeat(32)}`,
        'OP_RETURN and no push': '6aac',
        'OP_RETURN and a truncated push': '6a05ffff',
        'OP_PUSHDATA1 key hash': `76a94c14${hash}88ac`,
        'OP_PUSHDATA1 script hash': `a94c14${hash}87`,
        'OP_PUSHDATA1 key': `4c${key}ac`,
        'key with a wrong header': `2105${'11'.repeat(32)}ac`,
        'key with a wrong length': `2104${'11'.repeat(32)}ac`,
        'none of one': `00${key}51ae`,
        'two of one': `52${key}51ae`,
        'one of none': '5150ae',
        'one of two with one key': `51${key}52ae`,
        'one of twenty-one': `51${key.repeat(21)}0115ae`,
        'one of seventeen in OP_PUSHDATA1': `51${key.repeat(17)}4c0111ae`,
        'one of sixteen that is pushed': `51${key.repeat(16)}0110ae`,
        'seventeen of two bytes': `51${key.repeat(17)}021100ae`,
        'multisig and more': `51${key}5151ae`,
        'multisig of no key': `5121${'11'.repeat(33)}51ae`,
        'multisig cut short': `51${key}21ae`
      }
    ]
  ];

  for (const [type, scripts] of cases)
    it(`recognizes ${type}: ${Object.keys(scripts).join(', ')}`, () => {
      for (const [name, hex] of Object.entries(scripts)) expect(typeOf(hex), name).to.equal(type);
    });

  it('has a type for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(scriptTypeOf(Buffer.from(bytes))).to.be.a('string');
      })
    );
  });
});

describe('multisigOf', () => {
  it('finds the keys, repeats kept, and how many have to sign', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(compressed, uncompressed), { minLength: 1, maxLength: 16 }),
        fc.integer({ min: 1, max: 16 }),
        (keys, required) => {
          const pushes = keys.map((hex) => (hex.length / 2).toString(16) + hex).join('');
          const found = multisigOf(Buffer.from(`${number(required)}${pushes}${number(keys.length)}ae`, 'hex'));
          const expected = required <= keys.length ? { required, keys } : undefined;
          expect(found && { required: found.required, keys: found.keys.map((bytes) => bytes.toString('hex')) }).to.deep.equal(expected);
        }
      )
    );
  });
});
