// Comparing secrets.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether a text is the secret. How long this takes says nothing of the secret. */
export function isSecret(text: string, secret: string): boolean {
  return timingSafeEqual(digestOf(text), digestOf(secret));
}

/** `timingSafeEqual` needs equal lengths: digests have them. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
