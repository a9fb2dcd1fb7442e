// Operations that move items and look at them.

import { ScriptFailure } from '../script-error';
import { isTrue, numberItem } from './number';
import { withItems, type Operations } from './operation';
import type { Machine } from './machine';

/** Takes a number of items to go down by, and finds that item. */
function findBelow(machine: Machine): number {
  const below = machine.popNumber();
  const { length } = machine.stack;
  if (below < 0 || below >= length) throw new ScriptFailure('INVALID_STACK_OPERATION');
  return length - 1 - below;
}

const top = (stack: readonly Buffer[]): Buffer => stack.at(-1) as Buffer; // the operation has checked that there is one

export const STACK_OPERATIONS: Operations = {
  OP_TOALTSTACK: withItems(1, (machine) => machine.altStack.push(machine.pop())),
  OP_FROMALTSTACK: ({ stack, altStack }) => {
    const item = altStack.pop();
    if (item === undefined) throw new ScriptFailure('INVALID_ALTSTACK_OPERATION');
    stack.push(item);
  },
  OP_2DROP: withItems(2, ({ stack }) => stack.splice(-2)),
  OP_2DUP: withItems(2, ({ stack }) => stack.push(...stack.slice(-2))),
  OP_3DUP: withItems(3, ({ stack }) => stack.push(...stack.slice(-3))),
  OP_2OVER: withItems(4, ({ stack }) => stack.push(...stack.slice(-4, -2))),
  OP_2ROT: withItems(6, ({ stack }) => stack.push(...stack.splice(-6, 2))),
  OP_2SWAP: withItems(4, ({ stack }) => stack.push(...stack.splice(-4, 2))),
  OP_IFDUP: withItems(1, ({ stack }) => {
    if (isTrue(top(stack))) stack.push(top(stack));
  }),
  OP_DEPTH: ({ stack }) => stack.push(numberItem(stack.length)),
  OP_DROP: withItems(1, ({ stack }) => stack.pop()),
  OP_DUP: withItems(1, ({ stack }) => stack.push(top(stack))),
  OP_NIP: withItems(2, ({ stack }) => stack.splice(-2, 1)),
  OP_OVER: withItems(2, ({ stack }) => stack.push(...stack.slice(-2, -1))),
  OP_PICK: withItems(2, (machine) => {
    const at = findBelow(machine);
    machine.stack.push(...machine.stack.slice(at, at + 1));
  }),
  OP_ROLL: withItems(2, (machine) => {
    const at = findBelow(machine);
    machine.stack.push(...machine.stack.splice(at, 1));
  }),
  OP_ROT: withItems(3, ({ stack }) => stack.push(...stack.splice(-3, 1))),
  OP_SWAP: withItems(2, ({ stack }) => stack.push(...stack.splice(-2, 1))),
  OP_TUCK: withItems(2, ({ stack }) => stack.splice(-2, 0, top(stack))),
  OP_SIZE: withItems(1, ({ stack }) => stack.push(numberItem(top(stack).length)))
};
