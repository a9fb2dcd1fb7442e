import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { putRecord } from '../../lib/index/records/layout';
import { packed } from '../../lib/scripts/records/positions';
import { HINT_LENGTH, ROW_OVERHEAD, RowCursor, rowKey, writeRow } from '../../lib/scripts/records/row';
import { UnspentOutputs } from '../../lib/scripts/read/unspent-outputs';

/** What one transaction does: picks of the outputs that are unspent, by their places, and the values of those that it makes. */
interface Step {
  readonly spends: readonly number[];
  readonly pays: readonly number[];
}

interface Output {
  readonly position: number;
  readonly index: number;
  readonly value: number;
}

const anyStep = (values: fc.Arbitrary<number>, mostSpends: number): fc.Arbitrary<Step> =>
  fc.record({ spends: fc.array(fc.nat({ max: 20 }), { maxLength: mostSpends }), pays: fc.array(values, { maxLength: 3 }) });

/** Makes a row of each step, and gives what the rows say, and what is unspent in truth. */
function walked(steps: readonly Step[]): { unspent: UnspentOutputs; left: Output[] } {
  const unspent = new UnspentOutputs();
  let left: Output[] = [];
  for (const [height, { spends, pays }] of steps.entries()) {
    const spent = new Set(left.length === 0 ? [] : spends.map((pick) => left[pick % left.length]));
    if (spent.size + pays.length === 0) continue;
    left = left.filter((output) => !spent.has(output));
    const made = pays.map((value, index) => ({ position: packed(height, 1), index: 2 * index, value }));
    left.push(...made);
    unspent.add(
      rowOf(
        height,
        made,
        [...spent].filter((output) => output !== undefined)
      )
    );
  }
  return { unspent, left };
}

function rowOf(height: number, made: readonly Output[], spent: readonly Output[]): RowCursor {
  const sum = (outputs: readonly Output[]): number => outputs.reduce((all, { value }) => all + value, 0);
  const bytes = Buffer.alloc(ROW_OVERHEAD + spent.length * HINT_LENGTH);
  const end = writeRow(bytes, 0, {
    fundedCount: made.length,
    fundedValue: sum(made),
    outputs: made.flatMap(({ index, value }) => [index, value]),
    spentCount: spent.length,
    spentValue: sum(spent)
  });
  const { key, value } = putRecord(rowKey(Buffer.alloc(10), { height, index: 1 }), bytes.subarray(0, end + spent.length * HINT_LENGTH));
  const row = new RowCursor(key, value);
  row.next();
  return row;
}

/** The outputs as the columns have them. */
const outputsIn = ({ positions, indexes, values }: UnspentOutputs): Output[] =>
  positions.map((position, i) => ({ position, index: indexes[i] as number, value: values[i] as number })); // one for each

describe('what rows say of unspent outputs', () => {
  it('is true, however many outputs have the same value, and leaves out none', () => {
    fc.assert(
      fc.property(fc.array(anyStep(fc.nat({ max: 6 }), 4), { maxLength: 40 }), (steps) => {
        const { unspent, left } = walked(steps);
        expect(unspent.isComplete).to.equal(true);
        const outputs = outputsIn(unspent);
        const { doubtful, unspentDoubtful } = unspent;
        const sure = outputs.filter((_, place) => !doubtful.includes(place));
        expect(left).to.deep.include.members(sure);
        expect(outputs).to.deep.include.members(left);
        expect(sure.length + unspentDoubtful).to.equal(left.length);
        // Once somebody has looked which of the doubtful ones are spent, the rest is all.
        const isLeft = ({ position, index }: Output): boolean => left.some((each) => each.position === position && each.index === index);
        unspent.drop(doubtful.filter((place) => !isLeft(outputs[place] as Output))); // one for each
        expect(outputsIn(unspent)).to.deep.equal(left);
      }),
      { numRuns: 150 }
    );
  });

  it('is all that there is to know while values differ and each transaction spends one output', () => {
    fc.assert(
      fc.property(fc.array(anyStep(fc.nat({ max: 1 }), 1), { maxLength: 40 }), (steps) => {
        const different = steps.map(({ spends, pays }, step) => ({ spends, pays: pays.map((_, i) => 10 * step + i) }));
        const { unspent, left } = walked(different);
        expect(outputsIn(unspent)).to.deep.equal(left);
        expect(unspent).to.deep.include({ isComplete: true, unspentDoubtful: 0, doubtful: [] });
      })
    );
  });

  it('is nothing if a row does not list its outputs, or spends what none has paid', () => {
    const unlisted = new UnspentOutputs();
    unlisted.add(
      rowOf(
        1,
        Array.from({ length: 7 }, (_, index) => ({ position: packed(1, 1), index, value: 5 })),
        []
      )
    );
    expect(unlisted.isComplete).to.equal(false);
    const paid = { position: packed(1, 1), index: 0, value: 5 };
    const other = { ...paid, index: 1, value: 6 };
    const damaged = new UnspentOutputs();
    damaged.add(rowOf(1, [paid, other], []));
    damaged.add(rowOf(2, [], [{ ...paid, value: 7 }]));
    expect(damaged.isComplete).to.equal(false);
  });
});
