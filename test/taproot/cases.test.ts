import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadWasmCurve, type Curve } from '../../lib/taproot/curve';
import { projectFolder } from '../support/process/project-folder';
import { needsShared } from '../support/recorded/shared';
import { readCases } from './cases';
import { VALID, verdict } from './verdict';

/** Answers from memory what it was asked before: a spend that is judged by the rules of blocks and of the pool has the same signatures. */
function rememberingCurve(curve: Curve): Curve {
  const known = new Map<string, boolean>();
  const once = (asked: readonly unknown[], answer: () => boolean): boolean => {
    const question = asked.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value))).join();
    const isSo = known.get(question) ?? answer();
    known.set(question, isSo);
    return isSo;
  };
  return {
    verifySchnorr: (...asked) => once(asked, () => curve.verifySchnorr(...asked)),
    isTweaked: (...asked) => once(asked, () => curve.isTweaked(...asked))
  };
}

/** Checks every case of a file and returns how many cases it has, and how many of them were checked. */
async function checkCases(path: string): Promise<[count: number, checked: number]> {
  const curve = rememberingCurve(await loadWasmCurve());
  const { count, taproot } = readCases(path);
  for (const { comment, input, success, standard, failure } of taproot) {
    expect(verdict(success, input, 'block', curve), comment).to.equal(VALID);
    expect(verdict(success, input, 'policy', curve), `${comment}, in the pool`).to.equal(standard);
    if (failure !== undefined) expect(verdict(failure.spend, input, 'block', curve), `${comment}, made wrong`).to.equal(failure.error);
  }
  return [count, taproot.length];
}

describe("the cases of Bitcoin Core's test of taproot", () => {
  it('have its verdicts and its words, one case of each kind', async () => {
    expect(await checkCases(join(projectFolder, 'test/vectors/taproot/cases.jsonl.gz'))).to.deep.equal([153, 153]);
  }).timeout(60_000);

  it('have its verdicts and its words, all cases in which a taproot output is spent', async function () {
    this.timeout(600_000);
    const shared = needsShared(this);
    // The other cases spend outputs of other kinds, or are judged by the rules before taproot.
    expect(await checkCases(join(shared, 'fixtures/pool/taproot-A.jsonl.gz'))).to.deep.equal([2808, 2346]);
  });
});
