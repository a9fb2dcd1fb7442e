// What the descriptions of endpoints have in common.

import { inPath } from '../describe/open-api';
import { ASKED_HASH, COUNT, HASH } from '../describe/values';
import type { Schema } from '../describe/schema';

export const HASH_IN_PATH = inPath('hash', 'The hash of a block.', ASKED_HASH);

export const TXID_IN_PATH = inPath('txid', 'The txid of a transaction.', ASKED_HASH);

export const NOT_HEX = 'The hash is not 64 hex digits.';

export const UNKNOWN_BLOCK = { 400: NOT_HEX, 404: 'The block is not in the active chain.' };

export const UNKNOWN_TRANSACTION = { 400: NOT_HEX, 404: 'Neither the chain nor the pool has the transaction.' };

/** A text, not a JSON string. */
export const TXID_TEXT: Schema = { ...HASH, description: 'The txid, as a text.' };

/** A text. Clients that parse JSON read a number. */
export const HEIGHT_TEXT: Schema = { ...COUNT, description: 'The height, in digits.' };
