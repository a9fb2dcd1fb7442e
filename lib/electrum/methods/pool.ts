// The pool: what it asks for, what is in it, and what came last.

import { toDisplayHex } from '../../bitcoin/hash';
import { described, listOf, named, object, tuple } from '../../describe/schema';
import { CORE_FEE_RATE, FEE_RATE, SATOSHIS, TXID, VBYTES } from '../../describe/values';
import { LIMITS } from '../../policy/limits';
import { BIN_VSIZE, type FeeBin, type PoolSummary } from '../../pool/summary';
import { JsonWriter } from '../../views/json-writer';
import type { Method, MethodContext } from '../method';

/** Transactions that are listed as the last ones. */
const MOST_RECENT = 10;

export function poolMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'mempool.get_info': getInfo(context),
    'mempool.get_fee_histogram': getFeeHistogram(context),
    'mempool.recent': recent(context)
  };
}

function getInfo({ node }: MethodContext): Method {
  return {
    about: {
      summary: 'What a transaction has to pay for entering the pool.',
      parameters: [],
      result: named(
        'MempoolInfo',
        object({ mempoolminfee: CORE_FEE_RATE, minrelaytxfee: CORE_FEE_RATE, incrementalrelayfee: CORE_FEE_RATE })
      )
    },
    parameters: [],
    required: 0,
    since: '1.6',
    answer: () => {
      const { minFeeRate, minRelayFeeRate } = node.pool.info();
      const writer = new JsonWriter();
      writer.amountField('{"mempoolminfee":', minFeeRate);
      writer.amountField(',"minrelaytxfee":', minRelayFeeRate);
      writer.amountField(',"incrementalrelayfee":', LIMITS.incrementalRate);
      writer.ascii('}');
      return writer.toBuffer();
    }
  };
}

function getFeeHistogram({ fees }: MethodContext): Method {
  const textOf = histogramTexts();
  return {
    about: {
      summary: 'The fee rates in the pool.',
      parameters: [],
      result: described(
        'From the highest rates down: a rate, and the virtual bytes that pay this rate up to the one before.',
        listOf(tuple(FEE_RATE, VBYTES))
      )
    },
    parameters: [],
    required: 0,
    answer: () => {
      const summary = fees.summary();
      return summary instanceof Promise ? summary.then(textOf) : textOf(summary);
    }
  };
}

function recent({ pool }: MethodContext): Method {
  return {
    about: {
      summary: 'The last transactions that entered the pool, the newest first.',
      parameters: [],
      result: {
        ...listOf(named('RecentTransaction', object({ txid: TXID, fee: SATOSHIS, vsize: VBYTES }))),
        maxItems: MOST_RECENT
      }
    },
    parameters: [],
    required: 0,
    answer: () => JSON.stringify(pool.newest(MOST_RECENT).map(({ txid, fee, vsize }) => ({ txid: toDisplayHex(txid), fee, vsize })))
  };
}

/** The text is made once for each summary. */
function histogramTexts(): (summary: PoolSummary) => string {
  let [known, text]: [PoolSummary | undefined, string] = [undefined, ''];
  return (summary) => {
    if (summary !== known) [known, text] = [summary, histogramText(summary.histogram)];
    return text;
  };
}

/** Only full bins, as other Electrum servers show them. */
function histogramText(histogram: readonly FeeBin[]): string {
  return JSON.stringify(histogram.filter(({ vsize }) => vsize > BIN_VSIZE).map(({ rate, vsize }) => [rate, vsize]));
}
