// bcoin's codes of failed scripts (script/scripterror.js) in Bitcoin Core's words (script/script_error.cpp).

import { SCRIPT_ERRORS } from '../../taproot/script-error';

const TEXTS: Readonly<Record<string, string | undefined>> = {
  ...SCRIPT_ERRORS,
  CHECKMULTISIGVERIFY: 'Script failed an OP_CHECKMULTISIGVERIFY operation',
  SCRIPT_SIZE: 'Script is too big',
  OP_COUNT: 'Operation limit exceeded',
  SIG_COUNT: 'Signature count negative or greater than pubkey count',
  PUBKEY_COUNT: 'Pubkey count negative or limit exceeded',
  DISABLED_OPCODE: 'Attempted to use a disabled opcode',
  SIG_HASHTYPE: 'Signature hash type missing or not understood',
  SIG_DER: 'Non-canonical DER signature',
  SIG_PUSHONLY: 'Only push operators allowed in signatures',
  SIG_HIGH_S: 'Non-canonical signature: S value is unnecessarily high',
  SIG_NULLDUMMY: 'Dummy CHECKMULTISIG argument must be zero',
  MINIMALIF: 'OP_IF/NOTIF argument must be minimal',
  NULLFAIL: 'Signature must be zero for failed CHECK(MULTI)SIG operation',
  DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM: 'Witness version reserved for soft-fork upgrades',
  PUBKEYTYPE: 'Public key is neither compressed or uncompressed',
  WITNESS_PROGRAM_WRONG_LENGTH: 'Witness program has incorrect length',
  WITNESS_MALLEATED_P2SH: 'Witness requires only-redeemscript scriptSig',
  WITNESS_UNEXPECTED: 'Witness provided for non-witness script',
  WITNESS_PUBKEYTYPE: 'Using non-compressed keys in segwit',
  OP_CODESEPARATOR: 'Using OP_CODESEPARATOR in non-witness script',
  SIG_FINDANDDELETE: 'Signature is found in scriptCode'
};

/** The words for a code. bcoin has no code for malformed numbers, which are the only other failure. */
export const scriptErrorText = (code: string): string => TEXTS[code] ?? SCRIPT_ERRORS.SCRIPTNUM;
