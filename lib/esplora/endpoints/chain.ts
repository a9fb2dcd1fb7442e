// The tip of the chain, its last blocks, and the block at a height.

import { toDisplayHex } from '../../bitcoin/hash';
import { blockNotFound } from '../errors';
import { JsonWriter } from '../../views/json-writer';
import { findNumber, jsonReply, readNumber, replyAt, replyFrom, textReply } from '../reply';
import { writeBlock } from '../blocks';
import type { HeaderRecord } from '../../index/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

const MOST_BLOCKS = 10;
const BLOCK_TEXT_LENGTH = 512;

export function chainRoutes(context: EsploraContext): Route[] {
  return [
    { method: 'GET', path: '/blocks/tip/height', endpoint: tipEndpoint(context, ({ height }) => String(height)) },
    { method: 'GET', path: '/blocks/tip/hash', endpoint: tipEndpoint(context, ({ hash }) => toDisplayHex(hash)) },
    { method: 'GET', path: '/blocks', endpoint: blocksEndpoint(context), isHeavy: true },
    { method: 'GET', path: '/blocks/:start', endpoint: blocksEndpoint(context), isHeavy: true },
    { method: 'GET', path: '/block-height/:height', endpoint: blockAtHeightEndpoint(context) }
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
