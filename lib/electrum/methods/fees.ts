// Fee rates, in bitcoins per 1,000 virtual bytes, and the fee histogram of the pool.

import { INCREMENTAL_FEE_RATE } from '../../pool/info';
import { BIN_VSIZE, type FeeBin, type PoolSummary } from '../../pool/summary';
import { described, listOf, named, nullable, object, tuple } from '../../describe/schema';
import { CORE_FEE_RATE, COUNT, FEE_RATE, VBYTES } from '../../describe/values';
import { JsonWriter } from '../../views/json-writer';
import { badRequest, readCount, shown } from './arguments';
import type { FeeTarget } from '../../pool/fee-estimates';
import type { Method, MethodContext } from '../method';

/** Bitcoin Core's longest confirmation target. */
const MOST_BLOCKS = 1_008;

const VBYTES_PER_RATE = 1_000;

const MODES = ['CONSERVATIVE', 'ECONOMICAL'];

export function feeMethods({ node, fees }: MethodContext): Readonly<Record<string, Method>> {
  const histogram = histogramTexts();
  return {
    'blockchain.estimatefee': {
      about: {
        summary: 'An estimate of the fee rate for confirmation within some blocks.',
        parameters: [
          { ...COUNT, description: `Blocks; 1 to ${MOST_BLOCKS}, beyond which it is the nearest.` },
          nullable({ type: 'string', description: `One of ${MODES.join(', ')}, in any case; there is one kind of estimate.` })
        ],
        result: { ...CORE_FEE_RATE, description: 'BTC for each 1,000 virtual bytes; -1 while there is no estimate.' }
      },
      parameters: ['number', 'mode'],
      required: 1,
      answer: ([number, mode]) => {
        const blocks = Math.max(1, Math.min(readCount(number), MOST_BLOCKS));
        // The mode is only checked: there is one kind of estimate.
        requireMode(mode);
        const estimates = fees.estimates();
        return estimates instanceof Promise ? estimates.then((later) => estimateText(later, blocks)) : estimateText(estimates, blocks);
      }
    },
    'blockchain.relayfee': {
      about: { summary: 'What a transaction has to pay for being relayed.', parameters: [], result: CORE_FEE_RATE },
      parameters: [],
      required: 0,
      until: '1.5',
      answer: () => amountText(node.pool.info().minRelayFeeRate)
    },
    'mempool.get_info': {
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
        // A transaction below the relay fee does not enter the pool either.
        writer.amountField('{"mempoolminfee":', Math.max(minFeeRate, minRelayFeeRate));
        writer.amountField(',"minrelaytxfee":', minRelayFeeRate);
        writer.amountField(',"incrementalrelayfee":', INCREMENTAL_FEE_RATE);
        writer.ascii('}');
        return writer.toBuffer();
      }
    },
    'mempool.get_fee_histogram': {
      about: {
        summary: 'The fee rates in the pool.',
        parameters: [],
        result: described(
          'From the highest rates down: a rate, and the virtual bytes that pay at least that.',
          listOf(tuple(FEE_RATE, VBYTES))
        )
      },
      parameters: [],
      required: 0,
      answer: () => {
        const summary = fees.summary();
        return summary instanceof Promise ? summary.then(histogram) : histogram(summary);
      }
    }
  };
}

/** @throws ElectrumError */
function requireMode(mode: unknown): void {
  if (mode === undefined || mode === null) return;
  if (typeof mode !== 'string' || !MODES.includes(mode.toUpperCase())) throw badRequest(`unknown estimatefee mode: ${shown(mode)}`);
}

function estimateText(estimates: readonly FeeTarget[], blocks: number): string {
  const target = estimates.findLast((one) => one.blocks <= blocks);
  return target === undefined ? '-1' : amountText(Math.round(target.rate * VBYTES_PER_RATE));
}

function amountText(satoshis: number): string {
  const writer = new JsonWriter();
  writer.amount(satoshis);
  return writer.toString();
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
