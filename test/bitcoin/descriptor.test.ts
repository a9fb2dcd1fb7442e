import { ECDH } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { writeDescriptor } from '../../lib/bitcoin/descriptor';
import { writeDescriptorChecksum } from '../../lib/bitcoin/descriptor-checksum';
import { DescriptorError, scriptOfDescriptor } from '../../lib/bitcoin/script-descriptor';
import { scriptTypeOf } from '../../lib/bitcoin/script-type';
import { isXOnlyKey } from '../../lib/bitcoin/secp256k1';
import { TextWriter } from '../../lib/bitcoin/text-writer';

const INPUT = '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const OUTPUT = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The algorithm of BIP380, step by step, in whole numbers. */
function checksumOf(text: string): string {
  let state = 1n;
  const step = (symbol: number): void => {
    const top = state >> 35n;
    state = ((state & 0x7ffffffffn) << 5n) ^ BigInt(symbol);
    const generators = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];
    generators.forEach((generator, i) => {
      if (((top >> BigInt(i)) & 1n) === 1n) state ^= generator;
    });
  };
  let groups: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const place = INPUT.indexOf(text.charAt(i));
    step(place & 31);
    groups.push(place >> 5);
    if (groups.length === 3) {
      step(groups.reduce((sum, group) => sum * 3 + group));
      groups = [];
    }
  }
  if (groups.length > 0) step(groups.reduce((sum, group) => sum * 3 + group));
  for (let i = 0; i < 8; i++) step(0);
  state ^= 1n;
  return Array.from({ length: 8 }, (_, i) => OUTPUT[Number((state >> BigInt(5 * (7 - i))) & 31n)]).join('');
}

/** A key for d = 1, and an x coordinate that no point has (BIP340). */
const KEY = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const Y = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
const NO_KEY = 'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34';

describe('writeDescriptorChecksum', () => {
  const checked = (before: string, text: string): string => {
    const writer = new TextWriter(4);
    writer.ascii(before);
    const start = writer.length;
    writer.ascii(text);
    writeDescriptorChecksum(writer, start);
    return writer.toString().slice(before.length);
  };

  it('writes the example of BIP380', () => {
    expect(checked('', 'raw(deadbeef)')).to.equal('raw(deadbeef)#89f8spxm');
  });

  it('writes the result of the algorithm of BIP380, whatever precedes the text', () => {
    const character = fc.nat(INPUT.length - 1).map((place) => INPUT.charAt(place));
    const text = fc.array(character, { maxLength: 60 }).map((characters) => characters.join(''));
    fc.assert(
      fc.property(text, text, (before, described) => {
        expect(checked(before, described)).to.equal(`${described}#${checksumOf(described)}`);
      }),
      { numRuns: 1_000 }
    );
  });
});

describe('isXOnlyKey', () => {
  /** OpenSSL's answer for the point with an even y. */
  const isPoint = (x: Buffer): boolean => {
    try {
      ECDH.convertKey(Buffer.concat([Buffer.of(2), x]), 'secp256k1');
      return true;
    } catch {
      return false;
    }
  };

  it('agrees with OpenSSL', () => {
    const found = { true: 0, false: 0 };
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(3), (x, before) => {
        const expected = isPoint(Buffer.from(x));
        found[`${expected}`]++;
        expect(isXOnlyKey(Buffer.concat([Buffer.alloc(before, 7), x, Buffer.of(7)]), before)).to.equal(expected);
      }),
      { numRuns: 500 }
    );
    expect([found.true > 50, found.false > 50]).to.deep.equal([true, true]);
  });

  it('agrees with OpenSSL around the ends of the field', () => {
    const p = 2n ** 256n - 2n ** 32n - 977n;
    const ends = [0n, 1n, 2n, 3n, p - 3n, p - 2n, p - 1n, p, p + 1n, p + 2n, 2n ** 256n - 1n];
    for (const x of ends) {
      const bytes = Buffer.from(x.toString(16).padStart(64, '0'), 'hex');
      expect(isXOnlyKey(bytes), x.toString(16)).to.equal(isPoint(bytes));
    }
    expect(isXOnlyKey(Buffer.from(KEY, 'hex'))).to.equal(true);
    expect(isXOnlyKey(Buffer.from(NO_KEY, 'hex'))).to.equal(false);
  });
});

describe('writeDescriptor', () => {
  /** The descriptor without its checksum, and the address that it says it wrote. */
  const described = (hex: string): readonly [string, string | undefined] => {
    const script = Buffer.from(`ff${hex}ff`, 'hex');
    const [start, end] = [1, script.length - 1];
    const writer = new TextWriter(4);
    writer.ascii('before:');
    const place = writeDescriptor(writer, script, start, end, scriptTypeOf(script, start, end), {
      pubkeyhash: 0,
      scripthash: 5,
      bech32: 'bc'
    });
    const text = writer.toString().slice('before:'.length);
    const expression = text.slice(0, -9);
    expect(text).to.equal(`${expression}#${checksumOf(expression)}`);
    return [expression, place && writer.toString().slice(place.start, place.end)];
  };

  it('names the address of scripts that have exactly one', () => {
    const addresses = {
      '76a914751e76e8199196d454941c45d1b3a323f1433bd688ac': '1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH',
      a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487: '3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN',
      '0014751e76e8199196d454941c45d1b3a323f1433bd6': 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      '6002751e': 'bc1sw50qgdz25j',
      '51024e73': 'bc1pfeessrawgf'
    };
    for (const [hex, address] of Object.entries(addresses)) expect(described(hex)).to.deep.equal([`addr(${address})`, address]);
  });

  it('names the key of a taproot output, or its address if the key is not a point', () => {
    expect(described(`5120${KEY}`)).to.deep.equal([`rawtr(${KEY})`, undefined]);
    const [expression, address] = described(`5120${NO_KEY}`);
    expect(address).to.match(/^bc1p[a-z0-9]{58}$/);
    expect(expression).to.equal(`addr(${String(address)})`);
  });

  it('names keys, points or not, but no hybrid ones', () => {
    const [compressed, uncompressed, hybrid, noPoint] = [`02${KEY}`, `04${KEY}${Y}`, `06${KEY}${Y}`, `02${NO_KEY}`];
    for (const key of [compressed, noPoint]) expect(described(`21${key}ac`)).to.deep.equal([`pk(${key})`, undefined]);
    expect(described(`41${uncompressed}ac`)).to.deep.equal([`pk(${uncompressed})`, undefined]);
    expect(described(`41${hybrid}ac`)).to.deep.equal([`raw(41${hybrid}ac)`, undefined]);
    const ofTwo = `5121${noPoint}41${uncompressed}52ae`;
    expect(described(ofTwo)).to.deep.equal([`multi(1,${noPoint},${uncompressed})`, undefined]);
    const withHybrid = `5121${compressed}41${hybrid}52ae`;
    expect(described(withHybrid)).to.deep.equal([`raw(${withHybrid})`, undefined]);
    const ofTwenty = `0114${`21${compressed}`.repeat(20)}0114ae`;
    expect(described(ofTwenty)).to.deep.equal([`multi(20${`,${compressed}`.repeat(20)})`, undefined]);
  });

  it('shows any other script as raw bytes', () => {
    for (const hex of ['', '6a', '6a0548656c6c6f', '51', '05ff', `0015${'11'.repeat(21)}`])
      expect(described(hex)).to.deep.equal([`raw(${hex})`, undefined]);
  });
});

describe('the script of a descriptor', () => {
  it('is refused by its checksum first, then by its characters, then by what it says', () => {
    for (const [text, message] of [
      ['raw(51)é#b#c', "Multiple '#' symbols"],
      ['raw(51)é#b', 'Expected 8 character checksum, not 1 characters'],
      ['raw(51)é#aaaaaaaa', 'Invalid characters in payload'],
      ['raw(z\t)', 'Invalid characters in payload'],
      ['raw(z~)', 'Raw script is not hex']
    ] as const)
      expect(() => scriptOfDescriptor(text, []), text).to.throw(DescriptorError, new RegExp(`^${message}$`));
  });
});
