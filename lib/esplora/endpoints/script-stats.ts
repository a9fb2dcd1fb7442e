// What all transactions did with a script.

import { JsonWriter } from '../../views/json-writer';
import { writeStats } from '../../views/esplora/coins';
import { jsonReply } from '../reply';
import type { ChainTotals } from '../../script-answers/chain-totals';
import type { ScriptAnswer } from './script-answer';

export function scriptStats(totals: ChainTotals): ScriptAnswer {
  return async ({ hash, subject, snapshot, pooled }, request) => {
    const [chain, pool] = await Promise.all([totals.of(hash, snapshot, request), pooled.totals(request)]);
    const writer = new JsonWriter();
    writeStats(writer, subject, chain, pool);
    return jsonReply(writer.toBuffer());
  };
}
