// Steps of a walk with a node and its index, for fast-check to choose from.

import fc from 'fast-check';
import { STORE_CALLS } from './faulty-store';
import { KINDS, type BlockPlan } from '../chain/mined-blocks';
import type { NodeStep, WalkStep } from './walk';

const plan: fc.Arbitrary<BlockPlan> = fc.record({
  repeat: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
  transactions: fc.array(
    fc.record({
      spends: fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 3 }),
      outputs: fc.array(
        fc.oneof({ weight: 20, arbitrary: fc.nat({ max: 3 }) }, { weight: 1, arbitrary: fc.nat({ max: KINDS.length - 1 }) }),
        { minLength: 1, maxLength: 4 }
      )
    }),
    { maxLength: 4 }
  )
});
const plans = (maxLength: number): fc.Arbitrary<BlockPlan[]> => fc.array(plan, { minLength: 1, maxLength });

/** Steps that change the node's chain. */
export const nodeStep: fc.Arbitrary<NodeStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mine' as const), plans: plans(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fork' as const), back: fc.integer({ min: 1, max: 4 }), plans: plans(6) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('reset' as const, 'reset silently' as const, 'invalidate' as const),
      back: fc.nat({ max: 8 })
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), back: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'connect or disconnect' as const }) }
);

const restart: fc.Arbitrary<WalkStep> = fc.record({
  do: fc.constant('restart' as const),
  filters: fc.boolean(),
  scripts: fc.boolean(),
  closed: fc.option(nodeStep, { nil: undefined }),
  opened: fc.option(nodeStep, { nil: undefined })
});

/** Steps on a machine without faults. */
export const healthyStep: fc.Arbitrary<WalkStep> = fc.oneof({ weight: 8, arbitrary: nodeStep }, { weight: 1, arbitrary: restart });

/** All steps. */
export const anyStep: fc.Arbitrary<WalkStep> = fc.oneof(
  { weight: 6, arbitrary: nodeStep },
  { weight: 1, arbitrary: restart },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      of: fc.constantFrom('main' as const, 'scripts' as const),
      call: fc.constantFrom(...STORE_CALLS),
      n: fc.nat({ max: 6 }),
      afterwards: fc.boolean(),
      meanwhile: nodeStep
    })
  }
);
