// Scripts as the rest of the node sees them.

const OP_RETURN = 0x6a;

/** Longer scripts cannot be run (MAX_SCRIPT_SIZE). */
const MAX_SCRIPT_LENGTH = 10_000;

/** True for outputs that nothing can ever spend; they are no coins. */
export function isUnspendable(script: Buffer): boolean {
  return script[0] === OP_RETURN || script.length > MAX_SCRIPT_LENGTH;
}
