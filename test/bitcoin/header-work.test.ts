import { expect } from 'chai';
import { describe, it } from 'mocha';
import { hash256, toDisplayHex } from '../../lib/bitcoin/hash';
import {
  bitsOf,
  medianTimePast,
  merkleRootOf,
  nextHeader,
  nonceOf,
  previousHashOf,
  timeOf,
  versionOf,
  type HeaderFold
} from '../../lib/bitcoin/header';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { difficultyOf, proofOf, targetOf } from '../../lib/bitcoin/work';
import { chainAActiveBlocks, recordedBody, recordedSuccesses } from '../support/chain/chain-a';

interface RecordedHeader {
  readonly version: number;
  readonly merkleroot: string;
  readonly time: number;
  readonly nonce: number;
  readonly bits: string;
  readonly previousblockhash?: string;
}

describe('header fields', () => {
  it('equal those that the reference reads in the same headers', () => {
    const answers = recordedSuccesses('headers', 'bin').filter(({ body, bodyBase64 }) => (body ?? bodyBase64) !== '');
    const texts = new Map(
      recordedSuccesses('headers', 'json').map((answer) => [answer.path.replace('.json', ''), recordedBody(answer).toString()])
    );
    let seen = 0;
    for (const answer of answers) {
      const raw = recordedBody(answer);
      const headers = JSON.parse(texts.get(answer.path.replace('.bin', '')) ?? '[]') as RecordedHeader[];
      for (const [i, expected] of headers.entries()) {
        const header = raw.subarray(i * 80, i * 80 + 80);
        expect({
          version: versionOf(header),
          merkleroot: toDisplayHex(merkleRootOf(header)),
          time: timeOf(header),
          nonce: nonceOf(header),
          bits: bitsOf(header).toString(16),
          previous: toDisplayHex(previousHashOf(header))
        }).to.deep.equal({
          version: expected.version,
          merkleroot: expected.merkleroot,
          time: expected.time,
          nonce: expected.nonce,
          bits: expected.bits,
          previous: expected.previousblockhash ?? '0'.repeat(64)
        });
        seen++;
      }
    }
    expect(seen).to.be.above(500);
  });
});

describe('work and median time past of a chain of headers', () => {
  it('equal those of the reference', () => {
    interface Told {
      readonly hash: string;
      readonly chainwork: string;
      readonly mediantime: number;
    }
    const told = new Map<string, Told>();
    for (const answer of recordedSuccesses('headers', 'json'))
      for (const header of JSON.parse(recordedBody(answer).toString()) as Told[]) told.set(header.hash, header);
    let fold: HeaderFold | undefined;
    let seen = 0;
    for (const { raw } of chainAActiveBlocks()) {
      const header = raw.subarray(0, 80);
      fold = nextHeader(fold, header);
      const expected = told.get(toDisplayHex(hash256(header)));
      if (expected === undefined) continue;
      expect({ chainwork: fold.chainwork.toString(16).padStart(64, '0'), mediantime: fold.medianTime }).to.deep.equal({
        chainwork: expected.chainwork,
        mediantime: expected.mediantime
      });
      seen++;
    }
    expect(seen).to.be.above(500);
    expect(fold?.times).to.have.length(11);
  });
});

describe('medianTimePast', () => {
  it('is the middle of the times in order, the later of two', () => {
    expect(medianTimePast([5])).to.equal(5);
    expect(medianTimePast([9, 100])).to.equal(100);
    expect(medianTimePast([9, 100, 20])).to.equal(20);
    expect(medianTimePast([11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6])).to.equal(6);
  });

  it('does not reorder its argument', () => {
    const times = [3, 1, 2];
    medianTimePast(times);
    expect(times).to.deep.equal([3, 1, 2]);
  });

  it('refuses no times at all', () => {
    expect(() => medianTimePast([])).to.throw(RangeError, 'at least one block');
  });
});

describe('targets', () => {
  it('come out of their compact form as in the reference', () => {
    const targets: [number, bigint][] = [
      [0x1d00ffff, 0xffffn << 208n],
      [0x207fffff, 0x7fffffn << 232n],
      [0x05009234, 0x92340000n],
      [0x04123456, 0x12345600n],
      [0x03123456, 0x123456n],
      [0x02123456, 0x1234n],
      [0x01123456, 0x12n],
      [0x00123456, 0n],
      [0x04923456, 0n],
      [0xff123456, 0n]
    ];
    for (const [bits, target] of targets) expect(targetOf(bits), bits.toString(16)).to.equal(target);
  });

  it('give the work that it takes to reach them', () => {
    expect(proofOf(0x1d00ffff)).to.equal(0x100010001n);
    expect(proofOf(0x207fffff)).to.equal(2n);
    expect(proofOf(0x04923456)).to.equal(0n);
  });
});

describe('difficultyOf', () => {
  it('is 1 at the easiest target of the main network', () => {
    expect(difficultyOf(0x1d00ffff)).to.equal(1);
    expect(difficultyOf(0x1b0404cb)).to.equal(16307.420938523983);
    expect(difficultyOf(0x207fffff)).to.equal(4.6565423739069247e-10);
  });

  it('refuses bits without a mantissa', () => {
    expect(() => difficultyOf(0x1d000000)).to.throw(MalformedBytesError, '1d000000');
  });
});
