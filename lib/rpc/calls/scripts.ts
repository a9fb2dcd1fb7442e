// Scripts and addresses that the client has itself.

import { invalidParameter } from '../../answers/errors';
import { styleOf } from '../../answers/answers';
import { networkPrefixes } from '../../bitcoin/address';
import { ASKED_HEX, TEXT } from '../../describe/values';
import { decodedScript, decodedScriptSchema } from '../../views/decoded-script';
import { validatedAddress, validatedAddressSchema } from '../../views/validated-address';
import { jsonAnswer, plainAnswer, type CallDefinition } from '../call';
import { parseHex } from '../parameters';

/** Of scripts that can run the longest has a tenth of this. */
const MOST_SCRIPT_DIGITS = 200_000;

export const scriptCalls = {
  decodescript: {
    summary: 'A script in hex as JSON, with the addresses that wrap it.',
    parameters: [{ name: 'hexstring', type: 'string', schema: ASKED_HEX }],
    result: decodedScriptSchema,
    isHeavy: () => true,
    answer: (parameters, context) => {
      const hex = parameters.text(0);
      if (hex.length > MOST_SCRIPT_DIGITS) throw invalidParameter(`argument must have at most ${MOST_SCRIPT_DIGITS} digits`);
      return jsonAnswer(decodedScript(hex === '' ? Buffer.alloc(0) : parseHex(hex, 'argument'), styleOf(context)));
    }
  },
  validateaddress: {
    summary: 'What an address stands for, or what is wrong with it.',
    parameters: [{ name: 'address', type: 'string', schema: TEXT }],
    result: validatedAddressSchema,
    answer: (parameters, { node: { network } }) =>
      plainAnswer(validatedAddress(parameters.text(0), networkPrefixes(network.chain, network.addressPrefixes)))
  }
} satisfies Readonly<Record<string, CallDefinition>>;
