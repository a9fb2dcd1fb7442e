// /rest/tx/<txid>.<bin|hex|json> (contract 4.1): a transaction of the active chain or the pool.

import { withoutWitness } from '../../bitcoin/transaction';
import { NotYetKnownError } from '../../index/errors';
import { transactionJson } from '../../views/transaction';
import { notFound } from '../errors';
import { ALL_FORMATS, parseHash, replyIn, splitSuffix, type Reply } from '../format';
import { ReplyCache, type StateReply } from '../cache/replies';
import type { FoundTransaction } from '../cache/blocks';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

/** What index and pool know of a transaction at one moment. */
interface Found {
  readonly tip: HeaderRecord;
  readonly confirmed?: FoundTransaction | undefined;
  /** From the pool, where the index has none. */
  readonly pooled?: Buffer | undefined;
}

export function transactionEndpoint(context: EndpointContext): Endpoint {
  const { node, reader, witness, blocks } = context;
  const prefixes = node.network.addressPrefixes;
  const replies = new ReplyCache('tx', context);

  /** @throws NotYetKnownError when the pool does not have what the index cannot tell */
  const find = (txid: Buffer, snapshot: IndexSnapshot): Found => {
    const { tip } = snapshot;
    const pooled = (): Buffer | undefined => node.pool.transaction(txid);
    try {
      const confirmed = blocks.find(txid, snapshot);
      return confirmed === undefined ? { tip, pooled: pooled() } : { tip, confirmed };
    } catch (error) {
      const inPool = error instanceof NotYetKnownError ? pooled() : undefined;
      // What the index will never know is not found for clients of Bitcoin Core either: pruned data.
      if (inPool === undefined && !(error instanceof NotYetKnownError && error.backfill === undefined)) throw error;
      return { tip, pooled: inPool };
    }
  };

  const answer = async (request: RestRequest): Promise<StateReply> => {
    const { parameter, format } = splitSuffix(request.path);
    const txid = parseHash(parameter);
    const replyWith = (raw: Buffer, blockHash?: Buffer): Promise<Reply> => replyIn(format, {
      binary: () => witness ? raw : withoutWitness(raw),
      json: () => transactionJson(raw, { prefixes, blockHash })
    }, ALL_FORMATS, request);
    // Index, then pool, in one tick: a transaction on its way is in at least one of them.
    const { tip, confirmed, pooled } = reader.read((snapshot) => find(txid, snapshot));
    const raw = await confirmed?.read(request);
    if (confirmed !== undefined && raw !== undefined) {
      const reply = await replyWith(raw, confirmed.block.hash);
      return node.pruned ? reply : { ...reply, tip };
    }
    if (confirmed !== undefined) await blocks.requireActive(confirmed.block);
    const unconfirmed = pooled ?? node.pool.transaction(txid);
    if (unconfirmed === undefined) throw notFound(parameter);
    return replyWith(unconfirmed);
  };

  return (request) => replies.reply(request.path, () => answer(request));
}
