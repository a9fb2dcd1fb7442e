// Verdicts in Bitcoin Core's words.

import { runAtOnce } from '../../lib/turns/slices';
import { verifyInput, type Rules } from '../../lib/taproot/verify';
import type { Curve } from '../../lib/taproot/curve';
import type { Spend } from '../../lib/taproot/spend';

/** What Bitcoin Core says of a script that does not fail. */
export const VALID = 'No error';

export const verdict = (spend: Spend, input: number, rules: Rules, curve: Curve): string =>
  runAtOnce(verifyInput(spend, input, rules, curve)) ?? VALID;
