// /rest/tx/<txid>.<bin|hex|json> (contract 4.1): a transaction of the active chain or the pool.

import { withoutWitness } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { backfillText } from '../../index/progress/text';
import { transactionJson } from '../../views/transaction';
import { notFound, notYetKnown } from '../errors';
import { ALL_FORMATS, replyIn, splitSuffix, type Reply, type Suffixed } from '../format';
import { parseHash } from './hash-parameter';
import { StateReplies } from '../cache/replies';
import type { FoundTransaction } from '../cache/blocks';
import type { BackfillProgress, HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

interface Question extends Suffixed {
  readonly request: RestRequest;
}

export function transactionEndpoint({ node, reader, witness, blocks, cache }: EndpointContext): Endpoint {
  const prefixes = node.network.addressPrefixes;
  /** Of confirmed transactions. */
  const replies = new StateReplies(cache, 'tx');

  const reply = (raw: Buffer, { format, request }: Question, blockHash?: Buffer): Reply | Promise<Reply> => replyIn(format, {
    binary: () => witness ? raw : withoutWitness(raw),
    json: () => transactionJson(raw, blockHash === undefined ? { prefixes } : { prefixes, blockHash })
  }, ALL_FORMATS, request);

  const confirmed = (raw: Buffer, question: Question, { block }: FoundTransaction, tip: HeaderRecord): Reply | Promise<Reply> => {
    const made = reply(raw, question, block.hash);
    // What the node throws away is not answered from memory.
    return node.pruned ? made : replies.keep(question.request.path, { tip }, made);
  };

  const unconfirmed = (txid: Buffer, question: Question, filling: BackfillProgress | undefined): Reply | Promise<Reply> => {
    const raw = node.pool.transaction(txid);
    // What never will be known is "not found" for Bitcoin Core's clients, too: pruned data.
    if (raw === undefined) throw filling === undefined ? notFound(question.parameter) : notYetKnown(backfillText(filling));
    return reply(raw, question);
  };

  /** Undefined also for what the index cannot tell: it may be in the pool. */
  const find = (txid: Buffer, snapshot: IndexSnapshot): FoundTransaction | undefined => {
    try {
      return blocks.find(txid, snapshot);
    } catch (error) {
      if (error instanceof NotYetKnownError) return undefined;
      throw error;
    }
  };

  return (request) => {
    const { path } = request;
    // The node may have begun to throw blocks away since.
    const kept = node.pruned ? undefined : reader.read((snapshot) => replies.get(path, snapshot));
    if (kept !== undefined) return kept;
    const { parameter, format } = splitSuffix(path);
    const txid = parseHash(parameter);
    const question = { parameter, format, request };
    // Index, then pool, in one tick: a transaction on its way is in at least one of them.
    const { found, filling, tip } = reader.read((snapshot) => ({ found: find(txid, snapshot), filling: snapshot.backfilling, tip: snapshot.tip }));
    if (found === undefined) return unconfirmed(txid, question, filling);
    if ('raw' in found) return confirmed(found.raw, question, found, tip);
    return blocks.transaction(txid, found, request).then(async (raw) => {
      if (raw !== undefined) return confirmed(raw, question, found, tip);
      await blocks.requireActive(found.block);
      return unconfirmed(txid, question, filling);
    });
  };
}
