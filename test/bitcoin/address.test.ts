import { createHash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { writeAddress, writeKeyAddress, type AddressPrefixes } from '../../lib/bitcoin/address';
import { writeBase58Check } from '../../lib/bitcoin/base58';
import { writeSegwitAddress } from '../../lib/bitcoin/bech32';
import { scriptTypeOf } from '../../lib/bitcoin/script-type';
import { TextWriter } from '../../lib/bitcoin/text-writer';

const MAIN: AddressPrefixes = { pubkeyhash: 0x00, scripthash: 0x05, bech32: 'bc' };

const reference = createBase58check((data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest()));

const text = (write: (writer: TextWriter) => void): string => {
  const writer = new TextWriter(4);
  write(writer);
  return writer.toString();
};

/** The address of a script in hex, empty when it has none. */
const addressOf = (hex: string, prefixes = MAIN): string => {
  const script = Buffer.from(hex, 'hex');
  return text((writer) => writeAddress(writer, script, 0, script.length, scriptTypeOf(script), prefixes));
};

describe('writeBase58Check', () => {
  it('writes what @scure/base encodes', () => {
    const hash = fc.oneof(
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      fc.nat(20).map((zeros) => new Uint8Array(20).fill(255, zeros))
    );
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(0, 5, 111, 196, 255), fc.nat(255)), hash, fc.nat(3), (version, data, start) => {
        const source = Buffer.concat([Buffer.alloc(start, 9), data]);
        expect(text((writer) => writeBase58Check(writer, version, source, start))).to.equal(
          reference.encode(Uint8Array.of(version, ...data))
        );
      }),
      { numRuns: 1000 }
    );
  });
});

describe('writeSegwitAddress', () => {
  it('writes what @scure/base encodes: bech32 for version 0, bech32m above', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('bc', 'tb', 'bcrt', 'rb'),
        fc.nat(16),
        fc.uint8Array({ minLength: 2, maxLength: 40 }),
        (prefix, version, program) => {
          const coder = version === 0 ? bech32 : bech32m;
          expect(text((writer) => writeSegwitAddress(writer, prefix, version, Buffer.from(program)))).to.equal(
            coder.encode(prefix, [version, ...coder.toWords(program)])
          );
        }
      ),
      { numRuns: 1000 }
    );
  });
});

describe('writeAddress', () => {
  it('writes the examples of BIP173 and BIP350', () => {
    expect(addressOf('0014751e76e8199196d454941c45d1b3a323f1433bd6')).to.equal('bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4');
    expect(addressOf('00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262', { ...MAIN, bech32: 'tb' })).to.equal(
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7'
    );
    expect(addressOf('5128751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6')).to.equal(
      'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'
    );
    expect(addressOf('6002751e')).to.equal('bc1sw50qgdz25j');
    expect(addressOf('512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798')).to.equal(
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'
    );
  });

  it("gives a script that holds a key the address of the key's hash", () => {
    const key = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    expect(addressOf(`21${key}ac`)).to.equal('1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH');
    expect(text((writer) => writeKeyAddress(writer, Buffer.from(key, 'hex'), MAIN))).to.equal('1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH');
    expect(addressOf('76a914751e76e8199196d454941c45d1b3a323f1433bd688ac')).to.equal('1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH');
    expect(addressOf('a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487')).to.equal('3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN');
  });

  it('writes nothing for scripts that have not exactly one address', () => {
    const multisig = `5121${'02'.repeat(33)}51ae`;
    for (const hex of ['', '6a', '51', '0015' + '00'.repeat(21), multisig]) expect(addressOf(hex), hex).to.equal('');
  });
});
