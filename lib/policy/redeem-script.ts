// Unlocking scripts of script hashes (BIP16).

import { MAX_PUSH_LENGTH, OP_1, OP_16, OP_1NEGATE, ScriptWalker } from '../bitcoin/script';

/** The redeem script, which the last operation pushes; undefined: nothing is pushed, the script has other operations, or it is malformed. */
export function redeemScriptOf(script: Buffer): Buffer | undefined {
  const walker = new ScriptWalker(script);
  let last: Buffer | undefined;
  while (walker.next()) {
    const { opcode, dataStart, dataEnd } = walker;
    if (dataEnd - dataStart > MAX_PUSH_LENGTH) return undefined;
    if (walker.pushes) last = script.subarray(dataStart, dataEnd);
    else if (opcode >= OP_1 && opcode <= OP_16) last = Buffer.of(opcode - OP_1 + 1);
    else if (opcode === OP_1NEGATE) last = Buffer.of(0x81);
    else return undefined;
  }
  return walker.dataEnd === script.length ? last : undefined;
}

/** True when all operations are pushes; OP_RESERVED counts as one, as in Bitcoin Core. */
export function hasOnlyPushes(script: Buffer): boolean {
  const walker = new ScriptWalker(script);
  while (walker.next()) if (walker.opcode > OP_16) return false;
  return walker.dataEnd === script.length;
}
