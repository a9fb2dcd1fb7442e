// Errors of the Electrum protocol: JSON-RPC's codes, and two of ElectrumX that all servers have adopted.

import { refusalOf } from '../server/refusal';
import type { CallError } from '../answers/errors';
import type { ServerLogger } from '../server/logger';
import type { Gate } from '../server/work/gate';

export const CODES = {
  /** The request is invalid, or goes beyond a limit. */
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

/** What a client is told when a method fails. */
export function electrumErrorOf(error: unknown, gate: Pick<Gate, 'status'>, logger: Pick<ServerLogger, 'error'>): ElectrumError {
  if (error instanceof ElectrumError) return error;
  const { kind, error: known } = refusalOf(error, gate, logger);
  if (kind === 'history-too-long' || kind === 'too-many-coins') return new ElectrumError(CODES.badRequest, known.message);
  return new ElectrumError(known.status === 500 && kind !== 'busy' ? CODES.internal : CODES.daemon, known.message);
}

/** An error of the node, in the form in which all Electrum servers show those. */
export const ofDaemon = ({ code, message }: CallError): ElectrumError =>
  new ElectrumError(CODES.daemon, `daemon error: DaemonError({'code': ${code}, 'message': '${message}'})`);
