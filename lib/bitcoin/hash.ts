// Bitcoin's hashes, and the only functions that turn a hash between its wire order (32-byte Buffer) and the reversed
// hex in which people read it.

import { hash } from 'node:crypto';

/** Bytes of SHA-256: of block hashes, txids and nodes of Merkle trees. */
export const HASH_LENGTH = 32;

/** The parent of the genesis block, and what stands for a hash where there is none. Not to be written to. */
export const NO_HASH = Buffer.alloc(HASH_LENGTH);

/** Values of hex digits by their character codes; -1: not a digit. */
const DIGITS = Int8Array.from({ length: 256 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()));

/** SHA-256, 32 bytes. */
export function sha256(data: Uint8Array): Buffer {
  const result = Buffer.allocUnsafe(HASH_LENGTH);
  writeSha256(data, result, 0);
  return result;
}

/** The first `length` bytes of SHA-256, written to `to` at `at`. */
export function writeSha256(data: Uint8Array, to: Buffer, at: number, length = HASH_LENGTH): void {
  // One character for each byte: node:crypto returns text three times as fast as buffers.
  const digest = hash('sha256', data, 'binary');
  for (let i = 0; i < length; i++) to[at + i] = digest.charCodeAt(i);
}

/** What the second SHA-256 of a double one takes in. */
const inner = Buffer.allocUnsafeSlow(HASH_LENGTH);

/** SHA-256 twice: txids, block hashes. 32 bytes, wire order. */
export function hash256(data: Buffer): Buffer {
  const result = Buffer.allocUnsafe(HASH_LENGTH);
  writeHash256(data, result, 0);
  return result;
}

/** `hash256` of the parts one after the other. */
export function hash256Of(...parts: readonly Buffer[]): Buffer {
  return hash256(Buffer.concat(parts));
}

/** `hash256` of `data`, written to `to` at `at`. */
export function writeHash256(data: Buffer, to: Buffer, at: number): void {
  writeSha256(data, inner, 0);
  writeSha256(inner, to, at);
}

/** What a node of a Merkle tree is the hash of. */
const pair = Buffer.allocUnsafeSlow(2 * HASH_LENGTH);

/** hash256 of two hashes, the first one at `left` and the second one at `right` in `bytes`, written to `to` at `at`: a node of a Merkle tree. */
export function writePairHash(bytes: Buffer, left: number, right: number, to: Buffer, at: number): void {
  // For so few bytes a loop is quicker than `copy`.
  for (let i = 0; i < HASH_LENGTH; i++) {
    pair[i] = bytes[left + i] as number; // whole hashes
    pair[HASH_LENGTH + i] = bytes[right + i] as number;
  }
  writeHash256(pair, to, at);
}

/** The first four bytes of hash256, as a big-endian integer: the checksum of base58check. */
export function shortChecksum(data: Buffer): number {
  writeSha256(data, inner, 0);
  writeSha256(inner, inner, 0, 4);
  return inner.readUInt32BE(0);
}

/** RIPEMD-160 of SHA-256: key and script hashes. 20 bytes. */
export function hash160(data: Buffer): Buffer {
  return hash('ripemd160', sha256(data), 'buffer');
}

/** Wire order to the order in which hashes are displayed: a new Buffer. */
export function toDisplayOrder(hash: Buffer): Buffer {
  return Buffer.from(hash).reverse();
}

/** Wire order to reversed lowercase hex. */
export function toDisplayHex(hash: Buffer): string {
  return toDisplayOrder(hash).toString('hex');
}

/** 64 hex digits of either case to 32 bytes in wire order. @throws RangeError for any other text. */
export function fromDisplayHex(text: string): Buffer {
  const hash = parseDisplayHex(text);
  if (hash === undefined) throw new RangeError(`expected 64 hex digits, got ${JSON.stringify(text)}`);
  return hash;
}

/** As `fromDisplayHex`, but undefined for any other text. */
export function parseDisplayHex(text: string): Buffer | undefined {
  if (text.length !== 2 * HASH_LENGTH) return undefined;
  const hash = Buffer.allocUnsafe(HASH_LENGTH);
  for (let i = HASH_LENGTH - 1, at = 0; i >= 0; i--, at += 2) {
    const [high, low] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
    if ((high | low) > 0xff) return undefined;
    const byte = ((DIGITS[high] as number) << 4) | (DIGITS[low] as number); // within the table
    if (byte < 0) return undefined;
    hash[i] = byte;
  }
  return hash;
}

/**
 * As `parseDisplayHex`. `text`: as UTF-8, in which no character beyond ASCII has a byte that is a
 * digit; from `start` to before `end`.
 */
export function findDisplayHex(text: Uint8Array, start = 0, end = text.length): Buffer | undefined {
  if (end - start !== 2 * HASH_LENGTH || end > text.length) return undefined;
  const hash = Buffer.allocUnsafe(HASH_LENGTH);
  for (let i = HASH_LENGTH - 1, at = start; i >= 0; i--, at += 2) {
    const byte = ((DIGITS[text[at] as number] as number) << 4) | (DIGITS[text[at + 1] as number] as number); // within the text
    if (byte < 0) return undefined;
    hash[i] = byte;
  }
  return hash;
}

/** Compares two hashes in the order of their display hex, as Buffer.compare does. */
export function compareDisplayed(a: Buffer, b: Buffer): number {
  for (let i = a.length - 1; i >= 0; i--) {
    const difference = (a[i] as number) - (b[i] as number); // both have 32 bytes
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A hash as the key of a map or cache. */
export const keyOf = (hash: Buffer): string => hash.toString('latin1');

/** An outpoint as the key of a map or cache. */
export const keyOfOutpoint = (txid: Buffer, index: number): string => `${keyOf(txid)}${index}`;

/** The hash whose key this is. */
export const hashOfKey = (key: string): Buffer => Buffer.from(key, 'latin1');

/** The hash by which an index finds what has to do with a locking script: its SHA-256, not reversed. */
export const scriptHashOf = (script: Buffer): Buffer => sha256(script);
