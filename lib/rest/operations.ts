// What the descriptions of endpoints have in common: an operation for each format, parameters of paths, and when a request is refused.

import { described, type Schema } from '../describe/schema';
import { ASKED_HASH, HEX } from '../describe/values';
import { bytes, inPath, json, text, type Operation, type OperationParameter, type PlacedOperation } from '../describe/open-api';

/** The contents of a reply in each format that there is. */
interface Formats {
  /** What the bytes are; the hex is of the same bytes, unless `hex` says otherwise. */
  readonly bin?: string;
  readonly hex?: { readonly description: string; readonly schema: Schema };
  readonly json?: { readonly description: string; readonly schema: Schema };
}

/** An endpoint, with a path to which the format is appended as the suffix. */
interface OperationInFormats extends Omit<Operation, 'answer' | 'status'> {
  readonly path: string;
  readonly formats: Formats;
}

/** Hex as the replies have it. */
export const LINE = described('Hex digits and a line feed.', { ...HEX, pattern: '^(?:[0-9a-f]{2})*?\\n$' });

export const NO_SUCH_FORMAT = 'The suffix of the path is not a format of this endpoint.';

/** The endpoint as one operation for each format. */
export function inFormats({ id, path, formats: { bin, hex, json: asJson }, ...common }: OperationInFormats): PlacedOperation[] {
  const operation = (format: string, answer: Operation['answer']): PlacedOperation => ({
    ...common,
    id: `${id}${format}`,
    method: 'GET',
    path: `${path}.${format.toLowerCase()}`,
    answer
  });
  const hexText = hex ?? (bin === undefined ? undefined : { description: `${bin} In hex, and a line feed.`, schema: LINE });
  return [
    ...(asJson === undefined ? [] : [operation('Json', json(asJson.description, asJson.schema))]),
    ...(hexText === undefined ? [] : [operation('Hex', text(hexText.description, hexText.schema))]),
    ...(bin === undefined ? [] : [operation('Bin', bytes(bin))])
  ];
}

export const hashInPath = (name: string, description: string): OperationParameter => inPath(name, description, ASKED_HASH);

export const OF_BLOCK = hashInPath('hash', 'The hash of a block that the node knows, also off the active chain.');

export const UNKNOWN_BLOCK = { 400: 'The hash is not 64 hex digits.', 404: 'The node does not know the block, or has pruned it.' };
