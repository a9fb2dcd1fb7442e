// /rest/tx/<txid>.<bin|hex|json>: a transaction of the active chain or the pool.

import { styleOf, type Answers } from '../../answers/answers';
import { scanWholeTransaction } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { described } from '../../describe/schema';
import { BLOCK_HASH } from '../../describe/values';
import { UnreadableBlockError } from '../../node/errors';
import { transactionJson, transactionSchema } from '../../views/transaction';
import { notFound } from '../errors';
import { ALL_FORMATS, parseHash, replyIn, splitSuffix } from '../format';
import { hashInPath, inFormats } from '../operations';
import type { FoundTransaction } from '../../answers/blocks/raw-blocks';
import type { IndexSnapshot } from '../../index/types';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

export function transactionEndpoint(answers: Answers): Endpoint {
  const { node, reader, witness, blocks } = answers;
  const { genesisCoinbase } = answers.profile.replies;
  const { prefixes, fields } = styleOf(answers);

  /** Looks in the index. @throws NotYetKnownError when the index cannot tell yet and the pool does not have the transaction. */
  const find = (txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined => {
    try {
      return blocks.find(txid, snapshot);
    } catch (error) {
      if (!(error instanceof NotYetKnownError)) throw error;
      // Without a backfill the index will never know: the data is pruned, and Bitcoin Core would not find the transaction either.
      if (error.backfill !== undefined && node.pool.transaction(txid) === undefined) throw error;
      return undefined;
    }
  };

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const txid = parseHash(parameter);
    const { tip, found } = reader.read((snapshot) => ({ tip: snapshot.tip, found: find(txid, snapshot) }));
    if (found?.block.height === 0 && !genesisCoinbase) throw notFound(parameter);
    let lost: UnreadableBlockError | undefined;
    const confirmed = await found?.read(request).catch((error: unknown) => {
      if (!(error instanceof UnreadableBlockError)) throw error;
      lost = error;
      return undefined;
    });
    if (found !== undefined && confirmed === undefined) await blocks.requireActive(found.block);
    // Read in the same tick as the index, unless that had it: a transaction that is being confirmed is in at least one of the two.
    const pooled = confirmed === undefined ? node.pool.transaction(txid) : undefined;
    const transaction = confirmed ?? (pooled && scanWholeTransaction(pooled));
    if (transaction === undefined) throw notFound(parameter, lost);
    const blockHash = confirmed && found?.block.hash;
    const forms = {
      binary: () => (witness ? transaction.raw : transaction.stripped),
      json: () => transactionJson(transaction, { prefixes, fields, blockHash })
    };
    return await replyIn(format, forms, ALL_FORMATS, request, confirmed === undefined || node.pruned ? undefined : tip);
  };
}

export function transactionOperations({ profile: { fields } }: Pick<Answers, 'profile'>): PlacedOperation[] {
  const blockhash = described('The block that holds it; lacking for a transaction of the pool.', BLOCK_HASH);
  return inFormats({
    id: 'getTransaction',
    path: '/tx/{txid}',
    summary: 'A transaction of the active chain or the pool.',
    parameters: [hashInPath('txid', 'The txid.')],
    formats: {
      bin: 'The serialized transaction.',
      json: { description: 'The transaction.', schema: transactionSchema('Transaction', fields, false, { blockhash }) }
    },
    errors: { 400: 'The txid is not 64 hex digits.', 404: 'Neither the chain nor the pool has it.' }
  });
}
