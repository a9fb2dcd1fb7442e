// Errors of calls: codes of Bitcoin Core's rpc/protocol.h, and texts that several calls share.

/** A call that did not succeed. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

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

export const invalidRequest = (text: string): RpcError => new RpcError(CODES.invalidRequest, text);

export const parseError = (text = 'Parse error'): RpcError => new RpcError(CODES.parse, text);

/** `status`: what is happening that prevents an answer. */
export const inWarmup = (status: string): RpcError => new RpcError(CODES.inWarmup, status);

export const misc = (text: string): RpcError => new RpcError(CODES.misc, text);

export const typeError = (text: string): RpcError => new RpcError(CODES.type, text);

export const invalidParameter = (text: string): RpcError => new RpcError(CODES.invalidParameter, text);

export const notFound = (text: string): RpcError => new RpcError(CODES.notFound, text);

export const blockNotFound = (): RpcError => notFound('Block not found');

/** Something broke; the log says what. */
export const brokenDown = (): RpcError => new RpcError(CODES.internal, 'Internal error; the log of the node has details');
