// One attempt to deliver a message. What the receiver answers is not used, except the status; it is bounded all the same.

import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { messageOf } from '../../system/error-text';

/** From the first moment to the last byte of the answer. */
const ATTEMPT_MS = 10_000;

const MOST_HEADER_BYTES = 8 * 1_024;
/** Of all that the receiver sends, also before its answer (1xx) and around the pieces of a body. The rest is cut off. */
const MOST_BYTES = 24 * 1_024;

export interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** By default ten seconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Posts JSON. Follows no redirect: another origin may not be allowed. Never rejects.
 * @returns undefined if the receiver answered 2xx; otherwise what happened.
 */
export async function deliver(attempt: Attempt): Promise<string | undefined> {
  try {
    return await post(attempt);
  } catch (error) {
    return messageOf(error);
  }
}

/** @throws Error for a request that cannot be made */
function post({ url, headers, body, signal, timeoutMs = ATTEMPT_MS }: Attempt): Promise<string | undefined> {
  return new Promise((resolve) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const sent = send(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'User-Agent': 'bcoin-rest' },
      // A connection of its own, which ends with the attempt.
      agent: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      signal: AbortSignal.any([signal, limit])
    });
    let failure: string | undefined = 'the connection ended without an answer';
    let isAnswered = false;
    sent.on('socket', (socket) => {
      let bytes = 0;
      socket.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > MOST_BYTES) sent.destroy(new Error(`no answer within ${MOST_BYTES} bytes`));
      });
    });
    sent.on('response', (response) => {
      isAnswered = true;
      failure = failureOf(response);
      response.on('error', () => undefined).resume();
    });
    sent.on('error', (error) => {
      // After an answer, an error is about the rest of its body.
      if (!isAnswered) failure = limit.aborted ? `no answer within ${timeoutMs / 1_000} seconds` : messageOf(error);
    });
    sent.on('close', () => {
      resolve(failure);
    });
    sent.end(body);
  });
}

function failureOf({ statusCode = 0 }: IncomingMessage): string | undefined {
  return statusCode >= 200 && statusCode < 300 ? undefined : `the answer was ${statusCode}`;
}
