// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/...: all blocks that the node knows, also off the active chain.

import { findActiveBlock } from '../../answers/blocks/known-block';
import { CONTENT_TYPES } from '../../server/http/reply';
import { blockSchema, blockSummarySchema } from '../../views/block';
import { formatNotFound } from '../errors';
import { ALL_FORMATS, parseHash, splitSuffix } from '../format';
import { inFormats, OF_BLOCK, UNKNOWN_BLOCK } from '../operations';
import { orUnreadable, otherBlock, refuseBlock } from './known-block';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

/** `form`: what the JSON has of the transactions. */
export function blockEndpoint(answers: Answers, form: 'json' | 'summary'): Endpoint {
  const { node, blockForms } = answers;
  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const block = findActiveBlock(hash, answers) ?? (await otherBlock(hash, parameter, answers));
    const isActive = block.tip !== undefined;
    if (format === 'hex' || format === 'json') {
      const made = await orUnreadable(blockForms.text(block, format === 'hex' ? 'hex' : form, request), parameter, answers);
      if (made === undefined) return refuseBlock(block, parameter, answers);
      const { text, release, isLacking } = made;
      // A node that prunes may throw the block away at any time.
      const tip = node.pruned || isLacking ? undefined : block.tip;
      // Bytes and hex never change; JSON changes with the block's place in the chain.
      return { contentType: CONTENT_TYPES[format], body: text, isImmutable: isActive && format === 'hex', tip, release };
    }
    const body = await orUnreadable(blockForms.bytes(block, request), parameter, answers);
    if (body === undefined) return refuseBlock(block, parameter, answers);
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    return { contentType: CONTENT_TYPES.bin, body, isImmutable: isActive };
  };
}

/** `form`: as of the endpoint. */
export function blockOperations({ profile: { fields } }: Pick<Answers, 'profile'>, form: 'json' | 'summary'): PlacedOperation[] {
  const common = { parameters: [OF_BLOCK], errors: UNKNOWN_BLOCK };
  const bin = 'The serialized block.';
  if (form === 'summary')
    return inFormats({
      ...common,
      id: 'getBlockSummary',
      path: '/block/notxdetails/{hash}',
      summary: 'A block, in JSON with the txids of its transactions.',
      formats: { bin, json: { description: 'The block.', schema: blockSummarySchema(fields) } }
    });
  return inFormats({
    ...common,
    id: 'getBlock',
    path: '/block/{hash}',
    summary: 'A block with its transactions.',
    formats: { bin, json: { description: 'The block.', schema: blockSchema(fields) } }
  });
}
