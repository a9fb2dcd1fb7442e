// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/... (contract 4.2): all blocks
// that the node knows, also off the active chain.

import { blockWithoutWitness, scanBlock } from '../../bitcoin/block';
import { blockJson, blockSummaryJson, type BlockContext } from '../../views/block';
import { detailsAt } from '../../views/header';
import { hexLine } from '../../views/hex';
import { chainMoving, formatNotFound, notFound, prunedBlock } from '../errors';
import { ALL_FORMATS, CONTENT_TYPES, parseHash, splitSuffix, type Format, type Reply } from '../format';
import { keyOf } from '../cache/blocks';
import type { IndexSnapshot } from '../../index/types';
import type { NodeSource } from '../../node/types';
import type { HeldText } from '../cache/texts';
import type { Endpoint, EndpointContext } from '../endpoint';

/** Blocks with their transactions in JSON. */
export function blockEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockJson, 'json', context);
}

/** Blocks with only the txids of their transactions in JSON: short, and dear, since all txids are hashed for it. */
export function blockSummaryEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockSummaryJson, 'summary', context);
}

/** A block that the node knows: what its JSON says beside its bytes. */
interface KnownBlock extends Omit<BlockContext, 'prefixes' | 'hexWithWitness'> {
  readonly hash: Buffer;
}

function endpointWith(view: typeof blockJson, name: string, { node, reader, witness, blocks, texts }: EndpointContext): Endpoint {
  /** Where the block stands is part of its JSON; nothing else of that ever changes. Both endpoints have the same hex. */
  const textKey = ({ hash, confirmations, nextHash }: KnownBlock, format: 'hex' | 'json'): string =>
    format === 'hex' ? `hex/${keyOf(hash)}` : `${name}/${keyOf(hash)}${confirmations}${nextHash === undefined ? '' : keyOf(nextHash)}`;

  /** The node does not have the bytes. @throws RestError */
  const refuse = async (block: KnownBlock, parameter: string): Promise<never> => {
    if (block.confirmations > 0) await blocks.requireActive(block);
    else if (node.resetting) throw chainMoving();
    throw node.pruned ? prunedBlock(parameter) : notFound(parameter);
  };

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const active = reader.read((snapshot) => activeBlock(hash, snapshot));
    const block = active ?? (await inactiveBlock(hash, node));
    if (block === undefined) throw node.resetting ? chainMoving() : notFound(parameter);
    const isActive = active !== undefined;
    // A node that prunes may throw the block away at any time.
    const tip = node.pruned ? undefined : active?.tip;
    // The node may drop what is off the chain at any time: no answer from memory before it has been asked.
    if (isActive && !blocks.isPruned(block) && (format === 'hex' || format === 'json')) {
      const text = texts.get(textKey(block, format));
      if (text !== undefined) return { ...textReply(text, format), tip };
    }
    const raw = isActive ? await blocks.block(block, request) : await node.rawBlock(hash);
    if (raw === undefined) return refuse(block, parameter);
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    const bytes = (): Buffer => (witness ? raw : blockWithoutWitness(raw));
    if (format === 'bin') return { contentType: CONTENT_TYPES.bin, body: bytes() };
    const context = { ...block, prefixes: node.network.addressPrefixes, hexWithWitness: witness };
    const text = await texts.make(textKey(block, format), request, (allocate) =>
      format === 'hex' ? hexLine(bytes(), allocate) : view(scanBlock(raw), context, allocate)
    );
    return { ...textReply(text, format), tip };
  };
}

function textReply({ text, release }: HeldText, format: Format): Reply {
  return { contentType: CONTENT_TYPES[format], body: text, release };
}

function activeBlock(hash: Buffer, snapshot: IndexSnapshot): (KnownBlock & Pick<IndexSnapshot, 'tip'>) | undefined {
  const height = snapshot.heightOf(hash);
  const run = height === undefined ? undefined : snapshot.headerRun(height, 1);
  if (run === undefined) return undefined;
  return {
    tip: snapshot.tip,
    hash,
    height: run.height,
    confirmations: snapshot.tip.height - run.height + 1,
    ...detailsAt(run, 0),
    nextHash: run.nextHash
  };
}

async function inactiveBlock(hash: Buffer, node: NodeSource): Promise<KnownBlock | undefined> {
  const entry = await node.entry(hash);
  if (entry === undefined) return undefined;
  const { height, chainwork, medianTime } = entry;
  return { hash, height, confirmations: -1, chainwork, medianTime };
}
