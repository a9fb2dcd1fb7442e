import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { fewHeadersJson, headersJson, headersText, textsOfBits } from '../../lib/views/header';
import { PROFILES, type ProfileFields } from '../../lib/views/profile';
import { chainAActiveBlocks, chainAManifest, recordedBody, recordedSuccesses } from '../support/chain/chain-a';
import { chainAView } from './chain-a-views';
import { finish } from '../support/expectations/finish';
import type { HeaderRun } from '../../lib/index/types';

const tipHeight = chainAManifest().height;

/** Heights `from` to before `to` of chain A. */
function columns(from: number, to: number): HeaderRun {
  const views = chainAActiveBlocks()
    .slice(from, to)
    .map(({ hash }) => chainAView(hash));
  const last = views.at(-1);
  return {
    height: from,
    count: to - from,
    headers: Buffer.concat(views.map(({ header }) => header)),
    detailsAt: (i) => {
      const { chainwork, medianTime, transactionCount } = views[i] ?? expect.fail('a header');
      return { chainwork: Buffer.from(chainwork.toString(16).padStart(64, '0'), 'hex'), medianTime, transactionCount };
    },
    lastHash: last?.hash ?? Buffer.alloc(32),
    nextHash: last?.nextHash
  };
}

/** JSON of some headers, assembled from texts of the given lengths, each of which may have more headers than are asked for. */
function written(from: number, to: number, chunk: number, tip = tipHeight, fields: ProfileFields = PROFILES['0.17'].fields): string {
  const parts = [];
  for (let height = from; height < to;) {
    const start = height - (height % chunk);
    const of = headersText(columns(start, Math.min(start + chunk, tipHeight + 1)), fields);
    const count = Math.min(start + of.count, to) - height;
    parts.push({ of, height, count });
    height += count;
  }
  return finish(headersJson(parts, tip)).toString();
}

describe('headersJson', () => {
  it('writes every recorded array byte for byte', () => {
    const answers = recordedSuccesses('headers', 'json');
    expect(answers).to.have.length.above(20);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      const headers = JSON.parse(text) as { height: number }[];
      const first = headers[0]?.height ?? 0;
      expect(written(first, first + headers.length, 64), answer.id).to.equal(text);
    }
  });

  it('writes the same from texts of any lengths', () => {
    fc.assert(
      fc.property(fc.nat(tipHeight), fc.nat(40), fc.integer({ min: 1, max: 50 }), (from, count, chunk) => {
        const to = Math.min(from + count, tipHeight + 1);
        expect(written(from, to, chunk)).to.equal(written(from, to, 2000));
      }),
      { numRuns: 30 }
    );
  });

  it('counts confirmations from the present tip, in an older text', () => {
    const confirmations = (tip: number): unknown[] =>
      (JSON.parse(written(3, 8, 4, tip)) as { confirmations: unknown }[]).map((header) => header.confirmations);
    expect(confirmations(9)).to.deep.equal([7, 6, 5, 4, 3]);
    expect(confirmations(1_000_007)).to.deep.equal([1_000_005, 1_000_004, 1_000_003, 1_000_002, 1_000_001]);
  });

  it('writes no headers as an empty array', () => {
    expect(finish(headersJson([], 5)).toString()).to.equal('[]\n');
  });

  it('writes the same from runs as from texts', () => {
    const runs = [columns(3, 8), columns(8, 9), columns(9, 12)];
    expect(fewHeadersJson(runs, tipHeight, PROFILES['0.17'].fields).toString()).to.equal(written(3, 12, 64));
    expect(fewHeadersJson([], tipHeight, PROFILES['0.17'].fields).toString()).to.equal('[]\n');
  });
});

describe('the target of a block', () => {
  it('has 64 digits, of which the first ones may be zeros', () => {
    expect(textsOfBits(0x1d00ffff).target).to.equal(`00000000ffff${'0'.repeat(52)}`);
    expect(textsOfBits(0x03000001).target).to.equal('1'.padStart(64, '0'));
  });
});
