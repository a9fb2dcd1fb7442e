// Signatures of webhooks by the Standard Webhooks specification (https://www.standardwebhooks.com): HMAC-SHA256 over id, time and body.

import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** The specification allows 24 to 64 bytes. */
const SECRET_BYTES = 32;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

/** A new secret, as receivers are given it: `whsec_` and base64. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The key in a secret; undefined if the text is none. */
export function signingKeyOf(secret: string): Buffer | undefined {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(encoded, 'base64');
  return key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined;
}

/**
 * The headers of one attempt to deliver a message.
 * @param id the same at every attempt.
 * @param seconds Unix time of the attempt: receivers refuse old ones, so that a recorded message cannot be sent again.
 */
export function signatureHeaders(key: Buffer, id: string, seconds: number, body: string): Record<string, string> {
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}
