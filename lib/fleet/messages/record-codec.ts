// Records as bytes, and back.

import { BLOCK, CONNECT, DISCONNECT, RESET } from './chain-records';
import { MalformedMessageError, NewerMessageError } from './errors';
import { POOL_ADD, POOL_CHANGE, POOL_CLEAR, POOL_REMOVE } from './pool-records';
import { exactly, messageBytes, messageType, readMessage, toNumber, type Codec, type Wide } from './schema';
import { BEAT } from './state-codec';
import type { LogRecord, RecordBody } from './records';

/** The version of the layout that this package writes, and the newest that it reads. */
export const RECORD_VERSION = 1;

/** No server takes longer messages than this, and no record is longer. */
export const MOST_RECORD_BYTES = 8 * 1_024 * 1_024;

const RECORD = messageType('Record');

/** Bytes of a term's id. */
export const TERM_ID_LENGTH = 8;

/** Where a kind of body stands in the message, and in which form. */
interface Kind<Body> {
  readonly field: string;
  readonly codec: Codec<Body>;
}

const KINDS: { readonly [Type in RecordBody['type']]: Kind<Extract<RecordBody, { type: Type }>> } = {
  block: { field: 'block', codec: BLOCK },
  connect: { field: 'connect', codec: CONNECT },
  disconnect: { field: 'disconnect', codec: DISCONNECT },
  reset: { field: 'reset', codec: RESET },
  add: { field: 'poolAdd', codec: POOL_ADD },
  remove: { field: 'poolRemove', codec: POOL_REMOVE },
  change: { field: 'poolChange', codec: POOL_CHANGE },
  clear: { field: 'poolClear', codec: POOL_CLEAR },
  beat: { field: 'beat', codec: BEAT }
};

const ALL_KINDS: readonly Kind<RecordBody>[] = Object.values(KINDS);

/** @throws RangeError for a record that is too long */
export function encodeRecord({ body, ...record }: LogRecord): Buffer {
  const bytes = messageBytes(RECORD, { version: RECORD_VERSION, ...record, ...fieldsOf(body) });
  if (bytes.length > MOST_RECORD_BYTES)
    throw new RangeError(`expected a record of at most ${MOST_RECORD_BYTES} bytes, got ${bytes.length}`);
  return bytes;
}

/**
 * Byte fields are views into `bytes`.
 * @throws NewerMessageError for a record of a newer version or of a kind that is not known; MalformedMessageError for any other bytes
 */
export function decodeRecord(bytes: Uint8Array): LogRecord {
  const fields = readMessage(RECORD, bytes, MOST_RECORD_BYTES) as Fields;
  const { version, term, termId, termStart, node, at } = fields;
  if (version === 0) throw new MalformedMessageError('Record: the bytes are no record');
  if (version > RECORD_VERSION) {
    throw new NewerMessageError(`Record: version ${version}, but this release of bcoin-rest reads up to ${RECORD_VERSION}`);
  }
  return {
    term: toNumber('term', term),
    termId: exactly('termId', TERM_ID_LENGTH, termId),
    termStart: toNumber('termStart', termStart),
    node,
    at: toNumber('at', at),
    body: bodyOf(fields)
  };
}

interface Fields {
  readonly version: number;
  readonly term: Wide;
  readonly termId: Buffer;
  readonly termStart: Wide;
  readonly node: string;
  readonly at: Wide;
  /** The body, under the name of its kind. */
  readonly [field: string]: unknown;
}

function fieldsOf(body: RecordBody): Readonly<Record<string, object>> {
  const { field, codec }: Kind<RecordBody> = KINDS[body.type];
  return { [field]: codec.toFields(body) };
}

function bodyOf(fields: Fields): RecordBody {
  for (const { field, codec } of ALL_KINDS) {
    const body = fields[field];
    if (typeof body === 'object' && body !== null) return codec.fromFields(body);
  }
  throw new NewerMessageError('Record: of a kind that this release of bcoin-rest does not know');
}
