// Signature operations, as Bitcoin Core counts them without running scripts (GetTransactionSigOpCost, CheckSigopsBIP54).

import { OP_1, OP_16, OP_CHECKMULTISIG, OP_CHECKMULTISIGVERIFY, OP_CHECKSIG, OP_CHECKSIGVERIFY, ScriptWalker } from '../bitcoin/script';
import { isScriptHash, witnessProgramOf } from '../bitcoin/script-type';
import { LIMITS } from './limits';
import { redeemScriptOf } from './redeem-script';
import type { Spend } from '../taproot/spend';

const WEIGHT_PER_BASE_SIGOP = 4;
/** What a multisig operation counts for if the number of its keys does not matter, or is not known. */
const MULTISIG_KEYS = 20;

/** `isAccurate`: operations for several keys count for as many as the opcode before says. */
export function sigopsIn(script: Buffer, isAccurate: boolean): number {
  const walker = new ScriptWalker(script);
  let [count, last] = [0, -1];
  for (; walker.next(); last = walker.opcode) {
    const { opcode } = walker;
    if (opcode === OP_CHECKSIG || opcode === OP_CHECKSIGVERIFY) count++;
    else if (opcode === OP_CHECKMULTISIG || opcode === OP_CHECKMULTISIGVERIFY)
      count += isAccurate && last >= OP_1 && last <= OP_16 ? last - OP_1 + 1 : MULTISIG_KEYS;
  }
  return count;
}

/** A transaction with many signature operations counts for more than it weighs (GetSigOpsAdjustedWeight). */
export const adjustedWeight = (weight: number, sigopCost: number): number => Math.max(weight, sigopCost * LIMITS.weightPerSigop);

interface Scripted {
  readonly script: Buffer;
}

/** Of a transaction with these outputs, in the units of BIP141. */
export function sigopCostOf(outputs: readonly Scripted[], spend: Spend): number {
  let [base, witness] = [0, 0];
  for (const { script } of outputs) base += sigopsIn(script, false);
  for (const [i, { script }] of spend.inputs.entries()) {
    const locking = spend.spent[i]?.script as Buffer; // one for each input
    const redeem = isScriptHash(locking) ? redeemScriptOf(script) : undefined;
    base += sigopsIn(script, false) + (redeem === undefined ? 0 : sigopsIn(redeem, true));
    witness += witnessSigops(redeem ?? locking, spend.witness(i));
  }
  return base * WEIGHT_PER_BASE_SIGOP + witness;
}

function witnessSigops(locking: Buffer, witness: readonly Buffer[]): number {
  const program = witnessProgramOf(locking);
  if (program?.version !== 0) return 0;
  if (program.program.length === 20) return 1;
  const script = witness.at(-1);
  return program.program.length === 32 && script !== undefined ? sigopsIn(script, true) : 0;
}

/** In the scripts that an input runs, without its witness. */
export function legacySigops(unlocking: Buffer, locking: Buffer): number {
  const redeem = isScriptHash(locking) ? redeemScriptOf(unlocking) : locking;
  return sigopsIn(unlocking, true) + (redeem === undefined ? 0 : sigopsIn(redeem, true));
}

/** In the scripts that an input runs, with its witness. */
export function inputSigops(unlocking: Buffer, locking: Buffer, witness: readonly Buffer[]): number {
  const redeem = isScriptHash(locking) ? redeemScriptOf(unlocking) : undefined;
  return legacySigops(unlocking, locking) + witnessSigops(redeem ?? locking, witness);
}
