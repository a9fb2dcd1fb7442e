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

const UNDO_DEPTH = 6;

/** When a process is killed: `ms` after it has said `said`. */
interface Moment {
  readonly said: KilledNodeMessage;
  readonly ms: number;
  /** Whether the index by script is deleted before, so that it is filled again. */
  readonly fromScratch: boolean;
}

/** At least one kill of each kind: while rows are written to files, while files are sorted, in lockstep. */
const KINDS: readonly (readonly [said: KilledNodeMessage, mostMs: number, fromScratch: boolean])[] = [
  ['partitioning', 60, true],
  ['sorting', 30, false],
  ['right', 300, false]
];
const RARER_KINDS: typeof KINDS = [
  ['sorting', 30, true],
  ['catching-up', 20, true],
  ['catching-up', 100, false],
  ['opening', 300, false]
];

describe('a node with an index by script that is killed', function () {
  const seed = testSeed();
  const kinds = testScale() > 1 ? [...KINDS, ...RARER_KINDS] : KINDS;
  const moments: Moment[] = Array.from({ length: testScale() }, (_, round) =>
    kinds.map(([said, mostMs, fromScratch], i) => {
      const [ms = 0] = fc.sample(fc.integer({ min: 0, max: mostMs }), { seed: seed + round * 10 + i, numRuns: 1 });
      return { said, ms, fromScratch };
    })
  ).flat();
  this.timeout(600_000 * testScale());
  let folder: string;
  let child: ChildProcess | undefined;
  let words = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-scripts-kill-'));
  });

  after(async () => {
    await kill();
    await rm(folder, { recursive: true });
  });

  /** Starts a process on the folder and waits until it says `said`, or until all is right if it never says that. */
  async function untilSaid(turn: number, { said, fromScratch }: Moment): Promise<void> {
    words = '';
    if (fromScratch) for (const name of ['scripts', 'scripts-filling']) await rm(join(folder, name), { recursive: true, force: true });
    const started = fork(compiledProgram('killed-node'), [folder, turn, seed + turn, UNDO_DEPTH, 'blocks', 'scripts'].map(String), {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc']
    });
    child = started;
    started.stderr?.on('data', (text: Buffer) => {
      words += text.toString();
    });
    await new Promise<void>((resolve, reject) => {
      started.on('message', (message) => {
        if (message === said || message === 'right') resolve();
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

  it(`is right whenever it is opened again: ${moments.length} kills, TEST_SEED=${seed}`, async () => {
    for (const [turn, moment] of moments.entries()) {
      await untilSaid(turn, moment);
      await setTimeout(moment.ms);
      expect(child?.exitCode, words).to.equal(null);
      await kill();
    }
    await untilSaid(moments.length, { said: 'right', ms: 0, fromScratch: false });
  });
});
