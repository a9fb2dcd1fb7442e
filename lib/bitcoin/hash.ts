// Bitcoin's hashes, and the only two functions that turn a hash between its wire order
// (32-byte Buffer) and the reversed hex in which people read it.

import { hash } from 'node:crypto';
import { sha256OfDigestText, shortHash256 } from './sha256';

/** Up to here node:crypto is slower than two blocks of our own. */
const SHORT = 119;

/** 32 bytes. */
export function sha256(data: Buffer): Buffer {
  return hash('sha256', data, 'buffer');
}

/** SHA-256 twice: txids, block hashes, checksums. 32 bytes, wire order. */
export function hash256(data: Buffer): Buffer {
  return data.length <= SHORT ? shortHash256(data) : sha256OfDigestText(hash('sha256', data, 'binary'));
}

/** RIPEMD-160 of SHA-256: key and script hashes. 20 bytes. */
export function hash160(data: Buffer): Buffer {
  return hash('ripemd160', hash('sha256', data, 'buffer'), 'buffer');
}

// Most transactions fit; one buffer for all of them saves an allocation for each.
const joined = Buffer.allocUnsafeSlow(16_384);

/** hash256 of the parts one after the other. */
export function hash256Of(...parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts)
    length += part.length;
  if (length > joined.length)
    return hash256(Buffer.concat(parts, length));
  let at = 0;
  for (const part of parts)
    at += part.copy(joined, at);
  return hash256(joined.subarray(0, length));
}

/** Wire order to reversed lowercase hex. */
export function toDisplayHex(hash: Buffer): string {
  return Buffer.from(hash).reverse().toString('hex');
}

/** 64 hex digits of either case to 32 bytes in wire order. @throws RangeError for any other text. */
export function fromDisplayHex(text: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new RangeError(`expected 64 hex digits, got ${JSON.stringify(text)}`);
  return Buffer.from(text, 'hex').reverse();
}
