// The chain from its end: its tip, and which block stands where.

import { toDisplayHex } from '../../bitcoin/hash';
import { blockNotFound } from '../errors';
import { readNumber, replyAt, textReply } from '../reply';
import type { HeaderRecord } from '../../index/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

export function chainRoutes(context: EsploraContext): Route[] {
  return [
    { method: 'GET', path: '/blocks/tip/height', endpoint: tipEndpoint(context, ({ height }) => String(height)) },
    { method: 'GET', path: '/blocks/tip/hash', endpoint: tipEndpoint(context, ({ hash }) => toDisplayHex(hash)) },
    { method: 'GET', path: '/block-height/:height', endpoint: blockAtHeightEndpoint(context) }
  ];
}

function tipEndpoint({ scripts }: EsploraContext, textOf: (tip: HeaderRecord) => string): Endpoint {
  return () => scripts.read(({ index: { tip } }) => Promise.resolve(replyAt(textReply(textOf(tip)), tip, undefined)));
}

function blockAtHeightEndpoint({ scripts }: EsploraContext): Endpoint {
  return async (request) => {
    const height = readNumber(request.parameter('height'));
    return scripts.read(({ index }) => {
      const header = index.headerAt(height);
      if (header === undefined) throw blockNotFound();
      return Promise.resolve(replyAt(textReply(toDisplayHex(header.hash)), index.tip, height));
    });
  };
}
