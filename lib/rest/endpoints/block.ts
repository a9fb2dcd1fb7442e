// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/...: all blocks that the node knows, also off the active chain.

import { blockWithoutWitness, scanBlock } from '../../bitcoin/block';
import { HEADER_LENGTH } from '../../bitcoin/header';
import { blockJson, blockSummaryJson } from '../../views/block';
import { hexLine } from '../../views/hex';
import { formatNotFound } from '../errors';
import { ALL_FORMATS, parseHash, splitSuffix } from '../format';
import { CONTENT_TYPES, type Format, type Reply } from '../../server/http/reply';
import { keyOf } from '../../bitcoin/hash';
import { findActiveBlock, findOtherBlock, refuseBlock, type KnownBlock } from './known-block';
import type { HeldText } from '../../answers/blocks/texts';
import type { HeaderRecord } from '../../index/types';
import { styleOf, type Answers } from '../../answers/answers';
import { type Endpoint } from '../endpoint';

/** Blocks whose JSON has the transactions, and, depending on the profile, the outputs that they spend. */
export function blockEndpoint(context: Answers): Endpoint {
  return endpointWith({ name: 'json', view: blockJson, showsSpent: context.profile.fields.spentOutputs }, context);
}

/** Blocks whose JSON has only the txids of the transactions: short, but expensive if all transactions have to be hashed for it. */
export function blockSummaryEndpoint(context: Answers): Endpoint {
  return endpointWith({ name: 'summary', view: blockSummaryJson, showsSpent: false, showsTxidsAlone: true }, context);
}

/** As `blockEndpoint`, but with the fees of the transactions instead of the outputs that they spend. */
export function blockWithFeesEndpoint(context: Answers): Endpoint {
  const view: typeof blockJson = (block, blockContext, allocate) => blockJson(block, { ...blockContext, hidesSpent: true }, allocate);
  return endpointWith({ name: 'fees', view, showsSpent: true }, context);
}

/** Marks the keys of texts that lack the outputs that the block spends, because the node does not have them. */
const WITHOUT_SPENT = '-';

/** What an endpoint's JSON contains. */
interface BlockView {
  readonly name: string;
  readonly view: typeof blockJson;
  readonly showsSpent: boolean;
  readonly showsTxidsAlone?: boolean;
}

function endpointWith({ name, view, showsSpent, showsTxidsAlone = false }: BlockView, context: Answers): Endpoint {
  const { node, witness, blocks, texts, spent: spentOutputs } = context;
  const style = styleOf(context);

  /** The JSON of a block changes only with its place in the chain, so that is in the key. Hex is the same for all endpoints. */
  const textKey = ({ hash, confirmations, nextHash }: KnownBlock, format: 'hex' | 'json'): string =>
    format === 'hex' ? `hex/${keyOf(hash)}` : `${name}/${keyOf(hash)}${confirmations}${nextHash === undefined ? '' : keyOf(nextHash)}`;

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const block = findActiveBlock(hash, context) ?? (await findOtherBlock(hash, parameter, context));
    const isActive = block.tip !== undefined;
    // A node that prunes may throw the block away at any time.
    const tip = node.pruned ? undefined : block.tip;
    // Blocks off the active chain are not answered from memory: the node may drop them at any time.
    if (isActive && !blocks.isPruned(block) && (format === 'hex' || format === 'json')) {
      const text = texts.get(textKey(block, format));
      if (text !== undefined) return textReply(text, format, isActive, tip);
    }
    const raw = isActive ? await blocks.block(block, request) : await node.rawBlock(hash);
    if (raw === undefined) return refuseBlock(block, parameter, context);
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    const bytes = (): Buffer => (witness ? raw : blockWithoutWitness(raw));
    if (format === 'bin') return { contentType: CONTENT_TYPES.bin, body: bytes(), isImmutable: isActive };
    // A coinbase alone spends nothing.
    const mayShowSpent = format === 'json' && showsSpent && raw[HEADER_LENGTH] !== 1;
    const spent = mayShowSpent ? await spentOutputs.of(hash) : undefined;
    const txids = isActive && format === 'json' && showsTxidsAlone ? await context.txidsOf?.(block) : undefined;
    // A text without the spent outputs is neither looked up above nor cached as a reply: the next request may find them.
    const isLacking = mayShowSpent && spent === undefined;
    const key = textKey(block, format) + (isLacking ? WITHOUT_SPENT : '');
    const text = await texts.make(key, request, (allocate) =>
      format === 'hex'
        ? hexLine(bytes(), allocate)
        : view(scanBlock(raw), { ...style, ...block, spent, txids, hexWithWitness: witness }, allocate)
    );
    return textReply(text, format, isActive, isLacking ? undefined : tip);
  };
}

/** Bytes and hex never change; JSON changes with the block's place in the chain. */
function textReply({ text, release }: HeldText, format: Format, isActive: boolean, tip: HeaderRecord | undefined): Reply {
  return { contentType: CONTENT_TYPES[format], body: text, isImmutable: isActive && format !== 'json', tip, release };
}
