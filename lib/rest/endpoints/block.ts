// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/... (contract 4.2): all blocks
// that the node knows, also off the active chain.

import { blockWithoutWitness, scanBlock } from '../../bitcoin/block';
import { blockJson, blockSummaryJson } from '../../views/block';
import { hexLine } from '../../views/hex';
import { formatNotFound } from '../errors';
import { ALL_FORMATS, CONTENT_TYPES, parseHash, splitSuffix, type Format, type Reply } from '../format';
import { keyOf } from '../cache/blocks';
import { ReplyCache, type StateReply } from '../cache/replies';
import { findActiveBlock, findOtherBlock, refuseBlock, type KnownBlock } from './known-block';
import type { HeldText } from '../cache/texts';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

/** Blocks with their transactions in JSON. */
export function blockEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockJson, 'json', context);
}

/** Blocks with only the txids of their transactions in JSON: short, and dear, since all txids are hashed for it. */
export function blockSummaryEndpoint(context: EndpointContext): Endpoint {
  const replies = new ReplyCache('summary', context);
  const answer = endpointWith(blockSummaryJson, 'summary', context);
  return (request) => replies.reply(request.path, () => answer(request));
}

function endpointWith(write: typeof blockJson, name: string, context: EndpointContext): (request: RestRequest) => Promise<StateReply> {
  const { node, witness, blocks, texts } = context;
  /** Where the block stands is part of its JSON; nothing else of that ever changes. Both endpoints have the same hex. */
  const textKey = ({ hash, confirmations, nextHash }: KnownBlock, format: 'hex' | 'json'): string =>
    format === 'hex' ? `hex/${keyOf(hash)}` : `${name}/${keyOf(hash)}${confirmations}${nextHash === undefined ? '' : keyOf(nextHash)}`;

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const block = findActiveBlock(hash, context) ?? (await findOtherBlock(hash, parameter, context));
    const isActive = block.tip !== undefined;
    // A node that prunes may throw the block away at any time.
    const tip = node.pruned ? undefined : block.tip;
    // The node may drop what is off the chain at any time: no answer from memory before it has been asked.
    if (isActive && !blocks.isPruned(block) && (format === 'hex' || format === 'json')) {
      const text = texts.get(textKey(block, format));
      if (text !== undefined) return { ...textReply(text, format), tip };
    }
    const raw = isActive ? await blocks.block(block, request) : await node.rawBlock(hash);
    if (raw === undefined) return refuseBlock(block, parameter, context);
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    const bytes = (): Buffer => (witness ? raw : blockWithoutWitness(raw));
    if (format === 'bin') return { contentType: CONTENT_TYPES.bin, body: bytes() };
    const view = { ...block, prefixes: node.network.addressPrefixes, hexWithWitness: witness };
    const text = await texts.make(textKey(block, format), request, (allocate) =>
      format === 'hex' ? hexLine(bytes(), allocate) : write(scanBlock(raw), view, allocate)
    );
    return { ...textReply(text, format), tip };
  };
}

function textReply({ text, release }: HeldText, format: Format): Reply {
  return { contentType: CONTENT_TYPES[format], body: text, release };
}
