// What a script can do, by the names of the opcodes (OPCODE_NAMES).

import { ScriptFailure } from '../script-error';
import type { Machine } from './machine';

/** @throws ScriptFailure */
export type Operation = (machine: Machine) => void;

export type Operations = Readonly<Record<string, Operation>>;

/** An operation that fails with fewer items on the stack. */
export function withItems(count: number, operation: Operation): Operation {
  return (machine) => {
    if (machine.stack.length < count) throw new ScriptFailure('INVALID_STACK_OPERATION');
    operation(machine);
  };
}
