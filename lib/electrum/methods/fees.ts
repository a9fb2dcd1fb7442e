// What to pay, in bitcoins for 1,000 virtual bytes, and what others pay.

import { BIN_VSIZE, type FeeBin } from '../../script-pool/pool-summary';
import { INCREMENTAL_FEE_RATE } from '../../views/mempool';
import { JsonWriter } from '../../views/json-writer';
import { badRequest, readCount, shown } from './arguments';
import type { Method, MethodContext } from '../method';

/** The longest wait that anybody estimates for. */
const MOST_BLOCKS = 1_008;

const VBYTES_PER_RATE = 1_000;

const MODES = ['CONSERVATIVE', 'ECONOMICAL'];

export function feeMethods({ rest: { node }, fees }: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.estimatefee': {
      parameters: ['number', 'mode'],
      required: 1,
      answer: async ([number, mode]) => {
        const blocks = Math.max(1, Math.min(readCount(number), MOST_BLOCKS));
        // There is one kind of estimate only.
        requireMode(mode);
        const target = (await fees.estimates()).findLast((one) => one.blocks <= blocks);
        return target === undefined ? '-1' : amountText(Math.round(target.rate * VBYTES_PER_RATE));
      }
    },
    'blockchain.relayfee': {
      parameters: [],
      required: 0,
      until: '1.5',
      answer: () => Promise.resolve(amountText(node.pool.info().minRelayFeeRate))
    },
    'mempool.get_info': {
      parameters: [],
      required: 0,
      since: '1.6',
      answer: () => {
        const { minFeeRate, minRelayFeeRate } = node.pool.info();
        const writer = new JsonWriter();
        // What is not relayed does not enter the pool either.
        writer.amountField('{"mempoolminfee":', Math.max(minFeeRate, minRelayFeeRate));
        writer.amountField(',"minrelaytxfee":', minRelayFeeRate);
        writer.amountField(',"incrementalrelayfee":', INCREMENTAL_FEE_RATE);
        writer.ascii('}');
        return Promise.resolve(writer.toBuffer());
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

/** Electrum's servers show full bins only. */
function histogramText(histogram: readonly FeeBin[]): string {
  return JSON.stringify(histogram.filter(({ vsize }) => vsize > BIN_VSIZE).map(({ rate, vsize }) => [rate, vsize]));
}
