// What a client is told when an answer fails.

import { IndexUnavailableError, NotYetKnownError } from '../index/errors';
import { ChainMovedError } from '../node/errors';
import { detailsOf } from '../turns/error-text';
import { brokenDown, chainMoving, notYetKnown, HttpError, unavailable } from './errors';
import type { ServerLogger } from './logger';
import type { Gate } from './work/gate';

/** Errors of index and node, which endpoints let pass: 503 if they mean "not ready", 500 otherwise. */
export function asHttpError(error: unknown, gate: Pick<Gate, 'status'>, logger: ServerLogger): HttpError {
  if (error instanceof HttpError) {
    if (error.cause !== undefined) logger.error(`request failed: ${detailsOf(error.cause)}`);
    return error;
  }
  if (error instanceof IndexUnavailableError) return unavailable(gate.status());
  if (error instanceof NotYetKnownError && error.backfill !== undefined) return notYetKnown(error.backfill);
  if (error instanceof ChainMovedError) return chainMoving();
  logger.error(`request failed: ${detailsOf(error)}`);
  return brokenDown();
}
