// The state of a tapscript that runs: its stacks, its conditions, and what its signatures may still cost.

import { NO_CODE_SEPARATOR, checkSignature } from '../signature';
import { ScriptFailure } from '../script-error';
import { readNumber } from './number';
import type { Curve } from '../curve';
import type { SignedInput } from '../signature-hash';

/** What a signature that is not empty costs, whatever its key (BIP342). */
const SIGNATURE_COST = 50;

const KEY_LENGTH = 32;

/** The conditions of the OP_IFs around an operation. Only how many there are and the outermost false one have to be known. */
class Conditions {
  #depth = 0;
  #outermostFalse: number | undefined;

  get areTrue(): boolean {
    return this.#outermostFalse === undefined;
  }

  get depth(): number {
    return this.#depth;
  }

  enter(isTrue: boolean): void {
    if (!isTrue) this.#outermostFalse ??= this.#depth;
    this.#depth++;
  }

  /** There must be one. */
  invert(): void {
    const innermost = this.#depth - 1;
    if (this.#outermostFalse === undefined) this.#outermostFalse = innermost;
    else if (this.#outermostFalse === innermost) this.#outermostFalse = undefined;
  }

  /** There must be one. */
  leave(): void {
    this.#depth--;
    if (this.#outermostFalse === this.#depth) this.#outermostFalse = undefined;
  }
}

/** Items of the stacks are never written to: many of them are views of the transaction, or the same Buffer. */
export class Machine {
  readonly altStack: Buffer[] = [];
  readonly conditions = new Conditions();
  /** Position of the operation that runs, in opcodes. */
  position = 0;
  /** Position of the last OP_CODESEPARATOR that ran. */
  codeSeparator = NO_CODE_SEPARATOR;
  readonly #curve: Curve;
  #budget: number;

  /** `budget`: what all signatures together may cost. */
  constructor(
    readonly stack: Buffer[],
    readonly signed: SignedInput,
    readonly isPolicy: boolean,
    curve: Curve,
    budget: number
  ) {
    this.#curve = curve;
    this.#budget = budget;
  }

  /** Takes the top item. There must be one. */
  pop(): Buffer {
    return this.stack.pop() as Buffer;
  }

  /** Takes a number of up to four bytes. There must be an item. @throws ScriptFailure */
  popNumber(): number {
    return readNumber(this.pop(), this.isPolicy);
  }

  /**
   * Whether the signature is there; an empty one is not, which is no failure. @throws ScriptFailure for a signature that is not valid, and for
   * one that the budget does not allow
   */
  hasSigned(signature: Buffer, key: Buffer): boolean {
    const isThere = signature.length > 0;
    if (isThere) this.#budget -= SIGNATURE_COST;
    if (this.#budget < 0) throw new ScriptFailure('TAPSCRIPT_VALIDATION_WEIGHT');
    if (key.length === 0) throw new ScriptFailure('TAPSCRIPT_EMPTY_PUBKEY');
    if (key.length === KEY_LENGTH) {
      if (isThere) checkSignature(signature, key, this.signed, this.#curve, this.codeSeparator);
    } else if (this.isPolicy) {
      throw new ScriptFailure('DISCOURAGE_UPGRADABLE_PUBKEYTYPE');
    }
    return isThere;
  }
}
