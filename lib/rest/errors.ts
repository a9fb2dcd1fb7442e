// Every error of the REST interface, one function for each, with Bitcoin Core's status and text. The service sends the
// message as text/plain followed by CRLF; an error without a message has no body at all.

import { backfillText } from '../index/progress/text';
import type { BackfillProgress } from '../index/types';

/** Names and values alternate, as `writeHead` takes them. */
export type HeaderList = readonly string[];

const NOT_IN_ADDRESSES = /[^a-zA-Z0-9!*'();:@&=+$,/?#[\]\-_.~%]/g;

/** A reply that is not a success. The message goes to the client as it is. */
export class RestError extends Error {
  override readonly name = 'RestError';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: HeaderList = [],
    options?: ErrorOptions
  ) {
    super(message, options);
  }
}

/** After how many seconds clients should ask again; in every reply with 503 (RFC 9110, 10.2.3). */
export const RETRY_AFTER = ['Retry-After', '5'] as const;

/** The headers of an error. `status`: as it is sent. */
export const errorHeaders = ({ headers }: RestError, status: number): HeaderList =>
  status === 503 ? [...headers, ...RETRY_AFTER] : headers;

/** Sent with the status that the profile gives. */
export class QueueFullError extends RestError {}

/** The client has gone: there is nobody to answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/** Index or node cannot answer now. */
export class UnavailableError extends RestError {
  /** `what`: what is happening that prevents an answer. */
  constructor(readonly what: string) {
    super(503, `Service temporarily unavailable: ${what}`);
  }
}

/** `status`: what is happening that prevents an answer. */
export const unavailable = (status: string): RestError => new UnavailableError(status);

/** `text` as typed by the client, like all texts below. */
export const invalidHash = (text: string): RestError => new RestError(400, `Invalid hash: ${text}`);

/** The text is the profile's. */
export const badHeaderRequest = (text: string): RestError => new RestError(400, text);

export const emptyRequest = (): RestError => new RestError(400, 'Error: empty request');

export const parseError = (): RestError => new RestError(400, 'Parse error');

export const outpointsTwice = (): RestError => new RestError(400, 'Combination of URI scheme inputs and raw post data is not allowed');

export const tooManyOutpoints = (most: number, tried: number): RestError =>
  new RestError(400, `Error: max outpoints exceeded (max: ${most}, tried: ${tried})`);

export const notFound = (hash: string): RestError => new RestError(404, `${hash} not found`);

export const unknownFilterType = (type: string): RestError => new RestError(400, `Unknown filtertype ${type}`);

export const noFilters = (): RestError => new RestError(400, 'Index is not enabled for filtertype basic');

/** For a block that, as far as node and index know, never was in the active chain. */
export const filterNotMade = (): RestError => new RestError(404, 'Filter not found. Block was not connected to active chain.');

export const filterNotYetMade = (): RestError =>
  new RestError(404, 'Filter not found. Block filters are still in the process of being indexed.');

/** The index cannot answer until the backfill gets there. `progress`: how far the backfill is. */
export const notYetKnown = (progress: BackfillProgress): RestError =>
  unavailable(`transaction index is being built: ${backfillText(progress)}`);

/** The node's chain is being reorganized or reset, and has dropped a block that the index still has. */
export const chainMoving = (): RestError => unavailable('the chain is moving');

export const prunedBlock = (hash: string): RestError => new RestError(404, `${hash} not available (pruned data)`);

export const badPoolPath = (): RestError => badUri('/rest/mempool/<info|contents>.json');

export const badPoolParameter = (name: string): RestError =>
  new RestError(400, `The "${name}" query parameter must be either "true" or "false".`);

export const sequenceInVerbose = (): RestError =>
  new RestError(400, 'Verbose results cannot contain mempool sequence values. (hint: set "verbose=false")');

/** `expected`: the form of the path. */
export const badUri = (expected: string): RestError => new RestError(400, `Invalid URI format. Expected ${expected}`);

/** The node has the block but cannot read it; the log says why. */
export const unreadableBlock = (hash: string, cause: Error): RestError => new RestError(500, `I/O error reading ${hash}`, [], { cause });

export const missingPartParameter = (name: 'offset' | 'size'): RestError => new RestError(400, `Block part ${name} missing or invalid`);

export const badPart = (offset: bigint, size: bigint, hash: string): RestError =>
  new RestError(400, `Bad block part offset/size ${offset}/${size} for ${hash}`);

export const noJson = (): RestError => new RestError(400, 'JSON output is not supported for this request type');

/** The text is shown without characters that a URI cannot contain. */
export const badHeight = (text: string): RestError => new RestError(400, `Invalid height: ${text.replace(NOT_IN_ADDRESSES, '')}`);

export const heightOutOfRange = (): RestError => new RestError(404, 'Block height out of range');

export const blockNotFound = (): RestError => new RestError(400, 'Block not found');

/** The outputs that the block spends are not available. */
export const undoNotAvailable = (hash: string): RestError => new RestError(404, `${hash} undo not available`);

/** `available`: the list as the endpoint words it. */
export const formatNotFound = (available: string): RestError => new RestError(404, `output format not found (available: ${available})`);

export const queueFull = (): RestError => new QueueFullError(500, 'Work queue depth exceeded');

/** Something broke; the log says what. */
export const brokenDown = (): RestError => new RestError(500, 'Internal error; the log of the node has details');

export const bodyTooLarge = (mostBytes: number): RestError => new RestError(413, `Request body too large (max: ${mostBytes} bytes)`);

export const encodedBody = (): RestError => new RestError(415, 'A body without Content-Encoding expected', ['Accept-Encoding', 'identity']);

export const unauthorized = (): RestError =>
  new RestError(401, 'The API key of the node is needed as password', ['WWW-Authenticate', 'Basic realm="rest"']);

/** No endpoint has a prefix of this path. Bitcoin Core's reply is empty, but NBitcoin cuts two bytes off the end of every error text. */
export const noSuchPath = (): RestError => new RestError(404, 'Not found');

export const methodNotAllowed = (): RestError => new RestError(405, '', ['Allow', 'GET, HEAD, POST, PUT']);

/** `status`: 405 or 501. */
export const unknownMethod = (status: number): RestError => (status === 405 ? methodNotAllowed() : new RestError(status, ''));
