// Why an answer is refused. Interfaces have their own words for some of the reasons.

import { NoStateError, NotYetKnownError } from '../index/errors';
import { ChainMovedError, NoNodeError } from '../node/errors';
import { HistoryTooLongError, TooManyCoinsError } from '../scripts/errors';
import { detailsOf } from '../system/error-text';
import { brokenDown, chainMoving, HttpError, notYetKnown, QueueFullError, unavailable, UnavailableError } from './errors';
import type { ServerLogger } from './logger';
import type { Gate } from './work/gate';

/**
 * `not-ready`: index or node cannot answer now. `busy`: the work queue is full. `history-too-long` and `too-many-coins`: a script has too
 * many for an answer. `said`: the error is meant for the client as it is. `broken`: the log says what. The error has the words of interfaces
 * that have no other ones.
 */
export type Refusal =
  | { readonly kind: 'not-ready'; readonly error: UnavailableError }
  | { readonly kind: 'busy' | 'history-too-long' | 'too-many-coins' | 'said' | 'broken'; readonly error: HttpError };

/** Logs what went wrong inside. */
export function refusalOf(error: unknown, gate: Pick<Gate, 'status'>, logger: Pick<ServerLogger, 'error'>): Refusal {
  if (error instanceof UnavailableError) return { kind: 'not-ready', error };
  if (error instanceof QueueFullError) return { kind: 'busy', error };
  if (error instanceof HttpError) {
    if (error.cause !== undefined) logger.error(`request failed: ${detailsOf(error.cause)}`);
    return { kind: 'said', error };
  }
  if (error instanceof NoStateError) return notReady(unavailable(gate.status()));
  if (error instanceof NotYetKnownError && error.backfill !== undefined) return notReady(notYetKnown(error.backfill));
  if (error instanceof ChainMovedError) return notReady(chainMoving());
  if (error instanceof NoNodeError) return notReady(unavailable(error.message));
  if (error instanceof HistoryTooLongError) return { kind: 'history-too-long', error: new HttpError(400, 'history too large') };
  if (error instanceof TooManyCoinsError) return { kind: 'too-many-coins', error: new HttpError(400, 'too many unspent outputs') };
  logger.error(`request failed: ${detailsOf(error)}`);
  return { kind: 'broken', error: brokenDown() };
}

const notReady = (error: UnavailableError): Refusal => ({ kind: 'not-ready', error });
