// Operations that decide what runs and whether the script goes on, and those that do nothing.

import { ScriptFailure } from '../script-error';
import { TRUE, isTrue } from './number';
import { withItems, type Operation, type Operations } from './operation';
import type { Machine } from './machine';

/** BIP342: the item must be empty, or the single byte 1. */
function popCondition(machine: Machine): boolean {
  if (machine.stack.length === 0) throw new ScriptFailure('UNBALANCED_CONDITIONAL');
  const item = machine.pop();
  if (item.length > 0 && !item.equals(TRUE)) throw new ScriptFailure('TAPSCRIPT_MINIMALIF');
  return item.length > 0;
}

const condition =
  (expected: boolean): Operation =>
  (machine) =>
    machine.conditions.enter(machine.conditions.areTrue && popCondition(machine) === expected);

function requireCondition({ conditions }: Machine): void {
  if (conditions.depth === 0) throw new ScriptFailure('UNBALANCED_CONDITIONAL');
}

const doNothing: Operation = () => undefined;

/** Bitcoin Core's policy leaves opcodes alone that a soft fork may give a meaning. */
const discouraged: Operation = ({ isPolicy }) => {
  if (isPolicy) throw new ScriptFailure('DISCOURAGE_UPGRADABLE_NOPS');
};

export const CONTROL_OPERATIONS: Operations = {
  OP_NOP: doNothing,
  ...Object.fromEntries([1, 4, 5, 6, 7, 8, 9, 10].map((number) => [`OP_NOP${number}`, discouraged])),
  OP_IF: condition(true),
  OP_NOTIF: condition(false),
  OP_ELSE: (machine) => {
    requireCondition(machine);
    machine.conditions.invert();
  },
  OP_ENDIF: (machine) => {
    requireCondition(machine);
    machine.conditions.leave();
  },
  OP_VERIFY: withItems(1, (machine) => {
    if (!isTrue(machine.pop())) throw new ScriptFailure('VERIFY');
  }),
  OP_RETURN: () => {
    throw new ScriptFailure('OP_RETURN');
  }
};
