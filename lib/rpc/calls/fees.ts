// Fee estimates.

import { JsonWriter } from '../../views/json-writer';
import { jsonAnswer, type CallDefinition } from '../call';
import { invalidParameter } from '../errors';

/** Bitcoin Core's longest horizon; bcoin's is shorter, and stands for all beyond it. */
const MOST_BLOCKS = 1_008;

/** Nothing can be said about the very next block. */
const LEAST_BLOCKS = 2;

/** bcoin has one kind of estimate only. */
const MODES = ['UNSET', 'ECONOMICAL', 'CONSERVATIVE'];

export const feeCalls = {
  estimatesmartfee: {
    parameters: [
      { name: 'conf_target', type: 'number' },
      { name: 'estimate_mode', type: 'string', isOptional: true }
    ],
    answer: (parameters, { node }) => {
      const asked = parameters.integer(0);
      if (asked < 1 || asked > MOST_BLOCKS) throw invalidParameter(`Invalid conf_target, must be between 1 and ${MOST_BLOCKS}`);
      if (!MODES.includes((parameters.optionalText(1) ?? 'ECONOMICAL').toUpperCase()))
        throw invalidParameter('Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"');
      const target = Math.max(LEAST_BLOCKS, Math.min(asked, node.mostFeeBlocks));
      const estimate = node.estimateFee(target);
      const writer = new JsonWriter();
      // What is not relayed is confirmed by nobody.
      if (estimate !== undefined) writer.amountField('{"feerate":', Math.max(estimate.rate, node.pool.info().minRelayFeeRate));
      else writer.ascii('{"errors":["Insufficient data or no feerate found"]');
      writer.integerField(',"blocks":', estimate?.blocks ?? target);
      writer.ascii('}');
      return jsonAnswer(writer.toBuffer());
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;
