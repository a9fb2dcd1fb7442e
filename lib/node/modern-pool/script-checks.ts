// Runs the scripts of a transaction: those of taproot outputs in lib/taproot, all others in bcoin.

import { setImmediate } from 'node:timers/promises';
import { OP_CODESEPARATOR, ScriptWalker } from '../../bitcoin/script';
import { isScriptHash, scriptTypeOf, witnessProgramOf } from '../../bitcoin/script-type';
import { toDisplayHex } from '../../bitcoin/hash';
import { redeemScriptOf } from '../../policy/redeem-script';
import { PolicyRefusal } from '../../policy/refusal';
import { inputSigops } from '../../policy/sigops';
import { isTaproot, verifyInput, type Rules } from '../../taproot/verify';
import { runAhead, Slice } from '../../turns/slices';
import { findCurve } from '../curve';
import { scriptErrorText } from './script-error-text';
import type { Curve } from '../../taproot/curve';
import type { Candidate } from '../../policy/transaction';
import type { HostCoinView, HostOutput, HostTransaction, HostWorkers } from '../host';

/** bcoin's flags (script/common.js): the rules of blocks, and those by which Bitcoin Core's pool judges (STANDARD_SCRIPT_VERIFY_FLAGS). */
const [P2SH, STRICTENC, DERSIG, LOW_S, NULLDUMMY] = [1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4];
const [MINIMALDATA, DISCOURAGE_NOPS, CLEANSTACK, CHECKLOCKTIMEVERIFY] = [1 << 6, 1 << 7, 1 << 8, 1 << 9];
const [CHECKSEQUENCEVERIFY, WITNESS, DISCOURAGE_WITNESS_PROGRAM, MINIMALIF] = [1 << 10, 1 << 11, 1 << 12, 1 << 13];
const [NULLFAIL, WITNESS_PUBKEYTYPE, CONST_SCRIPTCODE] = [1 << 14, 1 << 15, 1 << 16];
const BLOCK_FLAGS = P2SH | DERSIG | NULLDUMMY | CHECKLOCKTIMEVERIFY | CHECKSEQUENCEVERIFY | WITNESS;
const FLAGS: Readonly<Record<Rules, number>> = {
  block: BLOCK_FLAGS,
  policy:
    BLOCK_FLAGS |
    STRICTENC |
    LOW_S |
    MINIMALDATA |
    DISCOURAGE_NOPS |
    CLEANSTACK |
    DISCOURAGE_WITNESS_PROGRAM |
    MINIMALIF |
    NULLFAIL |
    WITNESS_PUBKEYTYPE |
    CONST_SCRIPTCODE
};

/** An input with more signature operations is given to bcoin's worker processes, if it has any: it cannot be divided into slices. */
const MOST_SIGOPS_IN_TURN = 4;

const REASON = 'mempool-script-verify-flag-failed';

/** A candidate as bcoin has it. */
export interface HostCandidate {
  readonly candidate: Candidate;
  readonly transaction: HostTransaction;
  readonly view: HostCoinView;
}

export class ScriptChecks {
  readonly #workers: HostWorkers;
  /** Found when the first taproot input comes. */
  #curve: Promise<Curve> | undefined;

  constructor(workers: HostWorkers) {
    this.#workers = workers;
  }

  /** Runs all scripts by the rules of the pool, some in each turn. @throws PolicyRefusal for the first input whose scripts fail */
  async check(checked: HostCandidate): Promise<void> {
    const slice = new Slice();
    for (const input of checked.candidate.coins.keys()) {
      const error = await this.#errorOf(checked, input, 'policy');
      if (error !== undefined) throw await this.#refusal(checked, input, error);
      if (slice.isOver()) await setImmediate();
    }
  }

  /** Why the scripts of an input fail; undefined: they do not. */
  async #errorOf({ candidate, transaction, view }: HostCandidate, input: number, rules: Rules): Promise<string | undefined> {
    const { spend, coins, offered } = candidate;
    const { script } = coins[input] as { readonly script: Buffer }; // an input of the transaction
    // bcoin refuses all spends of witness programs that have an unlocking script, for the right one of several reasons.
    const isOurs = offered.inputs[input]?.scriptLength === 0;
    if (isOurs && scriptTypeOf(script) === 'anchor') return undefined;
    if (isOurs && isTaproot(script)) return runAhead(verifyInput(spend, input, rules, await (this.#curve ??= findCurve())));
    const { prevout } = transaction.inputs[input] as HostTransaction['inputs'][number];
    const coin = view.getOutput(prevout) as HostOutput; // the candidate has its coins from there
    const isLong = inputSigops(offered.inputs[input]?.script as Buffer, script, spend.witness(input)) > MOST_SIGOPS_IN_TURN;
    try {
      if (isLong && this.#workers.enabled) await transaction.checkInputAsync(input, coin, FLAGS[rules], this.#workers);
      else transaction.checkInput(input, coin, FLAGS[rules]);
      // bcoin 1.x does not know this rule.
      return rules === 'policy' && separatesCode(offered.inputs[input]?.script as Buffer, script)
        ? scriptErrorText('OP_CODESEPARATOR')
        : undefined;
    } catch (error) {
      if (!isScriptError(error)) throw error;
      return scriptErrorText(error.code);
    }
  }

  async #refusal(checked: HostCandidate, input: number, error: string): Promise<PolicyRefusal> {
    const { offered } = checked.candidate;
    const { txid, index } = offered.inputs[input] as { readonly txid: Buffer; readonly index: number };
    const names = `${toDisplayHex(offered.txid)} (wtxid ${toDisplayHex(offered.wtxid)})`;
    const isInvalid = (await this.#errorOf(checked, input, 'block')) !== undefined;
    return new PolicyRefusal(
      lacksWitness(checked.candidate) ? 'stripped' : isInvalid ? 'invalid' : 'policy',
      `${REASON} (${error})`,
      `input ${input} of ${names}, spending ${toDisplayHex(txid)}:${index}`
    );
  }
}

/** Whether a script without witness has OP_CODESEPARATOR (SCRIPT_VERIFY_CONST_SCRIPTCODE). */
function separatesCode(unlocking: Buffer, locking: Buffer): boolean {
  const redeem = isScriptHash(locking) ? redeemScriptOf(unlocking) : undefined;
  const walker = new ScriptWalker(redeem ?? locking);
  while (walker.next()) if (walker.opcode === OP_CODESEPARATOR) return true;
  return false;
}

/** Whether somebody may have taken the witness away, so that nothing can be said of the transaction with that txid. */
function lacksWitness({ offered: { transaction, inputs }, coins }: Candidate): boolean {
  if (transaction.hasWitness) return false;
  return coins.some(({ script }, i) => {
    const locking = isScriptHash(script) ? redeemScriptOf(inputs[i]?.script as Buffer) : script; // one coin for each input
    return locking !== undefined && witnessProgramOf(locking) !== undefined && scriptTypeOf(locking) !== 'anchor';
  });
}

const isScriptError = (error: unknown): error is { readonly code: string } =>
  error instanceof Error && (error as { readonly type?: unknown }).type === 'ScriptError';
