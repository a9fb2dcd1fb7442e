// The `<hash>` of a path: 64 hex digits of either case (contract 2.2).

import { fromDisplayHex } from '../../bitcoin/hash';
import { invalidHash } from '../errors';

const HASH = /^[0-9a-fA-F]{64}$/;

/** 32 bytes in wire order. @throws RestError 400 for any other text. */
export function parseHash(text: string): Buffer {
  if (!HASH.test(text)) throw invalidHash(text);
  return fromDisplayHex(text);
}
