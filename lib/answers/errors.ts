// Errors of Bitcoin Core's calls that several interfaces have, in code and words. Clients of every interface that sends transactions search for
// these words.

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

/** Codes of what can be wrong with a call that was understood. */
export const CODES = {
  misc: -1,
  type: -3,
  notFound: -5,
  invalidParameter: -8,
  deserialization: -22,
  transaction: -25,
  rejected: -26,
  alreadyInUtxoSet: -27
} as const;

export const misc = (text: string): CallError => new CallError(CODES.misc, text);

export const typeError = (text: string): CallError => new CallError(CODES.type, text);

export const invalidParameter = (text: string): CallError => new CallError(CODES.invalidParameter, text);

export const notFound = (text: string): CallError => new CallError(CODES.notFound, text);
