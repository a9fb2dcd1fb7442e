// /rest/blockhashbyheight/<height>.<bin|hex|json>: the block of the active chain at a height.

import { toDisplayHex } from '../../bitcoin/hash';
import { CONTENT_TYPES, type Format, type Reply } from '../../server/http/reply';
import { inPath } from '../../describe/open-api';
import { object } from '../../describe/schema';
import { BLOCK_HASH, HEIGHT } from '../../describe/values';
import { JsonWriter } from '../../views/json-writer';
import { badHeight, formatNotFound, heightOutOfRange } from '../errors';
import { ALL_FORMATS, splitSuffix } from '../format';
import { inFormats } from '../operations';
import type { Answers } from '../../answers/answers';
import type { Endpoint } from '../endpoint';
import type { PlacedOperation } from '../../describe/open-api';

/** Bitcoin Core's heights have 32 bits. */
const HIGHEST = 0x7fff_ffff;

export function blockHashEndpoint({ reader }: Answers): Endpoint {
  return ({ pathOnly }) => {
    const { parameter, format } = splitSuffix(pathOnly);
    const height = parseHeight(parameter);
    const { tip, hash } = reader.read((snapshot) => ({ tip: snapshot.tip, hash: snapshot.headerRun(height, 1)?.lastHash }));
    if (hash === undefined) throw heightOutOfRange();
    if (format === undefined) throw formatNotFound(ALL_FORMATS);
    return Promise.resolve<Reply>({ contentType: CONTENT_TYPES[format], body: bodyIn(format, hash), tip });
  };
}

/** Hex is in display order, bin in wire order. */
function bodyIn(format: Format, hash: Buffer): Buffer {
  switch (format) {
    case 'bin':
      return hash;
    case 'hex':
      return Buffer.from(`${toDisplayHex(hash)}\n`, 'latin1');
    case 'json': {
      const writer = new JsonWriter();
      writer.hashField('{"blockhash":', hash);
      writer.ascii('}\n');
      return writer.toBuffer();
    }
  }
}

/** A minus sign is accepted, as in Bitcoin Core, so `-0` is the genesis block. @throws HttpError 400 */
function parseHeight(text: string): number {
  const height = /^-?\d+$/.test(text) ? Number(text) : NaN;
  if (height >= 0 && height <= HIGHEST) return height;
  throw badHeight(text);
}

export const blockHashOperations = (): PlacedOperation[] =>
  inFormats({
    id: 'getBlockHash',
    path: '/blockhashbyheight/{height}',
    summary: 'The hash of the block of the active chain at a height.',
    parameters: [inPath('height', 'The height.', { ...HEIGHT, maximum: HIGHEST })],
    formats: {
      bin: 'The hash, 32 bytes, not reversed.',
      hex: { description: 'The hash and a line feed.', schema: { ...BLOCK_HASH, pattern: '^[0-9a-f]{64}\\n$' } },
      json: { description: 'The hash.', schema: object({ blockhash: BLOCK_HASH }) }
    },
    errors: { 400: 'The height is not a number.', 404: 'The chain is not that high.' }
  });
