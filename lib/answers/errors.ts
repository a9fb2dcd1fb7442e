// Errors of Bitcoin Core's calls, in code and words. Clients of every interface that sends transactions search for these words.

/** A call that did not succeed. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(
    readonly code: number,
    message: string
  ) {
    super(message);
  }
}

export const CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  internal: -32603,
  parse: -32700,
  misc: -1,
  type: -3,
  notFound: -5,
  outOfMemory: -7,
  invalidParameter: -8,
  deserialization: -22,
  transaction: -25,
  rejected: -26,
  alreadyInUtxoSet: -27,
  inWarmup: -28
} as const;

export const invalidRequest = (text: string): CallError => new CallError(CODES.invalidRequest, text);

export const parseError = (text = 'Parse error'): CallError => new CallError(CODES.parse, text);

/** `status`: what is happening that prevents an answer. */
export const inWarmup = (status: string): CallError => new CallError(CODES.inWarmup, status);

export const methodNotFound = (): CallError => new CallError(CODES.methodNotFound, 'Method not found');

export const misc = (text: string): CallError => new CallError(CODES.misc, text);

export const typeError = (text: string): CallError => new CallError(CODES.type, text);

export const invalidParameter = (text: string): CallError => new CallError(CODES.invalidParameter, text);

export const notFound = (text: string): CallError => new CallError(CODES.notFound, text);

export const blockNotFound = (): CallError => notFound('Block not found');

/** Something broke; the log says what. */
export const brokenDown = (): CallError => new CallError(CODES.internal, 'Internal error; the log of the node has details');
