// Errors of Bitcoin Core's REST interface, one function for each, with its status and text. The message is sent as text/plain,
// followed by CRLF.

import { HttpError } from '../server/errors';

const NOT_IN_ADDRESSES = /[^a-zA-Z0-9!*'();:@&=+$,/?#[\]\-_.~%]/g;

/** `text` as typed by the client, like all texts below. */
export const invalidHash = (text: string): HttpError => new HttpError(400, `Invalid hash: ${text}`);

/** The text is the profile's. */
export const badHeaderRequest = (text: string): HttpError => new HttpError(400, text);

export const emptyRequest = (): HttpError => new HttpError(400, 'Error: empty request');

export const parseError = (): HttpError => new HttpError(400, 'Parse error');

export const outpointsTwice = (): HttpError => new HttpError(400, 'Combination of URI scheme inputs and raw post data is not allowed');

export const tooManyOutpoints = (most: number, tried: number): HttpError =>
  new HttpError(400, `Error: max outpoints exceeded (max: ${most}, tried: ${tried})`);

/** `cause`: for the log. */
export const notFound = (hash: string, cause?: Error): HttpError => new HttpError(404, `${hash} not found`, [], { cause });

export const unknownFilterType = (type: string): HttpError => new HttpError(400, `Unknown filtertype ${type}`);

export const noFilters = (): HttpError => new HttpError(400, 'Index is not enabled for filtertype basic');

/** For a block that, as far as node and index know, never was in the active chain. */
export const filterNotMade = (): HttpError => new HttpError(404, 'Filter not found. Block was not connected to active chain.');

export const filterNotYetMade = (): HttpError =>
  new HttpError(404, 'Filter not found. Block filters are still in the process of being indexed.');

export const prunedBlock = (hash: string): HttpError => new HttpError(404, `${hash} not available (pruned data)`);

export const badPoolPath = (): HttpError => badUri('/rest/mempool/<info|contents>.json');

export const badPoolParameter = (name: string): HttpError =>
  new HttpError(400, `The "${name}" query parameter must be either "true" or "false".`);

export const sequenceInVerbose = (): HttpError =>
  new HttpError(400, 'Verbose results cannot contain mempool sequence values. (hint: set "verbose=false")');

/** `expected`: the form of the path. */
export const badUri = (expected: string): HttpError => new HttpError(400, `Invalid URI format. Expected ${expected}`);

/** The node has the block but cannot read it; the log says why. `status`: the profile's. */
export const unreadableBlock = (hash: string, status: 404 | 500, cause: Error): HttpError =>
  new HttpError(status, status === 404 ? `${hash} not found` : `I/O error reading ${hash}`, [], { cause });

export const missingPartParameter = (name: 'offset' | 'size'): HttpError => new HttpError(400, `Block part ${name} missing or invalid`);

export const badPart = (offset: bigint, size: bigint, hash: string): HttpError =>
  new HttpError(400, `Bad block part offset/size ${offset}/${size} for ${hash}`);

export const noJson = (): HttpError => new HttpError(400, 'JSON output is not supported for this request type');

/** The text is shown without characters that a URI cannot contain. */
export const badHeight = (text: string): HttpError => new HttpError(400, `Invalid height: ${text.replace(NOT_IN_ADDRESSES, '')}`);

export const heightOutOfRange = (): HttpError => new HttpError(404, 'Block height out of range');

export const blockNotFound = (): HttpError => new HttpError(400, 'Block not found');

/** The outputs that the block spends are not available. */
export const undoNotAvailable = (hash: string): HttpError => new HttpError(404, `${hash} undo not available`);

/** `available`: the list as the endpoint words it. */
export const formatNotFound = (available: string): HttpError => new HttpError(404, `output format not found (available: ${available})`);
