// A block of the active chain: its summary, status, header, bytes and transactions.

import { toDisplayHex } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { runInSlices } from '../../turns/slices';
import { bytes, inPath, json, text } from '../../describe/open-api';
import { described, listOf, named, nullable, object } from '../../describe/schema';
import { BLOCK_HASH, COUNT, FLAG, HEIGHT, HEX, TXID } from '../../describe/values';
import { ESPLORA_BLOCK } from '../../views/esplora/block';
import { ESPLORA_TRANSACTION } from '../../views/esplora/transaction';
import { JsonWriter } from '../../views/json-writer';
import { blockEndpoint, refuse, requireBlock, writeBlock, type BlockAnswer } from '../blocks';
import { indexOutOfRange, startNotOfPage, startOutOfRange } from '../errors';
import { HASH_IN_PATH, NOT_HEX, TXID_TEXT, UNKNOWN_BLOCK } from '../operations';
import { binaryReply, findNumber, jsonReply, joinedReply, readHash, readNumber, replyAt, textReply } from '../reply';
import { txidsText } from './txids-text';
import type { HeaderRecord } from '../../index/types';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';
import type { EsploraReply } from '../reply';

/** Transactions in one reply. */
const PAGE_SIZE = 25;

/** Start indexes have 32 bits. */
const MOST_START = 0xffff_ffff;

export function blockRoutes(context: EsploraContext): Route[] {
  const ofBlock = (answer: BlockAnswer): Endpoint => blockEndpoint(context, answer);
  const parameters = [HASH_IN_PATH];
  const [page, errors] = [ofBlock((block, snapshot, request) => transactionsReply(block, snapshot, request, context)), UNKNOWN_BLOCK];
  const pageErrors = {
    400: `The hash is not 64 hex digits, or the start is no multiple of ${PAGE_SIZE} or beyond the last transaction.`,
    404: errors[404]
  };
  const pageAnswer = json('The transactions.', { ...listOf(ESPLORA_TRANSACTION), maxItems: PAGE_SIZE });
  return [
    {
      method: 'GET',
      path: '/block/:hash',
      endpoint: ofBlock((block, _, request) => blockReply(block, request, context)),
      isHeavy: true,
      operation: { id: 'getBlock', summary: 'A block of the active chain.', parameters, answer: json('The block.', ESPLORA_BLOCK), errors }
    },
    {
      method: 'GET',
      path: '/block/:hash/status',
      endpoint: statusEndpoint(context),
      operation: {
        ...{ id: 'getBlockStatus', summary: 'Whether a block is in the active chain.', parameters },
        answer: json('The place of the block.', BLOCK_STATUS),
        errors: { 400: NOT_HEX }
      }
    },
    {
      method: 'GET',
      path: '/block/:hash/header',
      endpoint: ofBlock(({ header }) => textReply(header.toString('hex'))),
      operation: { id: 'getBlockHeader', summary: 'The header of a block.', parameters, answer: text('80 bytes in hex.', HEX), errors }
    },
    {
      method: 'GET',
      path: '/block/:hash/raw',
      endpoint: ofBlock((block, _, request) => rawReply(block, request, context)),
      isHeavy: true,
      operation: { id: 'getBlockRaw', summary: 'The bytes of a block.', parameters, answer: bytes('The serialized block.'), errors }
    },
    {
      method: 'GET',
      path: '/block/:hash/txids',
      endpoint: ofBlock(txidsReply),
      isHeavy: true,
      operation: {
        ...{ id: 'getBlockTxids', summary: 'The transactions of a block, by txid.', parameters, errors },
        answer: json('The txids, in the order of the block.', listOf(TXID))
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
    {
      method: 'GET',
      path: '/block/:hash/txs',
      endpoint: page,
      isHeavy: true,
      operation: {
        id: 'getBlockTransactions',
        summary: `The first ${PAGE_SIZE} transactions of a block.`,
        parameters,
        answer: pageAnswer,
        errors: pageErrors
      }
    },
    {
      method: 'GET',
      path: '/block/:hash/txs/:start',
      endpoint: page,
      isHeavy: true,
      operation: {
        id: 'getBlockTransactionsFrom',
        summary: `${PAGE_SIZE} transactions of a block.`,
        parameters: [HASH_IN_PATH, inPath('start', `The place of the first one, a multiple of ${PAGE_SIZE}.`, COUNT)],
        answer: pageAnswer,
        errors: pageErrors
      }
    }
  ];
}

async function blockReply(block: HeaderRecord, client: EsploraRequest, context: EsploraContext): Promise<EsploraReply> {
  const writer = new JsonWriter();
  await writeBlock(writer, block, client, context);
  return jsonReply(writer.toBuffer());
}

/** What `statusEndpoint` writes. */
const BLOCK_STATUS = named(
  'BlockStatus',
  object({
    in_best_chain: FLAG,
    height: described('null off the active chain.', nullable(HEIGHT)),
    next_best: described('The next block; null at the tip and off the active chain.', nullable(BLOCK_HASH))
  })
);

/** A block that is unknown or off the active chain is reported as not in the best chain. */
function statusEndpoint({ scripts }: EsploraContext): Endpoint {
  return async (request) => {
    const hash = readHash(request.parameter('hash'));
    return scripts.read(({ index }) => {
      const height = index.heightOf(hash);
      const next = height === undefined ? undefined : index.headerAt(height + 1);
      const nextText = next === undefined ? 'null' : `"${toDisplayHex(next.hash)}"`;
      const text = `{"in_best_chain":${height !== undefined},"height":${height ?? 'null'},"next_best":${nextText}}`;
      return Promise.resolve(replyAt(jsonReply(text), index.tip, height));
    });
  };
}

/** Not cached as a reply, since blocks have their own cache. */
async function rawReply(block: HeaderRecord, client: EsploraRequest, context: EsploraContext): Promise<EsploraReply> {
  const raw = await context.blocks.block(block, client);
  return raw === undefined ? refuse(block, context) : { ...binaryReply(raw), basis: undefined };
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
