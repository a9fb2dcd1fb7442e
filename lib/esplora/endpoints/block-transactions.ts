// The transactions of a block: their txids, and pages of them as JSON.

import { toDisplayHex } from '../../bitcoin/hash';
import { inPath, json, text } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { COUNT, TXID } from '../../describe/values';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { runInSlices } from '../../turns/slices';
import { ESPLORA_TRANSACTION } from '../../views/esplora/transaction';
import { blockEndpoint, requireBlock, type BlockAnswer } from '../blocks';
import { indexOutOfRange, startNotOfPage, startOutOfRange } from '../errors';
import { HASH_IN_PATH, TXID_TEXT, UNKNOWN_BLOCK } from '../operations';
import { findNumber, jsonReply, joinedReply, readHash, readNumber, replyAt, textReply, type EsploraReply } from '../reply';
import { txidsText } from './txids-text';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

/** Transactions in one reply. */
const PAGE_SIZE = 25;

/** Start indexes have 32 bits. */
const MOST_START = 0xffff_ffff;

export function blockTransactionRoutes(context: EsploraContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/block/:hash/txids',
      endpoint: blockEndpoint(context, txidsReply),
      isHeavy: true,
      operation: {
        id: 'getBlockTxids',
        summary: 'The transactions of a block, by txid.',
        parameters: [HASH_IN_PATH],
        answer: json('The txids, in the order of the block.', listOf(TXID)),
        errors: UNKNOWN_BLOCK
      }
    },
    {
      method: 'GET',
      path: '/block/:hash/txid/:index',
      endpoint: txidEndpoint(context),
      operation: {
        id: 'getBlockTxid',
        summary: 'The transaction at a place in a block.',
        parameters: [HASH_IN_PATH, inPath('index', 'The place, from 0.', COUNT)],
        answer: text('Its txid.', TXID_TEXT),
        errors: {
          400: 'The hash is not 64 hex digits, or the index is not a number.',
          404: 'The block is not in the active chain, or has fewer transactions.'
        }
      }
    },
    ...pageRoutes(context)
  ];
}

function pageRoutes(context: EsploraContext): Route[] {
  const endpoint = blockEndpoint(context, (block, snapshot, request) => transactionsReply(block, snapshot, request, context));
  const answer = json('The transactions.', { ...listOf(ESPLORA_TRANSACTION), maxItems: PAGE_SIZE });
  const errors = {
    400: `The hash is not 64 hex digits, or the start is no multiple of ${PAGE_SIZE} or beyond the last transaction.`,
    404: UNKNOWN_BLOCK[404]
  };
  const start = inPath('start', `The place of the first one, a multiple of ${PAGE_SIZE}.`, COUNT);
  return [
    {
      method: 'GET',
      path: '/block/:hash/txs',
      endpoint,
      isHeavy: true,
      operation: {
        id: 'getBlockTransactions',
        summary: `The first ${PAGE_SIZE} transactions of a block.`,
        parameters: [HASH_IN_PATH],
        answer,
        errors
      }
    },
    {
      method: 'GET',
      path: '/block/:hash/txs/:start',
      endpoint,
      isHeavy: true,
      operation: {
        id: 'getBlockTransactionsFrom',
        summary: `${PAGE_SIZE} transactions of a block.`,
        parameters: [HASH_IN_PATH, start],
        answer,
        errors
      }
    }
  ];
}

const txidsReply: BlockAnswer = async ({ height }, snapshot, client) =>
  jsonReply(await runInSlices(txidsText(await snapshot.txids(height)), client));

function txidEndpoint({ scripts, bases }: EsploraContext): Endpoint {
  return async (request) => {
    const hash = readHash(request.parameter('hash'));
    const n = readNumber(request.parameter('index'));
    return scripts.read((snapshot) => {
      const { index } = snapshot;
      const { height } = requireBlock(hash, index);
      const basis = bases.at(snapshot).ofBlock(height);
      const txid = n < MAX_TRANSACTIONS ? snapshot.txidAt({ height, index: n }) : undefined;
      if (txid === undefined) throw indexOutOfRange();
      return Promise.resolve({ ...textReply(toDisplayHex(txid)), basis, isImmutable: true });
    });
  };
}

/** @throws HttpError 400 */
async function transactionsReply(
  { height }: HeaderRecord,
  snapshot: ScriptSnapshot,
  request: EsploraRequest,
  { transactions, bases, node }: EsploraContext
): Promise<EsploraReply> {
  const start = findNumber(request.optional('start') ?? '', MOST_START) ?? 0;
  if (start % PAGE_SIZE !== 0) throw startNotOfPage(PAGE_SIZE);
  const of = node.pruned ? undefined : bases.at(snapshot);
  const txids = await snapshot.txids(height);
  if (start >= txids.length) throw startOutOfRange();
  const { index } = snapshot;
  const page = txids.slice(start, start + PAGE_SIZE).map((txid, i) => ({ txid, position: { height, index: start + i } }));
  return replyAt(await joinedReply(await transactions.confirmed(page, index, request), request), index.tip, height, of);
}
