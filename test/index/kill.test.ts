import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { compiledProgram } from '../support/compiled';
import { testScale, testSeed } from '../support/scale';
import type { KilledNodeMessage } from '../support/killed-node';

const KILLS = 10;

/** When a process is killed: `ms` after it has said `said`. */
interface Moment {
  readonly said: KilledNodeMessage;
  readonly ms: number;
  readonly undoDepth: number;
  /** Whether the index is deleted before, so that it starts from nothing. */
  readonly anew: boolean;
}

const moment: fc.Arbitrary<Moment> = fc.record({
  said: fc.oneof({ weight: 1, arbitrary: fc.constant('opening' as const) }, { weight: 3, arbitrary: fc.constant('right' as const) }),
  ms: fc.integer({ min: 0, max: 400 }),
  undoDepth: fc.constantFrom(3, 1_000),
  anew: fc.boolean()
});

for (const bootstrap of ['blocks', 'coins'])
  describe(`a node and its index that are killed, started from ${bootstrap}`, function () {
    const seed = testSeed();
    const kills = KILLS * testScale();
    this.timeout(300_000 * testScale());
    let folder: string;
    let child: ChildProcess | undefined;
    let words = '';

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'rest-kill-'));
    });

    after(async () => {
      await kill();
      await rm(folder, { recursive: true });
    });

    /** Starts a process on the folder and waits until it says `said`. */
    async function untilSaid(turn: number, { said, undoDepth, anew }: Moment): Promise<void> {
      words = '';
      // An index that is built from blocks is killed often enough at its beginning.
      if (anew && bootstrap === 'coins') await rm(join(folder, 'index'), { recursive: true, force: true });
      const started = fork(compiledProgram('killed-node'), [folder, turn, seed + turn, undoDepth, bootstrap].map(String), {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc']
      });
      child = started;
      started.stderr?.on('data', (text: Buffer) => {
        words += text.toString();
      });
      await new Promise<void>((resolve, reject) => {
        started.on('message', (message) => {
          if (message === said) resolve();
        });
        started.once('close', () => {
          reject(new Error(`the process ended before it was '${said}': ${words}`));
        });
      });
    }

    async function kill(): Promise<void> {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    }

    it(`are right whenever they are opened again: ${kills} kills, TEST_SEED=${seed}`, async () => {
      for (const [turn, when] of fc.sample(moment, { seed, numRuns: kills }).entries()) {
        await untilSaid(turn, when);
        await setTimeout(when.ms);
        expect(child?.exitCode, words).to.equal(null);
        await kill();
      }
      await untilSaid(kills, { said: 'right', ms: 0, undoDepth: 1_000, anew: false });
    });
  });
