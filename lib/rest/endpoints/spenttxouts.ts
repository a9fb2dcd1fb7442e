// /rest/spenttxouts/<hash>.<bin|hex|json>: the outputs that a block spends, one list for each of its transactions.

import { findActiveBlock, requireSettled } from '../../answers/blocks/known-block';
import { keyOf } from '../../bitcoin/hash';
import { CONTENT_TYPES } from '../../server/http/reply';
import { hexLine } from '../../views/hex';
import { PROFILES } from '../../views/profile';
import { spentOutputsJson, spentOutputsSchema } from '../../views/spent-outputs';
import { badUri, formatNotFound, undoNotAvailable } from '../errors';
import { ALL_FORMATS, parseHash, splitSuffix } from '../format';
import { inFormats, OF_BLOCK } from '../operations';
import { otherBlock } from './known-block';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

export function spentOutputsEndpoint(answers: Answers): Endpoint {
  const { node, texts, spentBytes } = answers;
  // Bitcoin Core 0.17 does not have this endpoint, so its JSON is the modern edition's in every profile.
  const style = { prefixes: node.network.addressPrefixes, fields: PROFILES.modern.fields };
  return async (request) => {
    const { parameter, format } = splitSuffix(request.pathOnly);
    if (parameter.includes('/')) throw badUri('/rest/spenttxouts/<hash>.<ext>');
    const hash = parseHash(parameter);
    const block = findActiveBlock(hash, answers) ?? (await otherBlock(hash, parameter, answers));
    const isActive = block.tip !== undefined;
    const bytes = await spentBytes.of({ ...block, isActive }, request);
    if (bytes === undefined) {
      await requireSettled(block, answers);
      throw undoNotAvailable(parameter);
    }
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    const contentType = CONTENT_TYPES[format];
    if (format === 'bin') return { contentType, body: bytes, isImmutable: isActive, tip: block.tip };
    const { text, release } = await texts.make(`spent-${format}/${keyOf(hash)}`, request, (allocate) =>
      format === 'hex' ? hexLine(bytes, allocate) : spentOutputsJson(bytes, style, allocate)
    );
    return { contentType, body: text, isImmutable: isActive, release };
  };
}

export const spentOutputsOperations = (): PlacedOperation[] =>
  inFormats({
    id: 'getSpentOutputs',
    path: '/spenttxouts/{hash}',
    summary: 'The outputs that a block spends.',
    parameters: [OF_BLOCK],
    formats: {
      bin:
        'The number of lists, one for each transaction; of each the number of outputs; ' +
        'of each output the value in satoshis (8 bytes) and the script after its length.',
      json: { description: 'The outputs.', schema: spentOutputsSchema(PROFILES.modern.fields) }
    },
    errors: { 400: 'The hash is not 64 hex digits.', 404: 'The node does not know the block, or what it spends.' }
  });
