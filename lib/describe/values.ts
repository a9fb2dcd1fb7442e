// Schemas of the values that Bitcoin's interfaces have in common, each with its unit.

import { described, type PlainSchema } from './schema';

export const TEXT = { type: 'string' } as const satisfies PlainSchema;

export const FLAG = { type: 'boolean' } as const satisfies PlainSchema;

export const INTEGER = { type: 'integer' } as const satisfies PlainSchema;

/** From 0. */
export const COUNT = { type: 'integer', minimum: 0 } as const satisfies PlainSchema;

export const NUMBER = { type: 'number' } as const satisfies PlainSchema;

export const HEX = {
  type: 'string',
  // Greedy, or with a group that captures, the engine would need a stack for long texts.
  pattern: '^(?:[0-9a-f]{2})*?$',
  description: 'Bytes in hex.'
} as const satisfies PlainSchema;

/** As replies have it. */
export const HASH = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: '32 bytes in hex, in reverse order as hashes are displayed.'
} as const satisfies PlainSchema;

/** As requests may have it. */
export const ASKED_HASH = { ...HASH, pattern: '^[0-9a-fA-F]{64}$' } as const satisfies PlainSchema;

export const ASKED_HEX = { ...HEX, pattern: '^(?:[0-9a-fA-F]{2})*?$' } as const satisfies PlainSchema;

export const WORD = { type: 'string', pattern: '^[0-9a-f]{8}$', description: '32 bits in hex.' } as const satisfies PlainSchema;

export const TXID = described('The txid of a transaction: hex, in reverse order as txids are displayed.', HASH);

export const BLOCK_HASH = described('The hash of a block: hex, in reverse order as hashes are displayed.', HASH);

export const SATOSHIS = { type: 'integer', minimum: 0, description: 'Satoshis.' } as const satisfies PlainSchema;

/** May be negative. */
export const SATOSHI_CHANGE = { type: 'integer', description: 'Satoshis; negative for less.' } as const satisfies PlainSchema;

export const COINS = { type: 'number', description: 'BTC, a decimal number with eight places.' } as const satisfies PlainSchema;

export const FEE_RATE = { type: 'number', description: 'Satoshis for each virtual byte.' } as const satisfies PlainSchema;

export const CORE_FEE_RATE = {
  type: 'number',
  description: 'BTC for each 1,000 virtual bytes, a decimal number with eight places.'
} as const satisfies PlainSchema;

export const HEIGHT = {
  type: 'integer',
  minimum: 0,
  description: 'Height of a block; 0: the genesis block.'
} as const satisfies PlainSchema;

export const TIME = { type: 'integer', minimum: 0, description: 'Unix time in seconds.' } as const satisfies PlainSchema;

export const BYTES = { type: 'integer', minimum: 0, description: 'Bytes.' } as const satisfies PlainSchema;

export const VBYTES = {
  type: 'integer',
  minimum: 0,
  description: 'Virtual bytes: a quarter of the weight, rounded up.'
} as const satisfies PlainSchema;

export const WEIGHT = {
  type: 'integer',
  minimum: 0,
  description: 'Weight (BIP141): bytes of witnesses count once, all others four times.'
} as const satisfies PlainSchema;
