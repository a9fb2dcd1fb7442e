import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { before, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { KilledChild } from '../support/process/killed-child';
import { testScale, testSeed } from '../support/process/scale';
import type { KilledNodeMessage } from '../support/programs/killed-node';

const SCALE = testScale();

/** When a process is killed: `ms` after it has said `said`, or that all is right. */
interface Moment {
  readonly said: KilledNodeMessage;
  readonly ms: number;
  readonly undoDepth: number;
  /** Whether the index is deleted before, so that it starts from nothing. */
  readonly anew: boolean;
}

const mainMoment: fc.Arbitrary<Moment> = fc.record({
  said: fc.oneof({ weight: 1, arbitrary: fc.constant('opening' as const) }, { weight: 3, arbitrary: fc.constant('right' as const) }),
  ms: fc.integer({ min: 0, max: 400 }),
  undoDepth: fc.constantFrom(3, 1_000),
  anew: fc.boolean()
});

/** While the index by script is filled: while rows are written to files, while files are sorted; and in lockstep. */
const SCRIPT_KINDS: readonly (readonly [said: KilledNodeMessage, mostMs: number, anew: boolean])[] = [
  ['partitioning', 60, true],
  ['sorting', 30, false],
  ['right', 300, false]
];
const RARER_KINDS: typeof SCRIPT_KINDS = [
  ['sorting', 30, true],
  ['catching-up', 20, true],
  ['catching-up', 100, false],
  ['opening', 300, false]
];
/** At least one kill of each kind. */
const scriptMoments: fc.Arbitrary<Moment[]> = fc.tuple(
  ...[...SCRIPT_KINDS, ...(SCALE > 1 ? RARER_KINDS : [])].map(([said, max, anew]) =>
    fc.integer({ min: 0, max }).map((ms) => ({ said, ms, undoDepth: 6, anew }))
  )
);

const SUITES = [
  // An index that is built from blocks is killed often enough at its beginning.
  { name: 'its index', words: ['blocks'], deleted: [], moments: fc.tuple(mainMoment), rounds: 4 * SCALE },
  { name: 'its index that started from coins', words: ['coins'], deleted: ['index'], moments: fc.tuple(mainMoment), rounds: 4 * SCALE },
  {
    name: 'its index by script',
    words: ['blocks', 'scripts'],
    deleted: ['scripts', 'scripts-filling'],
    moments: scriptMoments,
    rounds: SCALE
  }
] as const;

for (const { name, words, deleted, moments, rounds } of SUITES)
  describe(`a node and ${name} that are killed`, function () {
    const seed = testSeed();
    const kills = fc.sample<readonly Moment[]>(moments, { seed, numRuns: rounds }).flat();
    this.timeout(600_000 * SCALE);
    let folder: string;

    before(async () => {
      folder = await newFolder();
    });

    /** Starts a process on the folder, and kills it at its moment. */
    async function startAndKill(turn: number, { said, ms, undoDepth, anew }: Moment): Promise<void> {
      if (anew) for (const one of deleted) await rm(join(folder, one), { recursive: true, force: true });
      const child = new KilledChild('killed-node', [folder, turn, seed + turn, undoDepth, ...words]);
      const isThere = await child.said((message) => message === said || message === 'right');
      const isKilled = await child.kill(ms);
      expect([isThere, isKilled], `kill ${turn}`).to.deep.equal([true, true]);
    }

    it(`are right whenever they are opened again: ${kills.length} kills, TEST_SEED=${seed}`, async () => {
      for (const [turn, moment] of kills.entries()) await startAndKill(turn, moment);
      await startAndKill(kills.length, { said: 'right', ms: 0, undoDepth: 1_000, anew: false });
    });
  });
