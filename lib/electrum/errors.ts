// Errors of the Electrum protocol: JSON-RPC's codes, and two of ElectrumX that all servers have adopted.

export const CODES = {
  /** What the client asks for makes no sense. */
  badRequest: 1,
  /** The node refuses the request, or does not know what it asks for. */
  daemon: 2,
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParameters: -32_602,
  internal: -32_603
} as const;

export class ElectrumError extends Error {
  override readonly name = 'ElectrumError';

  constructor(
    readonly code: number,
    message: string
  ) {
    super(message);
  }
}
