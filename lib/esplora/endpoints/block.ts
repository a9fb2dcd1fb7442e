// Blocks of the active chain: where they stand, what they hold.

import { toDisplayHex } from '../../bitcoin/hash';
import { blockNotFound } from '../errors';
import { jsonReply, readHash, replyAt, textReply } from '../reply';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

export function blockRoutes(context: EsploraContext): Route[] {
  return [
    { method: 'GET', path: '/block/:hash/status', endpoint: statusEndpoint(context) },
    { method: 'GET', path: '/block/:hash/header', endpoint: headerEndpoint(context) }
  ];
}

/** Of a block that is unknown, or off the active chain, it says that it is not in the chain. */
function statusEndpoint({ scripts }: EsploraContext): Endpoint {
  return async (request) => {
    const hash = readHash(request.parameter('hash'));
    return scripts.read(({ index }) => {
      const height = index.heightOf(hash);
      const next = height === undefined ? undefined : index.headerAt(height + 1);
      const text = `{"in_best_chain":${height !== undefined},"height":${height ?? 'null'},"next_best":${quoted(next)}}`;
      return Promise.resolve(replyAt(jsonReply(text), index.tip, height));
    });
  };
}

function headerEndpoint({ scripts }: EsploraContext): Endpoint {
  return async (request) => {
    const hash = readHash(request.parameter('hash'));
    return scripts.read(({ index }) => {
      const { header } = requireBlock(hash, index);
      return Promise.resolve({ ...textReply(header.toString('hex')), tip: index.tip, isImmutable: true });
    });
  };
}

const quoted = (header: HeaderRecord | undefined): string => (header === undefined ? 'null' : `"${toDisplayHex(header.hash)}"`);

/** @throws RestError 404 unless the block is in the active chain */
function requireBlock(hash: Buffer, index: IndexSnapshot): HeaderRecord {
  const height = index.heightOf(hash);
  const header = height === undefined ? undefined : index.headerAt(height);
  if (header === undefined) throw blockNotFound();
  return header;
}
