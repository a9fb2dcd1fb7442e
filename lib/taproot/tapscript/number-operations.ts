// Operations on numbers. Operands have up to four bytes, results may have five.

import { ScriptFailure } from '../script-error';
import { booleanItem, numberItem } from './number';
import { withItems, type Operation, type Operations } from './operation';

const ofOne = (compute: (number: number) => number): Operation =>
  withItems(1, (machine) => machine.stack.push(numberItem(compute(machine.popNumber()))));

const ofTwo = (compute: (first: number, second: number) => number): Operation =>
  withItems(2, (machine) => {
    const second = machine.popNumber();
    machine.stack.push(numberItem(compute(machine.popNumber(), second)));
  });

const test = (compute: (first: number, second: number) => boolean): Operation => ofTwo((first, second) => Number(compute(first, second)));

export const NUMBER_OPERATIONS: Operations = {
  OP_1ADD: ofOne((number) => number + 1),
  OP_1SUB: ofOne((number) => number - 1),
  OP_NEGATE: ofOne((number) => -number),
  OP_ABS: ofOne(Math.abs),
  OP_NOT: ofOne((number) => Number(number === 0)),
  OP_0NOTEQUAL: ofOne((number) => Number(number !== 0)),
  OP_ADD: ofTwo((first, second) => first + second),
  OP_SUB: ofTwo((first, second) => first - second),
  OP_BOOLAND: test((first, second) => first !== 0 && second !== 0),
  OP_BOOLOR: test((first, second) => first !== 0 || second !== 0),
  OP_NUMEQUAL: test((first, second) => first === second),
  OP_NUMEQUALVERIFY: withItems(2, (machine) => {
    if (machine.popNumber() !== machine.popNumber()) throw new ScriptFailure('NUMEQUALVERIFY');
  }),
  OP_NUMNOTEQUAL: test((first, second) => first !== second),
  OP_LESSTHAN: test((first, second) => first < second),
  OP_GREATERTHAN: test((first, second) => first > second),
  OP_LESSTHANOREQUAL: test((first, second) => first <= second),
  OP_GREATERTHANOREQUAL: test((first, second) => first >= second),
  OP_MIN: ofTwo(Math.min),
  OP_MAX: ofTwo(Math.max),
  OP_WITHIN: withItems(3, (machine) => {
    const end = machine.popNumber();
    const start = machine.popNumber();
    const number = machine.popNumber();
    machine.stack.push(booleanItem(start <= number && number < end));
  })
};
