// /rest/blockpart/<hash>.<bin|hex>?offset=<n>&size=<n>: some bytes of a block that the node knows, witnesses included.

import { findActiveBlock, type KnownBlock } from '../../answers/blocks/known-block';
import { inQuery, type OperationParameter } from '../../describe/open-api';
import { badPart, formatNotFound, missingPartParameter, noJson } from '../errors';
import { ALL_FORMATS, parseHash, replyIn, splitSuffix } from '../format';
import { inFormats, OF_BLOCK, UNKNOWN_BLOCK } from '../operations';
import { orUnreadable, otherBlock, refuseBlock } from './known-block';
import type { Answers } from '../../answers/answers';
import type { Endpoint, RestRequest } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

/** Bitcoin Core's offsets and sizes have 64 bits. */
const GREATEST = 0xffff_ffff_ffff_ffffn;

/** Parts of more bytes than this are heavy requests. */
const LARGE_SIZE = 65_536n;

/** The part that is asked for. */
interface WantedPart {
  readonly offset: bigint;
  readonly size: bigint;
}

export function blockPartEndpoint(answers: Answers): Endpoint {
  const { blocks } = answers;

  /**
   * Undefined when the node does not have the bytes. The whole block is read if its length is not known, before a refusal, and for
   * more than half of it, so that it is in memory when it is asked for again.
   */
  const read = async (block: KnownBlock, parameter: string, wanted: WantedPart, request: RestRequest): Promise<Buffer | undefined> => {
    const { offset, size } = wanted;
    const { format } = splitSuffix(request.pathOnly);
    const isActive = block.tip !== undefined;
    const length = isActive && !blocks.isAtHand(block) ? lengthOf(block, answers) : 0;
    if (isWithin(wanted, length) && !isMost(wanted, length) && (format === 'bin' || format === 'hex'))
      return blocks.part(block, Number(offset), Number(size), length);
    const raw = await blocks.block(block, request, isActive);
    if (raw === undefined) return undefined;
    if (!isWithin(wanted, raw.length)) throw badPart(offset, size, parameter);
    if (format === 'json') throw noJson();
    return raw.subarray(Number(offset), Number(offset + size));
  };

  return async (request) => {
    const wanted = requirePart(request);
    const { parameter, format } = splitSuffix(request.pathOnly);
    const hash = parseHash(parameter);
    const block = findActiveBlock(hash, answers) ?? (await otherBlock(hash, parameter, answers));
    const part = await orUnreadable(read(block, parameter, wanted, request), parameter, answers);
    if (part === undefined) return refuseBlock(block, parameter, answers);
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    const { contentType, body } = await replyIn(format, { binary: () => part, json: () => part }, ALL_FORMATS, request);
    return { contentType, body, isImmutable: block.tip !== undefined };
  };
}

/** Parses the query. Called before anything else, even while the gate is closed. @throws HttpError 400 */
export function requirePart(request: RestRequest): WantedPart {
  return { offset: parameterOf(request, 'offset'), size: parameterOf(request, 'size') };
}

function parameterOf(request: RestRequest, name: 'offset' | 'size'): bigint {
  const text = request.query(name);
  const value = text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
  if (value === undefined || value > GREATEST) throw missingPartParameter(name);
  return value;
}

/** Whether the request is heavy. */
export function asksForLargePart(request: RestRequest): boolean {
  return parameterOf(request, 'size') > LARGE_SIZE;
}

function isWithin({ offset, size }: WantedPart, length: number): boolean {
  return size > 0n && offset + size <= BigInt(length);
}

function isMost({ size }: WantedPart, length: number): boolean {
  return size * 2n > BigInt(length);
}

/** The length in bytes of a block that is in the active chain in this turn; 0 if the index does not know it. */
function lengthOf({ height }: KnownBlock, { reader }: Answers): number {
  return reader.read((snapshot) => {
    const bytesTo = (top: number): number => snapshot.headerAt(top)?.chainBytes ?? 0;
    return bytesTo(height) - bytesTo(height - 1);
  });
}

export function blockPartOperations(): PlacedOperation[] {
  const required = (name: 'offset' | 'size', description: string, minimum: number): OperationParameter => ({
    ...inQuery(name, description, { type: 'integer', minimum }),
    isRequired: true
  });
  return inFormats({
    id: 'getBlockPart',
    path: '/blockpart/{hash}',
    summary: 'Some bytes of a block, witnesses included.',
    parameters: [OF_BLOCK, required('offset', 'Of the first byte.', 0), required('size', 'How many bytes.', 1)],
    formats: { bin: 'The bytes.' },
    errors: { ...UNKNOWN_BLOCK, 400: 'The hash is not 64 hex digits, or the block does not have these bytes.' }
  });
}
