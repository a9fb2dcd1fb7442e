// Why a script fails, by Bitcoin Core's names without SCRIPT_ERR_, and in its words (ScriptErrorString, script/script_error.cpp).

export const SCRIPT_ERRORS = {
  EVAL_FALSE: 'Script evaluated without error but finished with a false/empty top stack element',
  OP_RETURN: 'OP_RETURN was encountered',
  PUSH_SIZE: 'Push value size limit exceeded',
  STACK_SIZE: 'Stack size limit exceeded',
  VERIFY: 'Script failed an OP_VERIFY operation',
  EQUALVERIFY: 'Script failed an OP_EQUALVERIFY operation',
  CHECKSIGVERIFY: 'Script failed an OP_CHECKSIGVERIFY operation',
  NUMEQUALVERIFY: 'Script failed an OP_NUMEQUALVERIFY operation',
  BAD_OPCODE: 'Opcode missing or not understood',
  INVALID_STACK_OPERATION: 'Operation not valid with the current stack size',
  INVALID_ALTSTACK_OPERATION: 'Operation not valid with the current altstack size',
  UNBALANCED_CONDITIONAL: 'Invalid OP_IF construction',
  NEGATIVE_LOCKTIME: 'Negative locktime',
  UNSATISFIED_LOCKTIME: 'Locktime requirement not satisfied',
  SCRIPTNUM: 'Script number overflowed or is non-minimally encoded',
  MINIMALDATA: 'Data push larger than necessary',
  CLEANSTACK: 'Stack size must be exactly one after execution',
  DISCOURAGE_UPGRADABLE_NOPS: 'NOPx reserved for soft-fork upgrades',
  DISCOURAGE_UPGRADABLE_TAPROOT_VERSION: 'Taproot version reserved for soft-fork upgrades',
  DISCOURAGE_OP_SUCCESS: 'OP_SUCCESSx reserved for soft-fork upgrades',
  DISCOURAGE_UPGRADABLE_PUBKEYTYPE: 'Public key version reserved for soft-fork upgrades',
  WITNESS_PROGRAM_WITNESS_EMPTY: 'Witness program was passed an empty witness',
  WITNESS_PROGRAM_MISMATCH: 'Witness program hash mismatch',
  WITNESS_MALLEATED: 'Witness requires empty scriptSig',
  SCHNORR_SIG_SIZE: 'Invalid Schnorr signature size',
  SCHNORR_SIG_HASHTYPE: 'Invalid Schnorr signature hash type',
  SCHNORR_SIG: 'Invalid Schnorr signature',
  TAPROOT_WRONG_CONTROL_SIZE: 'Invalid Taproot control block size',
  TAPSCRIPT_VALIDATION_WEIGHT: 'Too much signature validation relative to witness weight',
  TAPSCRIPT_CHECKMULTISIG: 'OP_CHECKMULTISIG(VERIFY) is not available in tapscript',
  TAPSCRIPT_MINIMALIF: 'OP_IF/NOTIF argument must be minimal in tapscript',
  TAPSCRIPT_EMPTY_PUBKEY: 'Empty public key in tapscript'
} as const;

type ScriptErrorName = keyof typeof SCRIPT_ERRORS;

/** Bitcoin Core's words for a failure, which stand in the brackets of `mempool-script-verify-flag-failed (…)`. */
export type ScriptError = (typeof SCRIPT_ERRORS)[ScriptErrorName];

/** Ends the verification of an input that is invalid. Only `verifyInput` sees it. */
export class ScriptFailure extends Error {
  override readonly name = 'ScriptFailure';
  readonly error: ScriptError;

  constructor(name: ScriptErrorName) {
    super(SCRIPT_ERRORS[name]);
    this.error = SCRIPT_ERRORS[name];
  }
}
