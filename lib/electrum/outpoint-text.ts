// The status of an outpoint as JSON.

import { toDisplayHex } from '../bitcoin/hash';
import { described, named, object, type Schema } from '../describe/schema';
import { INTEGER, TXID } from '../describe/values';
import type { OutpointStatus } from '../answers/outpoints/outpoint-status';

export const outpointText = ({ funderHeight, spender }: OutpointStatus): string =>
  JSON.stringify({
    ...(funderHeight !== undefined && { funder_height: funderHeight }),
    ...(spender !== undefined && { spender_txhash: toDisplayHex(spender.txid), spender_height: spender.height })
  });

const POOL_OR_HEIGHT: Schema = {
  ...INTEGER,
  minimum: -1,
  description: 'The height of its block; 0 in the pool, -1 in the pool while it spends an output that is not confirmed.'
};

/** What `outpointText` makes. */
export const OUTPOINT_STATUS: Schema = named(
  'OutpointStatus',
  object(
    {},
    {
      funder_height: described('Of the transaction that creates the output; absent: there is no such output.', POOL_OR_HEIGHT),
      spender_txhash: described('The transaction that spends it.', TXID),
      spender_height: described('Of that transaction.', POOL_OR_HEIGHT)
    }
  )
);
