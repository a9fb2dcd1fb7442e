// The tip of the chain, its last blocks, and the block at a height.

import { toDisplayHex } from '../../bitcoin/hash';
import { inPath, json, text } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { BLOCK_HASH, HEIGHT } from '../../describe/values';
import { blockNotFound } from '../errors';
import { HEIGHT_TEXT } from '../operations';
import { ESPLORA_BLOCK } from '../../views/esplora/block';
import { JsonWriter } from '../../views/json-writer';
import { findNumber, jsonReply, readNumber, replyAt, replyFrom, textReply } from '../reply';
import { writeBlock } from '../blocks';
import type { HeaderRecord } from '../../index/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

const MOST_BLOCKS = 10;
const BLOCK_TEXT_LENGTH = 512;

const BLOCKS = json('The blocks, downwards.', { ...listOf(ESPLORA_BLOCK), maxItems: MOST_BLOCKS });

export function chainRoutes(context: EsploraContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/blocks/tip/height',
      endpoint: tipEndpoint(context, ({ height }) => String(height)),
      operation: { id: 'getTipHeight', summary: 'The height of the chain.', answer: text('The height.', HEIGHT_TEXT) }
    },
    {
      method: 'GET',
      path: '/blocks/tip/hash',
      endpoint: tipEndpoint(context, ({ hash }) => toDisplayHex(hash)),
      operation: { id: 'getTipHash', summary: 'The last block of the chain.', answer: text('Its hash.', BLOCK_HASH) }
    },
    {
      method: 'GET',
      path: '/blocks',
      endpoint: blocksEndpoint(context),
      isHeavy: true,
      operation: { id: 'getBlocks', summary: `The last ${MOST_BLOCKS} blocks.`, answer: BLOCKS }
    },
    {
      method: 'GET',
      path: '/blocks/:start',
      endpoint: blocksEndpoint(context),
      isHeavy: true,
      operation: {
        id: 'getBlocksFrom',
        summary: `${MOST_BLOCKS} blocks, downwards from a height.`,
        parameters: [inPath('start', 'The height of the first one.', HEIGHT)],
        answer: BLOCKS,
        errors: { 404: 'The chain is not that high.' }
      }
    },
    {
      method: 'GET',
      path: '/block-height/:height',
      endpoint: blockAtHeightEndpoint(context),
      operation: {
        id: 'getBlockAtHeight',
        summary: 'The block at a height.',
        parameters: [inPath('height', 'The height.', HEIGHT)],
        answer: text('Its hash.', BLOCK_HASH),
        errors: { 400: 'The height is not a number.', 404: 'The chain is not that high.' }
      }
    }
  ];
}

function tipEndpoint({ scripts }: EsploraContext, textOf: (tip: HeaderRecord) => string): Endpoint {
  return () => scripts.read(({ index: { tip } }) => Promise.resolve(replyAt(textReply(textOf(tip)), tip, undefined)));
}

/** Blocks downwards from a height, or from the tip. */
function blocksEndpoint(context: EsploraContext): Endpoint {
  return async (request) => {
    const start = findNumber(request.optional('start') ?? '');
    return context.scripts.read(async (snapshot) => {
      const { index } = snapshot;
      const { tip } = index;
      const bases = context.bases.at(snapshot);
      const writer = new JsonWriter(MOST_BLOCKS * BLOCK_TEXT_LENGTH);
      writer.ascii('[');
      for (let height = start ?? tip.height, left = MOST_BLOCKS; height >= 0 && left > 0; height--, left--) {
        const block = index.headerAt(height);
        if (block === undefined) throw blockNotFound();
        if (left < MOST_BLOCKS) writer.ascii(',');
        await writeBlock(writer, block, request, context);
      }
      writer.ascii(']');
      const reply = jsonReply(writer.toBuffer());
      return start === undefined ? replyAt(reply, tip, undefined) : replyFrom(reply, bases.ofBlock(start));
    });
  };
}

function blockAtHeightEndpoint({ scripts, bases }: EsploraContext): Endpoint {
  return async (request) => {
    const height = readNumber(request.parameter('height'));
    return scripts.read((snapshot) => {
      const { index } = snapshot;
      const header = index.headerAt(height);
      if (header === undefined) throw blockNotFound();
      return Promise.resolve(replyAt(textReply(toDisplayHex(header.hash)), index.tip, height, bases.at(snapshot)));
    });
  };
}
