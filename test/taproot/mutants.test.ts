// What a changed spend is worth. TEST_SCALE=50 makes 100,000 of them.

import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { before, describe, it } from 'mocha';
import { SCRIPT_ERRORS } from '../../lib/taproot/script-error';
import { hasStandardWitness, verifyInput, type Rules } from '../../lib/taproot/verify';
import { flipped } from '../support/index/flipped-bit';
import { testScale, testSeed } from '../support/process/scale';
import { allCurves } from './curves';
import { spendOf, withInput, type MadeInput, type MadeTransaction } from './made-transaction';
import { changedWitness } from './changed-witness';
import { hasSignature, isStandard, signedSpend, type HashType, type SignedSpend } from './signed-spends';
import { VALID, verdict } from './verdict';
import type { Curve } from '../../lib/taproot/curve';
import type { SpentOutput } from '../../lib/bitcoin/transaction';

const MUTANTS = 2_000 * testScale();
const SPENDS = 100 * testScale();
const TIMEOUT_MS = 120_000 * testScale();

const WORDS: ReadonlySet<string> = new Set([VALID, ...Object.values(SCRIPT_ERRORS)]);

/** Parts of a transaction and of what it spends. `own`: of the input, or of the output of its number. */
type Part =
  | 'version'
  | 'locktime'
  | 'own outpoint'
  | 'own sequence'
  | 'own spent value'
  | 'other outpoint'
  | 'other sequence'
  | 'other spent value'
  | 'other spent script'
  | 'own output'
  | 'other output'
  | 'number of outputs';

const PARTS: readonly Part[] = [
  ...(['version', 'locktime', 'own outpoint', 'own sequence', 'own spent value', 'other outpoint'] as const),
  ...(['other sequence', 'other spent value', 'other spent script', 'own output', 'other output', 'number of outputs'] as const)
];

/** What a signature of a type covers (BIP341). */
function covers(type: HashType, part: Part): boolean {
  const [outputs, isAlone] = [type & 3, type >= 0x80];
  if (part === 'own output') return outputs !== 2;
  if (part === 'other output' || part === 'number of outputs') return outputs < 2;
  return part.startsWith('other') ? !isAlone : true;
}

type Changed = Pick<SignedSpend, 'transaction' | 'spent'>;

/** The spend with one part changed, its witness as before. Undefined: there is no such part. */
function withChanged(part: Part, spend: SignedSpend): Changed | undefined {
  const { transaction, spent, input } = spend;
  const { inputs, outputs } = transaction;
  const other = inputs.length > 1 ? (input + 1) % inputs.length : undefined;
  const at = part.startsWith('own') ? input : other;
  const changes: Partial<Record<Part, Partial<MadeTransaction>>> = {
    version: { version: transaction.version ^ 4 },
    locktime: { locktime: (transaction.locktime ^ 1) >>> 0 },
    'own output': { outputs: outputs.map((output, i) => (i === input ? { ...output, value: output.value + 1 } : output)) },
    'other output': {
      outputs: outputs.map((output, i) => (i === (input + 1) % outputs.length ? { ...output, value: output.value + 1 } : output))
    },
    'number of outputs': { outputs: [...outputs, { value: 1, script: Buffer.alloc(0) }] }
  };
  const change = changes[part];
  if (change !== undefined) return { transaction: { ...transaction, ...change }, spent };
  if (at === undefined) return undefined;
  const { outpoint, sequence } = inputs[at] as MadeInput;
  const { value, script } = spent[at] as SpentOutput;
  if (part.endsWith('outpoint')) return { transaction: withInput(transaction, at, { outpoint: flipped(outpoint, 0) }), spent };
  if (part.endsWith('sequence')) return { transaction: withInput(transaction, at, { sequence: sequence + 2 }), spent };
  const output = part.endsWith('value') ? { value: value + 1, script } : { value, script: Buffer.concat([script, Buffer.of(1)]) };
  return { transaction, spent: spent.map((one, i) => (i === at ? output : one)) };
}

const seed = testSeed();

describe(`a spend of a taproot output, TEST_SEED=${seed}`, function () {
  this.timeout(TIMEOUT_MS);

  let curves: ReadonlyMap<string, Curve>;

  before(async () => {
    curves = await allCurves();
  });

  /** The verdict that all curves agree on. */
  function verdictOf({ transaction, spent, input }: Pick<SignedSpend, 'transaction' | 'spent' | 'input'>, rules: Rules = 'block'): string {
    const spend = spendOf(transaction, spent);
    const verdicts = Array.from(curves.values(), (curve) => verdict(spend, input, rules, curve));
    expect(new Set(verdicts).size, verdicts.join()).to.equal(1);
    return verdicts[0] as string; // there is a curve
  }

  const forEach = <T>(numRuns: number, arbitrary: Arbitrary<T>, check: (value: T) => void): void => {
    fc.assert(fc.property(arbitrary, check), { numRuns, seed });
  };

  it('is valid in every way and with every type, and in the pool unless it has what is left to soft forks', () => {
    forEach(SPENDS, signedSpend, (spend) => {
      expect(verdictOf(spend)).to.equal(VALID);
      expect(verdictOf(spend, 'policy') === VALID).to.equal(isStandard(spend.plan));
      const isSmall = !spend.plan.hasAnnex;
      expect(hasStandardWitness(spendOf(spend.transaction, spend.spent), spend.input)).to.equal(isSmall);
    });
  });

  it('is refused when what its signatures cover has changed, and only then', () => {
    const seen = new Set<string>();
    forEach(SPENDS, signedSpend, (spend) => {
      if (!hasSignature(spend.plan)) return;
      for (const part of PARTS) {
        const changed = withChanged(part, spend);
        if (changed === undefined) continue;
        const expected = covers(spend.plan.type, part) ? SCRIPT_ERRORS.SCHNORR_SIG : VALID;
        expect(verdictOf({ ...changed, input: spend.input })).to.equal(expected);
        seen.add(`${part}: ${expected}`);
      }
    });
    // Each part is covered by some types; some are not covered by others. The rarest of these comes with one spend of six.
    expect(seen.size).to.equal(PARTS.length + 7);
  });

  it('is refused when any bit of its script or control block has changed', () => {
    forEach(SPENDS * 3, fc.tuple(signedSpend, fc.boolean(), fc.nat()), ([spend, isControl, bit]) => {
      const { plan, transaction, input } = spend;
      if (plan.way === 'key') return;
      const { witness } = transaction.inputs[input] as MadeInput;
      const at = witness.length - (plan.hasAnnex ? 2 : 1) - (isControl ? 0 : 1);
      const items = witness.with(at, flipped(witness[at] as Buffer, bit));
      expect(verdictOf({ ...spend, transaction: withInput(transaction, input, { witness: items }) })).to.equal(
        SCRIPT_ERRORS.WITNESS_PROGRAM_MISMATCH
      );
    });
  });

  it('is refused when any bit of a witness with signatures has changed', () => {
    forEach(SPENDS * 3, fc.tuple(signedSpend, fc.nat(), fc.nat()), ([spend, at, bit]) => {
      const { plan, transaction, input } = spend;
      if (!hasSignature(plan)) return;
      const { witness } = transaction.inputs[input] as MadeInput;
      const place = at % witness.length;
      const item = witness[place] as Buffer;
      if (item.length === 0) return;
      const items = witness.with(place, flipped(item, bit));
      expect(verdictOf({ ...spend, transaction: withInput(transaction, input, { witness: items }) })).not.to.equal(VALID);
    });
  });

  it('has a verdict in known words whatever its witness is, the same with each library, and what the pool takes a block may hold', () => {
    const seen = new Map<string, number>();
    forEach(
      MUTANTS,
      signedSpend.chain((spend) => fc.tuple(fc.constant(spend), changedWitness(spend))),
      ([spend, witness]) => {
        const changed = { ...spend, transaction: withInput(spend.transaction, spend.input, { witness }) };
        const [block, policy] = [verdictOf(changed), verdictOf(changed, 'policy')];
        expect(WORDS).to.include(block).and.to.include(policy);
        if (policy === VALID) expect(block).to.equal(VALID);
        seen.set(block, (seen.get(block) ?? 0) + 1);
      }
    );
    // Changes of many kinds are among them, and some that matter to nobody.
    expect(seen.size).to.be.at.least(8);
    expect(seen.get(VALID) ?? 0).to.be.within(1, MUTANTS / 2);
  });

  it('is refused with anything in its script field, and without a witness', () => {
    forEach(50, signedSpend, (spend) => {
      const change = (input: Partial<MadeInput>): string =>
        verdictOf({ ...spend, transaction: withInput(spend.transaction, spend.input, input) });
      expect(change({ script: Buffer.of(0x51) })).to.equal(SCRIPT_ERRORS.WITNESS_MALLEATED);
      expect(change({ witness: [] })).to.equal(SCRIPT_ERRORS.WITNESS_PROGRAM_WITNESS_EMPTY);
    });
  });

  it('is refused for an output whose key is zero, positive or negative', () => {
    forEach(20, signedSpend, (spend) => {
      for (const last of [0, 0x80]) {
        const script = Buffer.concat([Buffer.of(0x51, 32), Buffer.alloc(31), Buffer.of(last)]);
        const spent = spend.spent.map((output, i) => (i === spend.input ? { ...output, script } : output));
        expect(verdictOf({ ...spend, spent })).to.equal(SCRIPT_ERRORS.EVAL_FALSE);
      }
    });
  });

  it('is never more than one signature or one commitment of work between two yields', () => {
    let calls = 0;
    const [curve] = curves.values() as unknown as [Curve];
    const counting: Curve = {
      verifySchnorr: (...parts) => (calls++, curve.verifySchnorr(...parts)),
      isTweaked: (...parts) => (calls++, curve.isTweaked(...parts))
    };
    forEach(100, signedSpend, (spend) => {
      const running = verifyInput(spendOf(spend.transaction, spend.spent), spend.input, 'block', counting);
      for (let isDone = false; !isDone;) {
        calls = 0;
        isDone = running.next().done === true;
        expect(calls).to.be.at.most(1);
      }
    });
  });
});
