import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { basicFilter, filterHashOf, filterHeaderOf, NO_FILTER_HEADER, ScriptHashes } from '../../lib/bitcoin/block-filter';
import { encodeGolombSet } from '../../lib/bitcoin/golomb-set';
import { fromDisplayHex, toDisplayHex } from '../../lib/bitcoin/hash';
import { HIGH, LOW, SipHasher } from '../../lib/bitcoin/siphash';
import { decodeGolombSet, filterMatchesAny } from '../support/client/filter-client';
import { filterFrom } from '../support/index/filters';

type Vector = [
  height: number,
  hash: string,
  block: string,
  spent: string[],
  previous: string,
  filter: string,
  header: string,
  notes: string
];

const [, ...vectors] = JSON.parse(readFileSync(join(__dirname, '../vectors/bip158/testnet-19.json'), 'utf8')) as [unknown, ...Vector[]];

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('the basic filter of a block', () => {
  for (const [height, hash, block, spent, previous, filter, header, notes] of vectors)
    it(`is the one in BIP158 for block ${height}: ${notes}`, () => {
      const raw = bytes(block);
      const made = filterFrom(raw, spent.map(bytes));
      expect(made.toString('hex')).to.equal(filter);
      expect(toDisplayHex(filterHeaderOf(filterHashOf(made), fromDisplayHex(previous)))).to.equal(header);
      const scripts = [...scanBlock(raw).transactions.flatMap(({ outputs }) => outputs.map(({ script }) => script)), ...spent.map(bytes)];
      for (const script of scripts)
        expect(filterMatchesAny(made, fromDisplayHex(hash), [script])).to.equal(script.length > 0 && script[0] !== 0x6a);
    });

  it('starts its chain of filter headers from 32 zero bytes', () => {
    const [, , , , previous = ''] = vectors[0] ?? [];
    expect(toDisplayHex(NO_FILTER_HEADER)).to.equal(previous);
  });

  const hash32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((made) => Buffer.from(made));
  const script = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((made) => Buffer.from(made));

  it('matches each of its scripts, alone and among others, and hardly any other script', () => {
    let [asked, matched] = [0, 0];
    fc.assert(
      fc.property(hash32, fc.array(script, { maxLength: 200 }), fc.array(script, { maxLength: 20 }), (hash, scripts, others) => {
        const hashes = new ScriptHashes(hash, new Uint32Array(scripts.length * 2));
        for (const each of scripts) hashes.addSpent(each, 0, each.length);
        const filter = made(basicFilter(hashes.words));
        for (const each of scripts) {
          expect(filterMatchesAny(filter, hash, [each])).to.equal(true);
          expect(filterMatchesAny(filter, hash, [...others, each])).to.equal(true);
        }
        const own = new Set(scripts.map((each) => each.toString('hex')));
        const foreign = [...new Set(others.map((other) => other.toString('hex')))].filter((other) => !own.has(other)).map(bytes);
        asked += foreign.length;
        matched += foreign.filter((other) => filterMatchesAny(filter, hash, [other])).length;
      })
    );
    expect(asked).to.be.greaterThan(100);
    // One of 784,931 does by chance: two of the two thousand that are asked at most, three times in a million runs.
    expect(matched).to.be.at.most(1);
  });

  it('is the same for any order of its scripts, however often each occurs', () => {
    fc.assert(
      fc.property(hash32, fc.array(script, { maxLength: 50 }), (hash, scripts) => {
        const filterOf = (list: readonly Buffer[]): Buffer => {
          const hashes = new ScriptHashes(hash, new Uint32Array(list.length * 2));
          for (const each of list) hashes.addOutput(each, 0, each.length);
          return made(basicFilter(hashes.words));
        };
        expect(filterOf([...scripts].reverse().concat(scripts))).to.deep.equal(filterOf(scripts));
      })
    );
  });
});

describe('SipHash-2-4', () => {
  const key = Buffer.from(Array.from({ length: 16 }, (_, i) => i));
  const hashOf = (message: Uint8Array, start = 0, end = message.length, of = key): bigint => {
    const words = new Uint32Array(4);
    new SipHasher(of).write(message, start, end, words, 2);
    return (BigInt(words[2 + HIGH] ?? 0) << 32n) | BigInt(words[2 + LOW] ?? 0);
  };

  it('gives the values of its authors', () => {
    expect(hashOf(Buffer.alloc(0))).to.equal(0x726fdb47dd0e0e31n);
    expect(hashOf(Buffer.from(Array.from({ length: 15 }, (_, i) => i)))).to.equal(0xa129ca6149be45e5n);
  });

  it('gives the same as with 64-bit numbers, wherever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.uint8Array({ maxLength: 300 }), fc.nat(9), (of, message, before) => {
        const padded = Buffer.concat([Buffer.alloc(before, 0xff), message, Buffer.alloc(9, 0xff)]);
        expect(hashOf(padded, before, before + message.length, Buffer.from(of))).to.equal(sipHash(Buffer.from(of), message));
      })
    );
  });
});

describe('a Golomb-coded set', () => {
  const hashes = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 300 });
  const wordsOf = (list: readonly bigint[]): Uint32Array<ArrayBuffer> => new Uint32Array(BigUint64Array.from(list).buffer);

  it('has each hash spread over its range', () => {
    fc.assert(
      fc.property(fc.oneof(hashes, fc.constant([2n ** 64n - 1n, 0n])), (list) => {
        const distinct = [...new Set(list)];
        const range = BigInt(distinct.length) * 784_931n;
        const expected = distinct.map((hash) => Number((hash * range) >> 64n)).sort((a, b) => a - b);
        expect([...decodeGolombSet(made(encodeGolombSet(wordsOf(list))))]).to.deep.equal(expected);
      })
    );
  });

  it('spreads hashes over the largest possible range', () => {
    const count = 2 ** 18;
    const list = Array.from({ length: count }, (_, i) => BigInt.asUintN(64, 0x9e3779b97f4a7c15n * BigInt(i + 1)));
    const range = BigInt(count) * 784_931n;
    const numbers = decodeGolombSet(made(encodeGolombSet(wordsOf(list))));
    const sorted = BigUint64Array.from(list).sort();
    for (let i = 0; i < count; i += 997) expect(numbers[i]).to.equal(Number(((sorted[i] ?? 0n) * range) >> 64n));
    expect(numbers.at(-1)).to.equal(Number(((sorted.at(-1) ?? 0n) * range) >> 64n));
  });
});

function made(filter: Generator<void, Buffer>): Buffer {
  for (;;) {
    const { done, value } = filter.next();
    if (done === true) return value;
  }
}

/** SipHash as its authors wrote it. */
function sipHash(key: Buffer, message: Uint8Array): bigint {
  const mask = 2n ** 64n - 1n;
  const rotate = (x: bigint, by: bigint): bigint => ((x << by) | (x >> (64n - by))) & mask;
  const [k0, k1] = [key.readBigUInt64LE(0), key.readBigUInt64LE(8)];
  let [v0, v1, v2, v3] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn, k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n];
  const rounds = (count: number): void => {
    for (; count > 0; count--) {
      v0 = (v0 + v1) & mask;
      v1 = rotate(v1, 13n) ^ v0;
      v0 = rotate(v0, 32n);
      v2 = (v2 + v3) & mask;
      v3 = rotate(v3, 16n) ^ v2;
      v0 = (v0 + v3) & mask;
      v3 = rotate(v3, 21n) ^ v0;
      v2 = (v2 + v1) & mask;
      v1 = rotate(v1, 17n) ^ v2;
      v2 = rotate(v2, 32n);
    }
  };
  const padded = Buffer.alloc((Math.floor(message.length / 8) + 1) * 8);
  padded.set(message);
  padded[padded.length - 1] = message.length;
  for (let at = 0; at < padded.length; at += 8) {
    const m = padded.readBigUInt64LE(at);
    v3 ^= m;
    rounds(2);
    v0 ^= m;
  }
  v2 ^= 0xffn;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}
