// Verifies inputs that spend taproot outputs (BIP341; VerifyWitnessProgram of Bitcoin Core). bcoin does not: it takes any spend of them.

import { scriptTypeOf } from '../bitcoin/script-type';
import { ANNEX_TAG, type ScannedInput, type SpentOutput } from '../bitcoin/transaction';
import { ControlBlock, TAPSCRIPT } from './control-block';
import { ScriptFailure, type ScriptError } from './script-error';
import { checkSignature } from './signature';
import { SignedInput } from './signature-hash';
import { Machine } from './tapscript/machine';
import { isTrue } from './tapscript/number';
import { runTapscript } from './tapscript/run';
import type { Curve } from './curve';
import type { Spend } from './spend';

/** `block`: what a block may hold. `policy`: what a pool takes (STANDARD_SCRIPT_VERIFY_FLAGS), which leaves to soft forks what they may use. */
export type Rules = 'block' | 'policy';

/** The output key follows a version opcode and a push opcode. */
const KEY_OFFSET = 2;

/** What signatures of a script may cost, beside the length of the witness. */
const FREE_SIGNATURE_COST = 50;

/** MAX_STANDARD_TAPSCRIPT_STACK_ITEM_SIZE */
const LONGEST_STANDARD_ITEM = 80;

/** Whether spends of the locking script are verified here. A taproot program in P2SH is not one. */
export const isTaproot = (script: Buffer): boolean => scriptTypeOf(script) === 'witness_v1_taproot';

/**
 * Verifies an input that spends a taproot output. Returns why it is invalid; undefined: it is valid. Yields often: no step does more than one
 * of these: check a signature or a commitment, run some opcodes, hash the transaction's inputs and outputs.
 */
export function* verifyInput(spend: Spend, input: number, rules: Rules, curve: Curve): Generator<void, ScriptError | undefined> {
  try {
    yield* verify(spend, input, rules, curve);
    return undefined;
  } catch (error) {
    if (error instanceof ScriptFailure) return error.error;
    throw error;
  }
}

/** @throws ScriptFailure */
function* verify(spend: Spend, input: number, rules: Rules, curve: Curve): Generator<void, void> {
  const { scriptLength } = spend.inputs[input] as ScannedInput; // the caller names one that is there
  const key = (spend.spent[input] as SpentOutput).script.subarray(KEY_OFFSET);
  // The program is also the top of the stack after the locking script, and must be true there.
  if (!isTrue(key)) throw new ScriptFailure('EVAL_FALSE');
  if (scriptLength > 0) throw new ScriptFailure('WITNESS_MALLEATED');
  const { annex, items } = splitWitness(spend, input);
  const [first] = items;
  if (first === undefined) throw new ScriptFailure('WITNESS_PROGRAM_WITNESS_EMPTY');
  if (items.length === 1) {
    checkSignature(first, key, new SignedInput(spend, input, annex, undefined), curve);
    return;
  }
  const [script, controlBlock] = items.splice(-2) as [Buffer, Buffer]; // two or more items are there
  const control = ControlBlock.of(controlBlock);
  if (control === undefined) throw new ScriptFailure('TAPROOT_WRONG_CONTROL_SIZE');
  const leafHash = control.leafHash(script);
  yield;
  if (!control.commitsTo(leafHash, key, curve)) throw new ScriptFailure('WITNESS_PROGRAM_MISMATCH');
  yield;
  const isPolicy = rules === 'policy';
  if (control.leafVersion === TAPSCRIPT) {
    const signed = new SignedInput(spend, input, annex, leafHash);
    const budget = FREE_SIGNATURE_COST + spend.serializedWitness(input).length;
    yield* runTapscript(script, new Machine(items, signed, isPolicy, curve, budget));
  } else if (isPolicy) {
    throw new ScriptFailure('DISCOURAGE_UPGRADABLE_TAPROOT_VERSION');
  }
}

function splitWitness(spend: Spend, input: number): { annex: Buffer | undefined; items: Buffer[] } {
  const items = spend.witness(input);
  const annex = items.length >= 2 && items.at(-1)?.[0] === ANNEX_TAG ? items.pop() : undefined;
  return { annex, items };
}

/**
 * What Bitcoin Core's policy asks of the witness beside `verifyInput` (IsWitnessStandard): no annex, and no item over 80 bytes for a tapscript.
 * An empty witness has no standard form.
 */
export function hasStandardWitness(spend: Spend, input: number): boolean {
  const { annex, items } = splitWitness(spend, input);
  if (annex !== undefined || items.length === 0) return false;
  if (items.length === 1) return true;
  const [, control] = items.splice(-2) as [Buffer, Buffer]; // two or more items are there
  const version = control[0];
  return version !== undefined && ((version & 0xfe) !== TAPSCRIPT || items.every(({ length }) => length <= LONGEST_STANDARD_ITEM));
}
