// Dust: outputs that cost more to spend than they are worth. A transaction may have one if it pays no fee and a child spends the dust
// (ephemeral dust, policy/ephemeral_policy.cpp of Bitcoin Core).

import { isUnspendable } from '../bitcoin/script';
import { witnessProgramOf } from '../bitcoin/script-type';
import { VALUE_LENGTH } from '../bitcoin/transaction';
import { feeAt, LIMITS } from './limits';
import { PolicyRefusal } from './refusal';
import { namesOf } from './names';
import type { ScannedOutput } from '../bitcoin/transaction';
import type { Candidate, Offered } from './transaction';

/** The length of a script takes one byte up to this. */
const LONGEST_SHORT_SCRIPT = 0xfc;
/** Virtual bytes of an input that spends a witness program, and of any other. */
const WITNESS_INPUT = 32 + 4 + 1 + 26 + 4;
const OTHER_INPUT = 32 + 4 + 1 + 107 + 4;

/** Below this value an output with the script is dust. */
export function dustLimit(script: Buffer): number {
  if (isUnspendable(script)) return 0;
  const output = VALUE_LENGTH + (script.length > LONGEST_SHORT_SCRIPT ? 3 : 1) + script.length;
  return feeAt(LIMITS.dustRate, output + (witnessProgramOf(script) === undefined ? OTHER_INPUT : WITNESS_INPUT));
}

/** The indexes of outputs that are dust. */
export function dustIn(outputs: readonly Pick<ScannedOutput, 'value' | 'script'>[]): number[] {
  return [...outputs.keys()].filter((index) => {
    const { value, script } = outputs[index] as ScannedOutput; // below the length
    return value < dustLimit(script);
  });
}

/** Nobody may have a reason to mine it alone. @throws PolicyRefusal */
export function checkDustPaysNothing({ offered, fee }: Candidate): void {
  if (fee !== 0 && dustIn(offered.outputs).length > 0) throw new PolicyRefusal('policy', 'dust', 'tx with dust output must be 0-fee');
}

/** A parent that is not confirmed. */
export interface DustyParent {
  readonly txid: Buffer;
  /** The indexes of its outputs that are dust. */
  readonly dust: readonly number[];
}

/** Whether the transaction spends all dust of its parents. */
export function spendsAllDust({ inputs }: Offered, parents: Iterable<DustyParent>): boolean {
  for (const { txid, dust } of parents)
    for (const output of dust) if (!inputs.some(({ index, txid: spent }) => index === output && spent.equals(txid))) return false;
  return true;
}

/** CheckEphemeralSpends of Bitcoin Core. */
export const unspentDust = (child: Offered): PolicyRefusal =>
  new PolicyRefusal('policy', 'missing-ephemeral-spends', `${namesOf(child)} did not spend parent's ephemeral dust`);
