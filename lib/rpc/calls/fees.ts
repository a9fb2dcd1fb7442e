// Fee estimates.

import { invalidParameter } from '../../answers/errors';
import { described, listOf, named, object } from '../../describe/schema';
import { CORE_FEE_RATE, COUNT, TEXT } from '../../describe/values';
import { LONGEST_TARGET } from '../../pool/fee-estimates';
import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, type CallDefinition } from '../call';

/** Bitcoin Core gives no estimate for the very next block, but the one for two blocks. */
const LEAST_BLOCKS = 2;

/** The mode is checked and then ignored: bcoin has only one kind of estimate. */
const MODES = ['UNSET', 'ECONOMICAL', 'CONSERVATIVE'];

export const feeCalls = {
  estimatesmartfee: {
    summary: 'An estimate of the fee rate for confirmation within some blocks.',
    parameters: [
      { name: 'conf_target', type: 'number', schema: { type: 'integer', minimum: 1, maximum: LONGEST_TARGET } },
      {
        name: 'estimate_mode',
        type: 'string',
        isOptional: true,
        schema: { type: 'string', description: `One of ${MODES.join(', ')}, in any case; there is one kind of estimate.` }
      }
    ],
    result: () =>
      named('FeeEstimate', object({ blocks: COUNT }, { feerate: CORE_FEE_RATE, errors: described('Why there is none.', listOf(TEXT)) })),
    answer: (parameters, { node }) => {
      const asked = parameters.integer(0);
      if (asked < 1 || asked > LONGEST_TARGET) throw invalidParameter(`Invalid conf_target, must be between 1 and ${LONGEST_TARGET}`);
      if (!MODES.includes((parameters.optionalText(1) ?? 'ECONOMICAL').toUpperCase()))
        throw invalidParameter('Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"');
      const target = Math.max(LEAST_BLOCKS, Math.min(asked, node.mostFeeBlocks));
      const estimate = node.estimateFee(target);
      const writer = new JsonWriter();
      // A transaction that pays less than pools ask for would not reach a miner.
      if (estimate !== undefined) writer.amountField('{"feerate":', Math.max(estimate.rate, node.pool.info().minFeeRate));
      else writer.ascii('{"errors":["Insufficient data or no feerate found"]');
      writer.integerField(',"blocks":', estimate?.blocks ?? 0);
      writer.ascii('}');
      return jsonAnswer(writer.toBuffer());
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
