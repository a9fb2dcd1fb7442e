// What is checked of the coins that a transaction spends, without running scripts (CheckTxInputs, ValidateInputsStandardness,
// IsWitnessStandard).

import { COINBASE_MATURITY } from '../bitcoin/consensus';
import { isScriptHash, scriptTypeOf, witnessProgramOf } from '../bitcoin/script-type';
import { hasStandardWitness, isTaproot } from '../taproot/verify';
import { feeAt, LIMITS } from './limits';
import { coinsText } from './names';
import { redeemScriptOf } from './redeem-script';
import { PolicyRefusal } from './refusal';
import { legacySigops, sigopsIn } from './sigops';
import type { Candidate } from './transaction';

const SCRIPT_HASH_PROGRAM = 32;

/** `height`: of the next block. @throws PolicyRefusal */
export function checkValues({ coins, fee, offered: { outputs } }: Candidate, height: number): void {
  for (const coin of coins) {
    const depth = coin.isCoinbase && coin.height !== undefined ? height - coin.height : COINBASE_MATURITY;
    if (depth < COINBASE_MATURITY)
      throw new PolicyRefusal('policy', 'bad-txns-premature-spend-of-coinbase', `tried to spend coinbase at depth ${depth}`);
  }
  if (fee >= 0) return;
  const paid = outputs.reduce((sum, { value }) => sum + value, 0);
  throw new PolicyRefusal('invalid', 'bad-txns-in-belowout', `value in (${coinsText(paid + fee)}) < value out (${coinsText(paid)})`);
}

/** @throws PolicyRefusal */
export function checkSpentScripts({ offered: { inputs }, coins }: Candidate): void {
  const scripts = inputs.map(({ script }, i) => ({ unlocking: script, locking: coins[i]?.script as Buffer })); // one coin for each input
  const sigops = scripts.reduce((sum, { unlocking, locking }) => sum + legacySigops(unlocking, locking), 0);
  if (sigops > LIMITS.mostLegacySigops) throw nonstandardInputs('non-witness sigops exceed bip54 limit');
  for (const [i, { unlocking, locking }] of scripts.entries()) {
    const type = scriptTypeOf(locking);
    if (type === 'nonstandard') throw nonstandardInputs(`input ${i} script unknown`);
    if (type === 'witness_unknown') throw nonstandardInputs(`input ${i} witness program is undefined`);
    if (type !== 'scripthash') continue;
    const redeem = redeemScriptOf(unlocking);
    if (redeem === undefined)
      throw nonstandardInputs(unlocking.length > 0 ? `p2sh scriptsig malformed (input ${i})` : `input ${i} P2SH redeemscript missing`);
    const count = sigopsIn(redeem, true);
    if (count > LIMITS.mostScriptHashSigops)
      throw nonstandardInputs(`p2sh redeemscript sigops exceed limit (input ${i}: ${count} > ${LIMITS.mostScriptHashSigops})`);
  }
}

/** @throws PolicyRefusal */
export function checkWitnesses(candidate: Candidate): void {
  for (const i of candidate.offered.inputs.keys())
    if (!isStandardWitness(candidate, i)) throw new PolicyRefusal('policy', 'bad-witness-nonstandard');
}

function isStandardWitness({ offered: { inputs }, coins, spend }: Candidate, i: number): boolean {
  const witness = spend.witness(i);
  if (witness.length === 0) return true;
  const { script } = coins[i] as { readonly script: Buffer }; // one for each input
  if (scriptTypeOf(script) === 'anchor') return false;
  if (isTaproot(script)) return hasStandardWitness(spend, i);
  const locking = isScriptHash(script) ? redeemScriptOf(inputs[i]?.script as Buffer) : script; // i is an input
  const program = locking && witnessProgramOf(locking);
  if (program === undefined) return false;
  if (program.version !== 0 || program.program.length !== SCRIPT_HASH_PROGRAM) return true;
  const items = witness.slice(0, -1);
  return (
    (witness.at(-1)?.length ?? 0) <= LIMITS.mostWitnessScriptBytes &&
    items.length <= LIMITS.mostWitnessItems &&
    items.every(({ length }) => length <= LIMITS.mostWitnessItemBytes)
  );
}

/** @throws PolicyRefusal */
export function checkSigopCost({ sigopCost }: Candidate): void {
  if (sigopCost > LIMITS.mostSigopCost) throw new PolicyRefusal('policy', 'bad-txns-too-many-sigops', String(sigopCost));
}

/** `floor`: what the pool asks for while it is full. Rates in satoshis per 1,000 virtual bytes. @throws PolicyRefusal */
export function checkFee(fee: number, size: number, { floor, relay }: { readonly floor: number; readonly relay: number }): void {
  const [least, relayed] = [feeAt(floor, size), feeAt(relay, size)];
  if (fee < least) throw new PolicyRefusal('fee', 'mempool min fee not met', `${fee} < ${least}`);
  if (fee < relayed) throw new PolicyRefusal('fee', 'min relay fee not met', `${fee} < ${relayed}`);
}

const nonstandardInputs = (details: string): PolicyRefusal => new PolicyRefusal('policy', 'bad-txns-nonstandard-inputs', details);
