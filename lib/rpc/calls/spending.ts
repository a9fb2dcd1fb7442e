// gettxspendingprevout: which transactions of the pool spend outputs.

import { invalidParameter, misc } from '../../answers/errors';
import { toDisplayHex } from '../../bitcoin/hash';
import { described, listOf, named, object } from '../../describe/schema';
import { ASKED_HASH, COUNT, FLAG, HEX, TXID } from '../../describe/values';
import { Slice, nextTurn } from '../../turns/slices';
import { plainAnswer, type CallDefinition } from '../call';
import { parseHash, requireObject, requireText, wholeNumber } from '../parameters';

/** Outputs in one call. */
const MOST_OUTPUTS = 10_000;
/** Transactions in one reply, which may have one of 400,000 bytes for each output. */
const MOST_BYTES = 8_000_000;

export const spendingCalls = {
  gettxspendingprevout: {
    summary: 'The transactions of the pool that spend outputs.',
    parameters: [
      {
        name: 'outputs',
        type: 'array',
        usage: '[{"txid":"hex","vout":n},...]',
        schema: { ...listOf(object({ txid: ASKED_HASH, vout: COUNT })), minItems: 1, maxItems: MOST_OUTPUTS }
      },
      {
        name: 'options',
        type: 'object',
        isOptional: true,
        members: ['mempool_only', 'return_spending_tx'],
        usage: '{"mempool_only":bool,"return_spending_tx":bool,...}',
        schema: object(
          {},
          { mempool_only: described('Whether the chain is left out; it cannot be asked.', FLAG), return_spending_tx: FLAG }
        )
      }
    ],
    result: () =>
      listOf(
        named(
          'SpentOutpoint',
          object({ txid: TXID, vout: COUNT }, { spendingtxid: described('Lacking: nothing in the pool spends it.', TXID), spendingtx: HEX })
        )
      ),
    answer: async (parameters, { node: { pool } }) => {
      const outputs = parameters.list(0);
      if (outputs.length === 0) throw invalidParameter('Invalid parameter, outputs are missing');
      if (outputs.length > MOST_OUTPUTS) throw invalidParameter(`Invalid parameter, more than ${MOST_OUTPUTS} outputs`);
      const options = requireObject(parameters.object(1), { mempool_only: 'bool?', return_spending_tx: 'bool?' });
      const slice = new Slice();
      const found: object[] = [];
      let bytes = 0;
      let isLacking = false;
      for (const output of outputs) {
        if (slice.isOverAfterStep()) await nextTurn();
        const { shown, txid, vout } = outpointOf(output);
        const spender = pool.spender(txid, vout);
        const raw = spender && options['return_spending_tx'] === true ? pool.transaction(spender.txid) : undefined;
        bytes += raw?.length ?? 0;
        if (bytes > MOST_BYTES) throw misc(`The spending transactions would take more than ${MOST_BYTES} bytes`);
        isLacking ||= spender === undefined;
        found.push({
          ...shown,
          ...(spender && { spendingtxid: toDisplayHex(spender.txid) }),
          ...(raw && { spendingtx: raw.toString('hex') })
        });
      }
      if (isLacking && options['mempool_only'] === false) throw misc('Mempool lacks a relevant spend, and txospenderindex is unavailable.');
      return plainAnswer(found);
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** `shown`: as it was asked for, with its members in that order. @throws CallError */
function outpointOf(value: unknown): { readonly shown: object; readonly txid: Buffer; readonly vout: number } {
  const shown = requireObject(value, { txid: 'string', vout: 'number' });
  const txid = parseHash(requireText(shown['txid']), 'txid');
  const vout = wholeNumber(shown['vout'], -0x8000_0000, 0x7fff_ffff);
  if (vout < 0) throw invalidParameter('Invalid parameter, vout cannot be negative');
  return { shown, txid, vout };
}
