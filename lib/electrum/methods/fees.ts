// Fee rates, in bitcoins per 1,000 virtual bytes.

import { VBYTES_PER_RATE } from '../../bitcoin/transaction';
import { nullable } from '../../describe/schema';
import { CORE_FEE_RATE, COUNT } from '../../describe/values';
import { LONGEST_TARGET } from '../../pool/fee-estimates';
import { JsonWriter } from '../../views/json-writer';
import { badRequest, readCount, shown } from './arguments';
import type { FeeTarget } from '../../pool/fee-estimates';
import type { Method, MethodContext } from '../method';

const MODES = ['CONSERVATIVE', 'ECONOMICAL'];

export function feeMethods({ node, fees }: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.estimatefee': {
      about: {
        summary: 'An estimate of the fee rate for confirmation within some blocks.',
        parameters: [
          { ...COUNT, description: `Blocks; 1 to ${LONGEST_TARGET}, beyond which it is the nearest.` },
          nullable({ type: 'string', description: `One of ${MODES.join(', ')}, in any case; there is one kind of estimate.` })
        ],
        result: { ...CORE_FEE_RATE, description: 'BTC for each 1,000 virtual bytes; -1 while there is no estimate.' }
      },
      parameters: ['number', 'mode'],
      required: 1,
      answer: ([number, mode]) => {
        const blocks = Math.max(1, readCount(number));
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
