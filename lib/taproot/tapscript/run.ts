// Runs a tapscript (BIP342; ExecuteWitnessScript and EvalScript of Bitcoin Core).

import {
  isSuccess,
  MAX_PUSH_LENGTH,
  OP_1,
  OP_16,
  OP_1NEGATE,
  OP_PUSHDATA1,
  OP_PUSHDATA2,
  OPCODE_NAMES,
  ScriptWalker
} from '../../bitcoin/script';
import { ScriptFailure } from '../script-error';
import { CONTROL_OPERATIONS } from './control-operations';
import { HASH_OPERATIONS } from './hash-operations';
import { isTrue, numberItem } from './number';
import { NUMBER_OPERATIONS } from './number-operations';
import { SIGNATURE_OPERATIONS } from './signature-operations';
import { STACK_OPERATIONS } from './stack-operations';
import type { Machine } from './machine';
import type { Operation, Operations } from './operation';

/** Items on both stacks together. */
const MOST_ITEMS = 1000;

/** Operations between two yields, and opcodes while looking for OP_SUCCESS: half a millisecond at most. */
const OPERATIONS_PER_STEP = 128;
const OPCODES_PER_STEP = 16_384;

const OPERATIONS_BY_NAME: Operations = {
  ...STACK_OPERATIONS,
  ...NUMBER_OPERATIONS,
  ...HASH_OPERATIONS,
  ...CONTROL_OPERATIONS,
  ...SIGNATURE_OPERATIONS
};

const SIGNATURE_NAMES: ReadonlySet<string> = new Set(['OP_CHECKSIG', 'OP_CHECKSIGVERIFY', 'OP_CHECKSIGADD']);

/** Names that are between OP_IF and OP_ENDIF, which matter where nothing else runs: OP_VERIF and OP_VERNOTIF fail even there. */
const CONDITIONAL_NAMES: ReadonlySet<string> = new Set(['OP_IF', 'OP_NOTIF', 'OP_VERIF', 'OP_VERNOTIF', 'OP_ELSE', 'OP_ENDIF']);

const pushNumber = (number: number): Operation => {
  const item = numberItem(number);
  return ({ stack }) => stack.push(item);
};

/** Tables by opcode minus OP_1NEGATE, the first one that is no push of data. */
const OPERATIONS = OPCODE_NAMES.map((name, at) => {
  const opcode = at + OP_1NEGATE;
  const isNumber = opcode === OP_1NEGATE || (opcode >= OP_1 && opcode <= OP_16);
  return isNumber ? pushNumber(opcode - OP_1 + 1) : OPERATIONS_BY_NAME[name];
});
const IS_CONDITIONAL = OPCODE_NAMES.map((name) => CONDITIONAL_NAMES.has(name));
const IS_SIGNATURE = OPCODE_NAMES.map((name) => SIGNATURE_NAMES.has(name));

/** Runs the script on the machine's stack. Yields as `verifyInput` does. @throws ScriptFailure */
export function* runTapscript(script: Buffer, machine: Machine): Generator<void, void> {
  if (yield* hasSuccess(script)) {
    if (machine.isPolicy) throw new ScriptFailure('DISCOURAGE_OP_SUCCESS');
    return;
  }
  const { stack } = machine;
  if (stack.length > MOST_ITEMS) throw new ScriptFailure('STACK_SIZE');
  if (stack.some(({ length }) => length > MAX_PUSH_LENGTH)) throw new ScriptFailure('PUSH_SIZE');
  yield* runOperations(script, machine);
  if (machine.conditions.depth > 0) throw new ScriptFailure('UNBALANCED_CONDITIONAL');
  if (stack.length !== 1) throw new ScriptFailure('CLEANSTACK');
  if (!isTrue(machine.pop())) throw new ScriptFailure('EVAL_FALSE');
}

/** Whether an OP_SUCCESS is among the opcodes: then nothing else matters. @throws ScriptFailure if bytes that are no opcode come before one */
function* hasSuccess(script: Buffer): Generator<void, boolean> {
  const walker = new ScriptWalker(script);
  for (let opcodes = 1; walker.next(); opcodes++) {
    if (isSuccess(walker.opcode)) return true;
    if (opcodes % OPCODES_PER_STEP === 0) yield;
  }
  if (walker.dataEnd < script.length) throw new ScriptFailure('BAD_OPCODE');
  return false;
}

/** `script` has no bytes that are no opcode. */
function* runOperations(script: Buffer, machine: Machine): Generator<void, void> {
  const { stack, altStack, conditions, isPolicy } = machine;
  const walker = new ScriptWalker(script);
  for (; walker.next(); machine.position++) {
    const { opcode, dataStart, dataEnd } = walker;
    if (dataEnd - dataStart > MAX_PUSH_LENGTH) throw new ScriptFailure('PUSH_SIZE');
    const at = opcode - OP_1NEGATE;
    if (walker.pushes) {
      if (conditions.areTrue) {
        if (isPolicy && !isMinimalPush(walker)) throw new ScriptFailure('MINIMALDATA');
        stack.push(script.subarray(dataStart, dataEnd));
      }
    } else if (conditions.areTrue || IS_CONDITIONAL[at]) {
      const operation = OPERATIONS[at];
      if (operation === undefined) throw new ScriptFailure('BAD_OPCODE');
      operation(machine);
    }
    if (stack.length + altStack.length > MOST_ITEMS) throw new ScriptFailure('STACK_SIZE');
    if (IS_SIGNATURE[at] || machine.position % OPERATIONS_PER_STEP === OPERATIONS_PER_STEP - 1) yield;
  }
}

/** As an item; like the numbers up to 16 it has an opcode. */
const MINUS_ONE = 0x81;

/** Whether data is pushed in the shortest way (CheckMinimalPush). */
function isMinimalPush({ opcode, bytes, dataStart, dataEnd }: ScriptWalker): boolean {
  const length = dataEnd - dataStart;
  const first = bytes[dataStart] ?? 0;
  if (length === 1 && ((first >= 1 && first <= 16) || first === MINUS_ONE)) return false;
  if (length < OP_PUSHDATA1) return opcode === length;
  return opcode === (length <= 0xff ? OP_PUSHDATA1 : OP_PUSHDATA2);
}
