// The signature check that the key path and the opcodes of tapscript share (CheckSchnorrSignature of Bitcoin Core).

import { ScriptFailure } from './script-error';
import { DEFAULT_TYPE, type SignedInput } from './signature-hash';
import type { Curve } from './curve';

/** Without the type of the signature hash. */
const SIGNATURE_LENGTH = 64;

/** Position of the last code separator when none has run. */
export const NO_CODE_SEPARATOR = 0xffff_ffff;

/** `key`: 32 bytes; any of them. `codeSeparator` as for `SignedInput.signatureHash`. @throws ScriptFailure for a signature that is not valid */
export function checkSignature(signature: Buffer, key: Buffer, signed: SignedInput, curve: Curve, codeSeparator = NO_CODE_SEPARATOR): void {
  const { length } = signature;
  if (length !== SIGNATURE_LENGTH && length !== SIGNATURE_LENGTH + 1) throw new ScriptFailure('SCHNORR_SIG_SIZE');
  const type = signature[SIGNATURE_LENGTH];
  if (type === DEFAULT_TYPE) throw new ScriptFailure('SCHNORR_SIG_HASHTYPE');
  const hash = signed.signatureHash(type ?? DEFAULT_TYPE, codeSeparator);
  if (hash === undefined) throw new ScriptFailure('SCHNORR_SIG_HASHTYPE');
  if (!curve.verifySchnorr(signature.subarray(0, SIGNATURE_LENGTH), hash, key)) throw new ScriptFailure('SCHNORR_SIG');
}
