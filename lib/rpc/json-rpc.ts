// JSON-RPC as Bitcoin Core speaks it since 28 (rpc/request.cpp, httprpc.cpp): 1.0 and 1.1 by default, where an error also sets the
// HTTP status, and 2.0 for calls that ask for it.

import { isUtf8 } from 'node:buffer';
import { invalidParameter, type CallError } from '../answers/errors';
import { idTextOf } from '../server/json-rpc/id-text';
import { isObject, namesIn, type Params } from '../server/json-rpc/values';
import { scanJson, type JsonBounds, type ScanFault } from '../server/json/scan';
import { invalidRequest, parseError, RPC_CODES } from './errors';
import { typeName } from './parameters';
import type { ReplyForm } from '../server/json-rpc/frames';

/** A call as it came. */
export interface Call {
  readonly method: string;
  readonly params: Params;
  readonly form: ReplyForm;
}

/** A call that cannot be read, and the form of its reply. */
export interface BadCall {
  readonly form: ReplyForm;
  readonly error: CallError;
  /** Its member `method`, null if there is none; undefined: it is no object. */
  readonly method?: unknown;
}

export interface Parsed {
  readonly isBatch: boolean;
  readonly calls: readonly (Call | BadCall)[];
}

const UNKNOWN_FORM: ReplyForm = { isVersion2: false, id: 'null' };

/** Errors of malformed calls. A batch may have very many of them, so each object is made only once. */
const FAULTS = {
  noObject: invalidRequest('Invalid Request object'),
  versionNoText: invalidRequest('jsonrpc field must be a string'),
  version: invalidRequest('JSON-RPC version not supported'),
  noMethod: invalidRequest('Missing method'),
  methodNoText: invalidRequest('Method must be a string'),
  params: invalidRequest('Params must be an array or object'),
  twice: invalidParameter('Invalid parameter, a name comes twice in an object')
} as const;

/**
 * More calls would use up all memory before the reply is made. What fits into a block as hex fits into a call, and so do the inputs and outputs
 * of every transaction that does.
 */
const BOUNDS = { items: 100_000, bytes: 10_000_000, values: 150_000, names: 100_000, allValues: 1_500_000 } satisfies JsonBounds;

/** How deep JSON may be nested (UniValue). */
const MOST_DEPTH = 512;

const FAULTS_OF_BODIES: Readonly<Record<ScanFault, CallError>> = {
  items: invalidRequest(`Batch of more than ${BOUNDS.items} calls`),
  bytes: invalidRequest(`Call of more than ${BOUNDS.bytes} bytes`),
  values: invalidRequest(`Call with more than ${BOUNDS.values} values`),
  names: invalidRequest(`Call with more than ${BOUNDS.names} names`),
  allValues: invalidRequest(`Batch with more than ${BOUNDS.allValues} values`),
  frame: parseError()
};

/** The call or calls of a body. A body that is no JSON is one bad call. Yields between steps that take some time. */
export function* parseCalls(body: Buffer): Generator<void, Parsed> {
  if (!isUtf8(body)) return refused(parseError());
  const scan = yield* scanJson(body, BOUNDS);
  if (typeof scan === 'string') return refused(FAULTS_OF_BODIES[scan]);
  const { isList, items, depth, hasHalfAPair } = scan;
  // UniValue reads no text with half a surrogate pair.
  if (depth > MOST_DEPTH || hasHalfAPair) return refused(parseError());
  const calls: (Call | BadCall)[] = [];
  for (const item of items) {
    let json: unknown;
    try {
      json = JSON.parse(body.toString('utf8', item.begin, item.end));
    } catch {
      return refused(parseError());
    }
    yield;
    if (!isList && !isObject(json)) return refused(parseError('Top-level object parse error'));
    calls.push(parseCall(json, idTextOf(body, item), item.names));
    yield;
  }
  return { isBatch: isList, calls };
}

const refused = (error: CallError): Parsed => ({ isBatch: false, calls: [{ form: UNKNOWN_FORM, error }] });

export const isBad = (call: Call | BadCall): call is BadCall => 'error' in call;

/** Whether it is no call at all. A name that comes twice is an error of the call, as with Bitcoin Core. */
export const isMalformed = (call: Call | BadCall): boolean => isBad(call) && call.error !== FAULTS.twice;

/**
 * The method of an item of a batch, as Bitcoin Core reads it for a user with a whitelist, before it makes any call; a bad call: the whole batch
 * gets its error.
 */
export function listedMethod(call: Call | BadCall): string | BadCall {
  const { method } = call;
  if (typeof method === 'string') return method;
  if (method === undefined && isBad(call)) return call;
  return { form: UNKNOWN_FORM, error: parseError(`JSON value of type ${typeName(method)} is not of expected type string`) };
}

/** Calls of version 2.0 without an id get no reply. */
export const isNotification = ({ isVersion2, id }: ReplyForm): boolean => isVersion2 && id === undefined;

/** `names`: how many the text of the call has. */
function parseCall(json: unknown, id: string | undefined, names: number): Call | BadCall {
  if (!isObject(json)) return { form: UNKNOWN_FORM, error: FAULTS.noObject };
  const { jsonrpc = null, method = null, params = null } = json;
  const form = { isVersion2: jsonrpc === '2.0', id };
  // rpc-bitcoin writes its 1.0 as a number; Bitcoin Core refuses that since 28.
  if (jsonrpc !== null && jsonrpc !== 1 && typeof jsonrpc !== 'string') return { form, error: FAULTS.versionNoText, method };
  if (typeof jsonrpc === 'string' && jsonrpc !== '1.0' && jsonrpc !== '2.0') return { form, error: FAULTS.version, method };
  if (method === null) return { form, error: FAULTS.noMethod, method };
  if (typeof method !== 'string') return { form, error: FAULTS.methodNoText, method };
  if (params !== null && typeof params !== 'object') return { form, error: FAULTS.params, method };
  // JSON.parse would drop all but the last: an output, for example. Bitcoin Core refuses those, and takes the first of other members.
  if (namesIn(json) !== names) return { form, error: FAULTS.twice, method };
  return { method, params: (params ?? []) as Params, form };
}

/** The HTTP status of an error reply to a single call that is not of version 2.0 or could not be parsed. */
export function statusOf({ code }: CallError): number {
  if (code === RPC_CODES.invalidRequest) return 400;
  return code === RPC_CODES.methodNotFound ? 404 : 500;
}
