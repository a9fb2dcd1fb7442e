// A block of the active chain: its summary, status, header and bytes.

import { toDisplayHex } from '../../bitcoin/hash';
import { bytes, json, text } from '../../describe/open-api';
import { described, named, nullable, object } from '../../describe/schema';
import { BLOCK_HASH, FLAG, HEIGHT, HEX } from '../../describe/values';
import { ESPLORA_BLOCK } from '../../views/esplora/block';
import { JsonWriter } from '../../views/json-writer';
import { blockEndpoint, refuse, writeBlock, type BlockAnswer } from '../blocks';
import { HASH_IN_PATH, NOT_HEX, UNKNOWN_BLOCK } from '../operations';
import { binaryReply, jsonReply, readHash, replyAt, textReply, type EsploraReply } from '../reply';
import type { HeaderRecord } from '../../index/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

export function blockRoutes(context: EsploraContext): Route[] {
  const ofBlock = (answer: BlockAnswer): Endpoint => blockEndpoint(context, answer);
  const [parameters, errors] = [[HASH_IN_PATH], UNKNOWN_BLOCK];
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
        id: 'getBlockStatus',
        summary: 'Whether a block is in the active chain.',
        parameters,
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
