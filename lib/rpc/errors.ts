// Errors that only JSON-RPC has, beside those of all interfaces (lib/answers/errors.ts).

import { CallError, notFound } from '../answers/errors';

/** The first four are those of JSON-RPC 2.0. */
export const RPC_CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  internal: -32603,
  parse: -32700,
  outOfMemory: -7,
  inWarmup: -28
} as const;

export const invalidRequest = (text: string): CallError => new CallError(RPC_CODES.invalidRequest, text);

export const parseError = (text = 'Parse error'): CallError => new CallError(RPC_CODES.parse, text);

export const methodNotFound = (): CallError => new CallError(RPC_CODES.methodNotFound, 'Method not found');

/** `status`: what is happening that prevents an answer. */
export const inWarmup = (status: string): CallError => new CallError(RPC_CODES.inWarmup, status);

export const outOfMemory = (): CallError => new CallError(RPC_CODES.outOfMemory, 'Ran out of memory during operation');

export const blockNotFound = (): CallError => notFound('Block not found');

/** Something broke; the log says what. */
export const brokenDown = (): CallError => new CallError(RPC_CODES.internal, 'Internal error; the log of the node has details');
