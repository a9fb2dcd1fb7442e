// Fee rates, in bitcoins per 1,000 virtual bytes, and the fee histogram of the pool.

import { INCREMENTAL_FEE_RATE } from '../../pool/info';
import { BIN_VSIZE, type FeeBin } from '../../pool/summary';
import { JsonWriter } from '../../views/json-writer';
import { badRequest, readCount, shown } from './arguments';
import type { Method, MethodContext } from '../method';

/** Bitcoin Core's longest confirmation target. */
const MOST_BLOCKS = 1_008;

const VBYTES_PER_RATE = 1_000;

const MODES = ['CONSERVATIVE', 'ECONOMICAL'];

export function feeMethods({ node, fees }: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.estimatefee': {
      parameters: ['number', 'mode'],
      required: 1,
      answer: async ([number, mode]) => {
        const blocks = Math.max(1, Math.min(readCount(number), MOST_BLOCKS));
        // The mode is only checked: there is one kind of estimate.
        requireMode(mode);
        const target = (await fees.estimates()).findLast((one) => one.blocks <= blocks);
        return target === undefined ? '-1' : amountText(Math.round(target.rate * VBYTES_PER_RATE));
      }
    },
    'blockchain.relayfee': {
      parameters: [],
      required: 0,
      until: '1.5',
      answer: () => amountText(node.pool.info().minRelayFeeRate)
    },
    'mempool.get_info': {
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
      parameters: [],
      required: 0,
      answer: async () => histogramText((await fees.summary()).histogram)
    }
  };
}

/** @throws ElectrumError */
function requireMode(mode: unknown): void {
  if (mode === undefined || mode === null) return;
  if (typeof mode !== 'string' || !MODES.includes(mode.toUpperCase())) throw badRequest(`unknown estimatefee mode: ${shown(mode)}`);
}

function amountText(satoshis: number): Buffer {
  const writer = new JsonWriter();
  writer.amount(satoshis);
  return writer.toBuffer();
}

/** Only full bins, as other Electrum servers show them. */
function histogramText(histogram: readonly FeeBin[]): string {
  return JSON.stringify(histogram.filter(({ vsize }) => vsize > BIN_VSIZE).map(({ rate, vsize }) => [rate, vsize]));
}
