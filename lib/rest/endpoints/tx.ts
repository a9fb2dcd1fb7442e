// /rest/tx/<txid>.<bin|hex|json> (contract 4.1): a transaction of the active chain or the pool.

import { scanWholeTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { transactionJson } from '../../views/transaction';
import { notFound } from '../errors';
import { ALL_FORMATS, parseHash, replyIn, splitSuffix } from '../format';
import type { FoundTransaction } from '../cache/blocks';
import type { IndexSnapshot } from '../../index/types';
import { styleOf, type Endpoint, type EndpointContext } from '../endpoint';

export function transactionEndpoint(context: EndpointContext): Endpoint {
  const { node, reader, witness, blocks } = context;
  const { genesisCoinbase } = context.profile.replies;
  const { prefixes, fields } = styleOf(context);

  /** In the index. @throws NotYetKnownError when the index cannot tell, and the pool does not have it either. */
  const find = (txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined => {
    try {
      return blocks.find(txid, snapshot);
    } catch (error) {
      if (!(error instanceof NotYetKnownError)) throw error;
      // What the index will never know is not found for clients of Bitcoin Core either: pruned data.
      if (error.backfill !== undefined && node.pool.transaction(txid) === undefined) throw error;
      return undefined;
    }
  };

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const txid = parseHash(parameter);
    const { tip, found } = reader.read((snapshot) => ({ tip: snapshot.tip, found: find(txid, snapshot) }));
    if (found?.block.height === 0 && !genesisCoinbase) throw notFound(parameter);
    const confirmed = found && (await found.read(request));
    if (found !== undefined && confirmed === undefined) await blocks.requireActive(found.block);
    // In the tick of the index, unless that had it: a transaction on its way is in at least one of them.
    const pooled = confirmed === undefined ? node.pool.transaction(txid) : undefined;
    const transaction = confirmed ?? (pooled && scanWholeTransaction(pooled));
    if (transaction === undefined) throw notFound(parameter);
    const blockHash = confirmed && found.block.hash;
    const forms = {
      binary: () => (witness ? transaction.raw : transaction.stripped),
      json: () => transactionJson(transaction, { prefixes, fields, blockHash })
    };
    return await replyIn(format, forms, ALL_FORMATS, request, confirmed === undefined || node.pruned ? undefined : tip);
  };
}
