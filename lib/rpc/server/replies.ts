// The texts of replies to calls, one by one and in batches.

import { errorReply, errorText, resultFrame } from '../../server/json-rpc/frames';
import { nextTurn, type Slice } from '../../turns/slices';
import { isMalformed, isNotification, statusOf, type BadCall, type Call } from '../json-rpc';
import type { Outcome } from './call-runner';

/** Texts up to this length are concatenated. */
const SMALL_BYTES = 64 * 1_024;

/** The texts of each reply, in a batch with a comma before each but the first. */
export async function repliesTo(
  calls: readonly (Call | BadCall)[],
  outcomes: readonly Outcome[],
  isBatch: boolean,
  slice: Slice
): Promise<(string | Buffer)[][]> {
  const replies: (string | Buffer)[][] = [];
  for (const [i, outcome] of outcomes.entries()) {
    if (i > 0 && slice.isOver()) await nextTurn();
    const call = calls[i] as Call | BadCall; // an outcome for each
    // In a batch a malformed notification gets no reply either.
    if (isNotification(call.form) && (isBatch || !isMalformed(call))) continue;
    const texts = replyTo(call.form, outcome);
    replies.push(isBatch ? joined([replies.length > 0 ? ',' : '', ...texts]) : texts);
  }
  return replies;
}

function replyTo(form: Call['form'], outcome: Outcome): (string | Buffer)[] {
  if ('error' in outcome) return [errorReply(form, errorText(outcome.error))];
  const [before, behind] = resultFrame(form);
  return [before, ...outcome.answer.parts, behind];
}

/** Errors of well-formed calls of version 2.0 have status 200. */
export function statusFor(call: Call | BadCall, outcome: Outcome): number {
  return 'error' in outcome && (isMalformed(call) || !call.form.isVersion2) ? statusOf(outcome.error) : 200;
}

/** Concatenates runs of short texts; long texts are not copied. */
export function joined(texts: readonly (string | Buffer)[]): Buffer[] {
  const parts: Buffer[] = [];
  let short: Buffer[] = [];
  const flush = (): void => {
    if (short.length > 0) parts.push(short.length === 1 ? (short[0] as Buffer) : Buffer.concat(short));
    short = [];
  };
  for (const text of texts) {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (bytes.length > SMALL_BYTES) {
      flush();
      parts.push(bytes);
    } else short.push(bytes);
  }
  flush();
  return parts;
}
