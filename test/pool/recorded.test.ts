import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { isOnlyTakenHere, readSteps, RecordedPool, type RecordedStep } from './recorded-pool';
import { projectFolder } from '../support/process/project-folder';
import { sharedFolder } from '../support/recorded/shared';

/** All steps; without the shared folder, those of the vectors, which are among them with the same answers. */
const OWN = join(projectFolder, 'test/vectors/pool/steps.jsonl.gz');
const WHOLE = join(sharedFolder() ?? '', 'fixtures/pool/policy-A.jsonl.gz');

/** What is refused, in which words, and what the pool is after each step. */
async function expectSameAnswers(pool: RecordedPool, steps: readonly RecordedStep[], alone: boolean): Promise<void> {
  for (const step of steps) {
    const answers = await pool.take(step, alone);
    const { send, entry, tip, test, pool: recorded } = step.core31;
    const then = { ...recorded, added: [...recorded.added].sort(), removed: [...recorded.removed].sort() };
    const asked = test === undefined || step.setup === true ? {} : { test };
    expect(answers, step.id).to.deep.equal({ ...asked, send, ...(entry && { entry }), ...(tip !== undefined && { tip }), pool: then });
  }
}

describe('the modern pool, step by step as recorded of Bitcoin Core 31', () => {
  let pool: RecordedPool | undefined;

  afterEach(async () => {
    await pool?.close();
    pool = undefined;
  });

  if (existsSync(WHOLE))
    it('takes, replaces and refuses the same transactions, and is the same pool after each of all steps, with blocks and a reorganization', async () => {
      const steps = readSteps(WHOLE);
      const own = new Set(readSteps(OWN).map(({ id }) => id));
      expect(steps.filter(({ id }) => own.has(id))).to.have.lengthOf(own.size);
      pool = await RecordedPool.open();
      const followed = steps.filter((step) => !isOnlyTakenHere(step));
      expect(steps.length - followed.length).to.equal(4);
      await expectSameAnswers(pool, followed, false);
    }).timeout(900_000);
  else
    it('takes, replaces and refuses the same transactions, in the same words, alone and in packages', async () => {
      console.log('      some of the steps: the shared folder with all of them is not here');
      const steps = readSteps(OWN);
      expect(steps).to.have.length.above(500);
      pool = await RecordedPool.open();
      await expectSameAnswers(pool, steps, true);
    }).timeout(300_000);
});
