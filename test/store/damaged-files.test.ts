import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { compiledProgram } from '../support/process/compiled';
import { DAMAGED_PARTS, type DamagedPart, type DamageReport } from '../support/programs/damaged-store';
import { newFolder } from '../support/process/folders';
import { testScale, testSeed } from '../support/process/scale';

const ROUNDS = 8;

/** Parts of files in which every bit counts. */
const ALWAYS_SAID: readonly DamagedPart[] = [
  'records',
  'trailer of a block',
  'filter',
  'metaindex',
  'index',
  'cut off table',
  'missing table',
  'missing manifest',
  'CURRENT',
  'missing CURRENT',
  'missing log'
];

describe('a store on disk with a damaged file', function () {
  this.timeout(300_000 * testScale());
  const seed = testSeed();
  let folder: string;
  let report: DamageReport;

  before(async () => {
    folder = await newFolder();
    // LevelDB can end the process because of bytes that it reads.
    const child = fork(compiledProgram('damaged-store'), [folder, `${seed}`, `${ROUNDS * testScale()}`]);
    child.once('message', (message: DamageReport) => {
      report = message;
    });
    expect(await once(child, 'exit'), `exit code and signal, TEST_SEED=${seed}`).to.deep.equal([0, null]);
  });

  for (const part of DAMAGED_PARTS) {
    it(`is never wrong: ${part}, TEST_SEED=${seed}`, () => {
      const rounds = report.rounds.filter((round) => round.part === part);
      expect(rounds).to.have.length(ROUNDS * testScale());
      expect(rounds.filter(({ outcome }) => outcome === 'wrong')).to.deep.equal([]);
      if (ALWAYS_SAID.includes(part)) expect(rounds.filter(({ outcome }) => outcome !== 'said')).to.deep.equal([]);
      for (const { outcome, what, message } of rounds)
        if (outcome === 'said' && !part.includes('CURRENT')) expect(message).to.include(what.split(':')[0]);
    });
  }
});
