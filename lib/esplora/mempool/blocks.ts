// Blocks with what their transactions pay, and their transactions in a few figures.

import { inPath, json } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { HEIGHT } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { EXTENDED_BLOCK, STRIPPED_TRANSACTION } from '../../views/esplora/extended-block';
import { strippedTransaction } from '../../views/esplora/listed-transaction';
import { blockEndpoint, extendedBlock, refuse } from '../blocks';
import { blockNotFound, transactionNotFound } from '../errors';
import { HASH_IN_PATH, NOT_HEX, TXID_IN_PATH, UNKNOWN_BLOCK } from '../operations';
import { findNumber, jsonReply, joinedReply, readHash, replyAt, replyFrom } from '../reply';
import type { BlockFigures, FiguredTransaction } from '../../answers/blocks/block-figures';
import type { HeaderRecord } from '../../index/types';
import type { Client } from '../../turns/client';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';
import type { EsploraReply } from '../reply';

/** Blocks in one reply. */
const PAGE_SIZE = 15;

const TRANSACTIONS_PER_SLICE = 128;

const BLOCKS = json('The blocks, downwards.', { ...listOf(EXTENDED_BLOCK), maxItems: PAGE_SIZE });

export function blockRoutes(context: EsploraContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/blocks',
      endpoint: blocksEndpoint(context),
      isHeavy: true,
      operation: { id: 'getExtendedBlocks', summary: `The last ${PAGE_SIZE} blocks, with what they pay.`, answer: BLOCKS }
    },
    {
      method: 'GET',
      path: '/v1/blocks/:start',
      endpoint: blocksEndpoint(context),
      isHeavy: true,
      operation: {
        id: 'getExtendedBlocksFrom',
        summary: `${PAGE_SIZE} blocks downwards from a height, with what they pay; fewer by as many as the height is above the chain.`,
        parameters: [inPath('start', 'The height of the first one.', HEIGHT)],
        answer: BLOCKS
      }
    },
    {
      method: 'GET',
      path: '/v1/block/:hash',
      endpoint: blockEndpoint(context, (block, _, request) => blockReply(block, request, context)),
      isHeavy: true,
      operation: {
        id: 'getExtendedBlock',
        summary: 'A block of the active chain, with what it pays.',
        parameters: [HASH_IN_PATH],
        answer: json('The block.', EXTENDED_BLOCK),
        errors: UNKNOWN_BLOCK
      }
    },
    {
      method: 'GET',
      path: '/v1/block/:hash/summary',
      endpoint: blockEndpoint(context, (block, _, request) => summaryReply(block, request, context)),
      isHeavy: true,
      operation: {
        id: 'getBlockSummary',
        summary: 'The transactions of a block in a few figures.',
        parameters: [HASH_IN_PATH],
        answer: json('The transactions, in the order of the block.', listOf(STRIPPED_TRANSACTION)),
        errors: UNKNOWN_BLOCK
      }
    },
    {
      method: 'GET',
      path: '/v1/block/:hash/tx/:txid/summary',
      endpoint: blockEndpoint(context, (block, _, request) => transactionReply(block, request, context)),
      isHeavy: true,
      operation: {
        id: 'getTransactionSummary',
        summary: 'A transaction of a block in a few figures.',
        parameters: [HASH_IN_PATH, TXID_IN_PATH],
        answer: json('The transaction.', STRIPPED_TRANSACTION),
        errors: { 400: NOT_HEX, 404: 'The block is not in the active chain, or does not have the transaction.' }
      }
    }
  ];
}

/** Above the tip the page begins at the tip, and is shorter by what is missing. */
function blocksEndpoint(context: EsploraContext): Endpoint {
  return async (request) => {
    const start = findNumber(request.optional('start') ?? '');
    return context.scripts.read(async (snapshot) => {
      const { index } = snapshot;
      const { tip } = index;
      const bases = context.bases.at(snapshot);
      const above = Math.max(0, (start ?? tip.height) - tip.height);
      const texts: Buffer[] = [];
      for (let height = Math.min(start ?? tip.height, tip.height), left = PAGE_SIZE - above; height >= 0 && left > 0; height--, left--) {
        const block = index.headerAt(height);
        if (block === undefined) throw blockNotFound();
        texts.push((await extendedBlock(block, request, context)).text);
      }
      const reply = await joinedReply(texts, request);
      return start === undefined || above > 0 ? replyAt(reply, tip, undefined) : replyFrom(reply, bases.ofBlock(start));
    });
  };
}

const blockReply = async (block: HeaderRecord, client: Client, context: EsploraContext): Promise<EsploraReply> =>
  jsonReply((await extendedBlock(block, client, context)).text);

async function summaryReply(block: HeaderRecord, client: Client, context: EsploraContext): Promise<EsploraReply> {
  const { transactions } = await figuresOf(block, client, context);
  return jsonReply(await runInSlices(summaryText(transactions), client));
}

async function transactionReply(block: HeaderRecord, request: EsploraRequest, context: EsploraContext): Promise<EsploraReply> {
  const txid = readHash(request.parameter('txid'));
  const { transactions } = await figuresOf(block, request, context);
  const found = transactions.find((transaction) => transaction.txid.equals(txid));
  if (found === undefined) throw transactionNotFound();
  return jsonReply(JSON.stringify(strippedTransaction(found)));
}

/** @throws HttpError 404 or 503 when the node no longer has all of the block */
async function figuresOf(block: HeaderRecord, client: Client, context: EsploraContext): Promise<BlockFigures> {
  return (await context.extended.figuresOf(block, client)) ?? refuse(block, context);
}

function* summaryText(transactions: readonly FiguredTransaction[]): Generator<void, string> {
  const texts: string[] = [];
  for (const [i, transaction] of transactions.entries()) {
    texts.push(JSON.stringify(strippedTransaction(transaction)));
    if (i % TRANSACTIONS_PER_SLICE === TRANSACTIONS_PER_SLICE - 1) yield;
  }
  return `[${texts.join(',')}]`;
}
