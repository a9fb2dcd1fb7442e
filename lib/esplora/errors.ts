// Esplora's errors, each a status and a plain text in the words of Blockstream's server.

import { HttpError } from '../server/errors';
import { CONTENT_TYPES } from '../server/http/reply';
import type { CallError } from '../answers/errors';

export const invalidHex = (): HttpError => new HttpError(400, 'Invalid hex string');

export const invalidNumber = (): HttpError => new HttpError(400, 'Invalid number');

/** For a query parameter that is not a number. */
export const invalidParameter = (name: string): HttpError => new HttpError(400, `Invalid ${name}`);

export const blockNotFound = (): HttpError => new HttpError(404, 'Block not found');

export const transactionNotFound = (): HttpError => new HttpError(404, 'Transaction not found');

/** For a transaction that is in no block of the chain. */
export const noProof = (): HttpError => new HttpError(404, 'Transaction not found or is unconfirmed');

export const indexOutOfRange = (): HttpError => new HttpError(404, 'tx index out of range');

export const startNotOfPage = (size: number): HttpError => new HttpError(400, `start index must be a multiple of ${size}`);

export const startOutOfRange = (): HttpError => new HttpError(400, 'start index out of range');

export const missingTransaction = (): HttpError => new HttpError(400, 'Missing tx');

export const noTxids = (): HttpError => new HttpError(400, 'No txids specified');

export const notTxids = (): HttpError => new HttpError(400, 'invalid txId format');

export const noPricesOnTestnets = (): HttpError => new HttpError(400, 'Prices are not available on testnets.');

export const tooManyTxids = (): HttpError => new HttpError(400, 'Too many txids requested');

export const tooManyTransactions = (most: number): HttpError => new HttpError(400, `Exceeded maximum of ${most} transactions`);

export const badTransactionSize = (index: number): HttpError => new HttpError(400, `Invalid transaction size for item ${index}`);

export const badTransactionHex = (index: number): HttpError => new HttpError(400, `Invalid transaction hex for item ${index}`);

export const noTransactionList = (): HttpError => new HttpError(400, 'Invalid body: expected a JSON array of transactions in hex');

export const noScriptList = (): HttpError => new HttpError(400, 'Invalid body: expected a JSON array of addresses or script hashes');

export const tooManyScripts = (most: number): HttpError => new HttpError(400, `Exceeded maximum of ${most} addresses or script hashes`);

/** Not 403: clients take that for a busy server, and would ask a hundred times. */
export const noBroadcast = (): HttpError => new HttpError(400, 'This server does not broadcast transactions');

export const noMining = (): HttpError => new HttpError(403, 'mining REST endpoints are disabled');

/** The only error that is no text. */
export const noTemplate = ({ code, message }: Pick<CallError, 'code' | 'message'>): HttpError =>
  new HttpError(502, JSON.stringify({ error: { code, message } }), ['Content-Type', CONTENT_TYPES.json]);

export const invalidAddress = (): HttpError => new HttpError(400, 'Invalid Bitcoin address');

export const otherNetwork = (): HttpError => new HttpError(400, 'Address on invalid network');

export const invalidScriptHash = (): HttpError => new HttpError(400, 'Invalid scripthash');

export const addressSearchDisabled = (): HttpError => new HttpError(400, 'address search disabled');

/** Neither the chain nor the pool has the transaction after which the page should begin. */
export const cursorNotFound = (): HttpError => new HttpError(422, 'after_txid not found');

export const historyTooLong = (): HttpError => new HttpError(400, 'Scripthash history too large to scan');

export const tooManyCoins = (): HttpError => new HttpError(400, 'Too many unspent outputs');

/** `path`: as it came, without its query; it is quoted and escaped as in Rust. */
export const noSuchEndpoint = (path: string): HttpError =>
  new HttpError(404, `endpoint does not exist "${path.replace(/["\\]/g, (character) => `\\${character}`)}"`);

export const bodyTooLarge = (): HttpError => new HttpError(413, 'Request body too large');

export const requestTimeout = (): HttpError => new HttpError(408, 'Request timeout', ['Connection', 'close']);

/** The error of an RPC call, with Bitcoin Core's code and words, which clients search for. */
export const callRefused = (method: string, { code, message }: CallError): HttpError =>
  new HttpError(400, `${method} RPC error: ${JSON.stringify({ code, message })}`);
