// JSON-RPC 2.0 as Electrum servers accept it: also without `jsonrpc`, without parameters, and in batches.

import { isUtf8 } from 'node:buffer';
import { errorReply as framedError, errorText, resultFrame } from '../../server/json-rpc/frames';
import { idTextOf, plainIdOf } from '../../server/json-rpc/id-text';
import { isObject, type Params } from '../../server/json-rpc/values';
import { scanShortJson, type JsonBounds } from '../../server/json/scan';
import { CODES, ElectrumError } from '../errors';
import type { Bytes, OutboundMessage } from '../../server/sockets/outbox';

/** Requests in one batch; Fulcrum takes 345. */
const MOST_IN_BATCH = 1_000;

/** In one message: a batch has some six for each request. */
const MOST_VALUES = 20_000;

const BOUNDS: JsonBounds = { items: MOST_IN_BATCH, values: MOST_VALUES, names: MOST_VALUES, allValues: MOST_VALUES };

/** A message that is no longer holds too little to be counted. */
const SHORT_MESSAGE = 4_096;

/** Longer texts are sent as bytes. */
const LONG_TEXT = 16_384;

/** Longer results are sent as they are, between two texts. Shorter ones become one text with these: that takes less than three parts. */
const SHORT_RESULT = 2_048;

/** Whole, or in parts, which are sent one after the other. */
export type Reply = OutboundMessage;

export interface Request {
  readonly method: string;
  readonly params: Params;
  /** The id as JSON text; undefined for a notification, which gets no reply. */
  readonly id: string | undefined;
}

/** A request that cannot be read: its id and the error for its reply. */
export interface BadRequest {
  readonly id: string;
  readonly error: ElectrumError;
}

export interface Message {
  readonly isBatch: boolean;
  /** Without replies that a client sends, which ask for nothing. */
  readonly requests: readonly (Request | BadRequest)[];
}

export const isBad = (request: Request | BadRequest): request is BadRequest => 'error' in request;

/** The requests in a message, one or a batch. Never throws: what cannot be read is a BadRequest in its place, or the only one. */
export function readMessage(value: Buffer): Message {
  if (!isUtf8(value)) return refused(CODES.parse, 'invalid UTF-8');
  return (value.length <= SHORT_MESSAGE ? readShort(value.toString()) : undefined) ?? readScanned(value);
}

/** Without a scan. Undefined if it is needed: for batches, and for ids that are no plain numbers. */
function readShort(text: string): Message | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(json)) return undefined;
  const id = plainIdOf(text, json['id']);
  const request = id === undefined ? undefined : readRequest(json, id);
  return request && { isBatch: false, requests: [request] };
}

function readScanned(value: Buffer): Message {
  const scan = scanShortJson(value, BOUNDS);
  if (scan === 'frame') return refused(CODES.parse, 'invalid JSON');
  if (scan === 'items') return refused(CODES.invalidRequest, `batch has more than ${MOST_IN_BATCH} requests`);
  if (typeof scan === 'string') return refused(CODES.invalidRequest, `message has more than ${MOST_VALUES} values`);
  const { isList, items } = scan;
  if (isList && items.length === 0) return refused(CODES.invalidRequest, 'batch is empty');
  try {
    const requests: (Request | BadRequest)[] = [];
    for (const item of items) {
      const json: unknown = JSON.parse(value.toString('utf8', item.begin, item.end));
      const request = readRequest(json, idTextOf(value, item));
      if (request !== undefined) requests.push(request);
    }
    return { isBatch: isList, requests };
  } catch {
    return refused(CODES.parse, 'invalid JSON');
  }
}

function refused(code: number, message: string): Message {
  return { isBatch: false, requests: [{ id: 'null', error: new ElectrumError(code, message) }] };
}

function readRequest(json: unknown, id: string | undefined): Request | BadRequest | undefined {
  if (!isObject(json)) return bad('null', CODES.invalidRequest, 'request object must be a dictionary');
  const { method, params = [] } = json;
  if (id !== undefined && !isId(json['id'])) return bad('null', CODES.invalidRequest, 'invalid "id"');
  // What cannot be read as a notification gets an error, too (JSON-RPC 2.0, `id` of an invalid request).
  const told = id ?? 'null';
  if (method === undefined)
    return 'result' in json || 'error' in json ? undefined : bad(told, CODES.invalidRequest, 'request has no method');
  if (typeof method !== 'string') return bad(told, CODES.invalidRequest, 'method must be a string');
  if (!isValues(params)) return bad(told, CODES.invalidParameters, 'invalid request arguments');
  return { method, params, id };
}

const bad = (id: string, code: number, message: string): BadRequest => ({ id, error: new ElectrumError(code, message) });

const isId = (id: unknown): boolean => id === null || typeof id === 'string' || typeof id === 'number';

function isValues(params: unknown): params is Params {
  return typeof params === 'object' && params !== null;
}

/** `id` and `result`: JSON text. */
export function resultReply(id: string, result: string | Buffer): Reply {
  const [before, behind] = resultFrame({ isVersion2: true, id });
  if (typeof result !== 'string' && result.length > SHORT_RESULT) return [before, result, behind];
  const text = `${before}${result.toString()}${behind}`;
  return text.length > LONG_TEXT ? [Buffer.from(text)] : text;
}

/** `id`: JSON text. */
export function errorReply(id: string, error: ElectrumError): Reply {
  return framedError({ isVersion2: true, id }, errorText(error));
}

/** In characters, nearly all of which are one byte. */
export function lengthOf(reply: Reply): number {
  if (typeof reply === 'string') return reply.length;
  let length = 0;
  for (const part of reply) length += part.length;
  return length;
}

/** `params`: JSON text. */
export const notification = (method: string, params: string): string => `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;

/** The replies as one JSON array, in their order. Long bytes are not copied. */
export function batchReply(replies: readonly Reply[]): Reply {
  const parts: Bytes[] = [];
  let text = '[';
  const add = (more: Bytes): void => {
    if (typeof more === 'string') text += more;
    else {
      parts.push(text, more);
      text = '';
    }
    if (text.length <= LONG_TEXT) return;
    parts.push(text);
    text = '';
  };
  for (const [i, reply] of replies.entries()) {
    if (i > 0) add(',');
    if (typeof reply === 'string') add(reply);
    else for (const part of reply) add(part);
  }
  add(']');
  return parts.length === 0 ? text : [...parts, text];
}
