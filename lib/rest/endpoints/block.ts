// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/... (contract 4.2): any block
// that the node knows, also off the active chain.

import { blockWithoutWitness } from '../../bitcoin/block';
import { blockJson, blockSummaryJson } from '../../views/block';
import { notFound, prunedBlock } from '../errors';
import { ALL_FORMATS, replyIn, splitSuffix } from '../format';
import { parseHash } from '../hash-parameter';
import type { IndexSnapshot } from '../../index/types';
import type { HeaderContext } from '../../views/header-fields';
import type { Endpoint, EndpointContext } from '../endpoint';

/** Blocks with their transactions in JSON. */
export function blockEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockJson, context);
}

/** Blocks with only the txids of their transactions in JSON. */
export function blockSummaryEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockSummaryJson, context);
}

function endpointWith(view: typeof blockJson, { node, reader, witness }: EndpointContext): Endpoint {
  const prefixes = node.network.addressPrefixes;
  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const place = reader.read((snapshot) => activePlace(hash, snapshot)) ?? await inactivePlace(hash, node);
    if (place === undefined) throw notFound(parameter);
    const raw = await node.rawBlock(hash);
    if (raw === undefined) throw node.pruned ? prunedBlock(parameter) : notFound(parameter);
    return replyIn(format, {
      binary: () => witness ? raw : blockWithoutWitness(raw),
      json: () => view(raw, { ...place, prefixes, hexWithWitness: witness })
    }, ALL_FORMATS, request);
  };
}

function activePlace(hash: Buffer, snapshot: IndexSnapshot): HeaderContext | undefined {
  const height = snapshot.heightOf(hash);
  const record = height === undefined ? undefined : snapshot.headerAt(height);
  if (record === undefined) return undefined;
  const { chainwork, medianTime } = record;
  const next = snapshot.headerAt(record.height + 1);
  return {
    height: record.height,
    confirmations: snapshot.tip.height - record.height + 1,
    chainwork,
    medianTime,
    ...next !== undefined && { nextHash: next.hash }
  };
}

async function inactivePlace(hash: Buffer, node: EndpointContext['node']): Promise<HeaderContext | undefined> {
  const entry = await node.entry(hash);
  if (entry === undefined) return undefined;
  const { height, chainwork, medianTime } = entry;
  return { height, confirmations: -1, chainwork, medianTime };
}
