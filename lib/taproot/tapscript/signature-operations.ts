// Operations that check signatures and lock times.

import { FINAL_SEQUENCE, type ScannedInput } from '../../bitcoin/transaction';
import { ScriptFailure } from '../script-error';
import { booleanItem, numberItem, readNumber } from './number';
import { withItems, type Operation, type Operations } from './operation';
import type { Machine } from './machine';

/** BIP65: lock times below it are heights, others are Unix times. */
const LOCKTIME_THRESHOLD = 500_000_000;
/** Lock times have up to five bytes, as their 32 bits have no sign. */
const LONGEST_LOCKTIME = 5;

/** BIP68: whether the sequence is no lock; whether it counts in time, not blocks; and how much. */
const NO_LOCK_FLAG = 0x8000_0000;
const TIME_FLAG = 0x0040_0000;
const LOCK_MASK = TIME_FLAG | 0xffff;

/** The lock time at the top, which stays there. */
function readLocktime({ stack, isPolicy }: Machine): number {
  const locktime = readNumber(stack.at(-1) as Buffer, isPolicy, LONGEST_LOCKTIME); // the operation has checked that there is one
  if (locktime < 0) throw new ScriptFailure('NEGATIVE_LOCKTIME');
  return locktime;
}

const sequenceOf = ({ signed: { spend, input } }: Machine): number => (spend.inputs[input] as ScannedInput).sequence; // there is one

/** BIP65 */
const checkLocktime: Operation = (machine) => {
  const least = readLocktime(machine);
  const { locktime } = machine.signed.spend.transaction;
  const isSameKind = least < LOCKTIME_THRESHOLD === locktime < LOCKTIME_THRESHOLD;
  if (!isSameKind || least > locktime || sequenceOf(machine) === FINAL_SEQUENCE) throw new ScriptFailure('UNSATISFIED_LOCKTIME');
};

/** BIP112 */
const checkSequence: Operation = (machine) => {
  const least = readLocktime(machine);
  if ((least & NO_LOCK_FLAG) !== 0) return;
  const sequence = sequenceOf(machine);
  const isLocked = machine.signed.spend.transaction.version >>> 0 >= 2 && (sequence & NO_LOCK_FLAG) === 0;
  const isSameKind = (least & TIME_FLAG) === (sequence & TIME_FLAG);
  if (!isLocked || !isSameKind || (least & LOCK_MASK) > (sequence & LOCK_MASK)) throw new ScriptFailure('UNSATISFIED_LOCKTIME');
};

const checkMultisig: Operation = () => {
  throw new ScriptFailure('TAPSCRIPT_CHECKMULTISIG');
};

export const SIGNATURE_OPERATIONS: Operations = {
  OP_CODESEPARATOR: (machine) => {
    machine.codeSeparator = machine.position;
  },
  OP_CHECKSIG: withItems(2, (machine) => {
    const key = machine.pop();
    machine.stack.push(booleanItem(machine.hasSigned(machine.pop(), key)));
  }),
  OP_CHECKSIGVERIFY: withItems(2, (machine) => {
    const key = machine.pop();
    if (!machine.hasSigned(machine.pop(), key)) throw new ScriptFailure('CHECKSIGVERIFY');
  }),
  OP_CHECKSIGADD: withItems(3, (machine) => {
    const key = machine.pop();
    const count = machine.popNumber();
    machine.stack.push(numberItem(count + Number(machine.hasSigned(machine.pop(), key))));
  }),
  OP_CHECKMULTISIG: checkMultisig,
  OP_CHECKMULTISIGVERIFY: checkMultisig,
  OP_CHECKLOCKTIMEVERIFY: withItems(1, checkLocktime),
  OP_CHECKSEQUENCEVERIFY: withItems(1, checkSequence)
};
