// Bitcoin's hashes, and the only functions that turn a hash between its wire order (32-byte Buffer) and the reversed
// hex in which people read it. A call into node:crypto costs about as much as three blocks of the SHA-256 (FIPS 180-4)
// below, and checksums and the second half of every double hash have only one block.

import { hash } from 'node:crypto';

/** Up to this length a message has at most two blocks, for which the SHA-256 below is faster than node:crypto. */
const SHORT = 119;

const HASH_LENGTH = 32;

/** Values of hex digits by their character codes; -1: not a digit. */
const DIGITS = Int8Array.from({ length: 256 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()));

const INITIAL = Int32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19);

const ROUNDS = Int32Array.of(
  0x428a2f98,
  0x71374491,
  0xb5c0fbcf,
  0xe9b5dba5,
  0x3956c25b,
  0x59f111f1,
  0x923f82a4,
  0xab1c5ed5,
  0xd807aa98,
  0x12835b01,
  0x243185be,
  0x550c7dc3,
  0x72be5d74,
  0x80deb1fe,
  0x9bdc06a7,
  0xc19bf174,
  0xe49b69c1,
  0xefbe4786,
  0x0fc19dc6,
  0x240ca1cc,
  0x2de92c6f,
  0x4a7484aa,
  0x5cb0a9dc,
  0x76f988da,
  0x983e5152,
  0xa831c66d,
  0xb00327c8,
  0xbf597fc7,
  0xc6e00bf3,
  0xd5a79147,
  0x06ca6351,
  0x14292967,
  0x27b70a85,
  0x2e1b2138,
  0x4d2c6dfc,
  0x53380d13,
  0x650a7354,
  0x766a0abb,
  0x81c2c92e,
  0x92722c85,
  0xa2bfe8a1,
  0xa81a664b,
  0xc24b8b70,
  0xc76c51a3,
  0xd192e819,
  0xd6990624,
  0xf40e3585,
  0x106aa070,
  0x19a4c116,
  0x1e376c08,
  0x2748774c,
  0x34b0bcb5,
  0x391c0cb3,
  0x4ed8aa4a,
  0x5b9cca4f,
  0x682e6ff3,
  0x748f82ee,
  0x78a5636f,
  0x84c87814,
  0x8cc70208,
  0x90befffa,
  0xa4506ceb,
  0xbef9a3f7,
  0xc67178f2
);

const BLOCK_WORDS = 16;
const DIGEST_WORDS = 8;
const END_OF_MESSAGE = 0x80000000 | 0;

/** The message schedule; its first 16 words are the block to be hashed. */
const words = new Int32Array(64);
/** The digest, between calls of this module's functions. */
const state = new Int32Array(DIGEST_WORDS);

/** Completes the message schedule of a block. */
function schedule(words: Int32Array): void {
  for (let i = BLOCK_WORDS; i < 64; i++) {
    const w2 = words[i - 2] as number;
    const w15 = words[i - 15] as number;
    const s1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10);
    const s0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3);
    words[i] = (s1 + (words[i - 7] as number) + s0 + (words[i - 16] as number)) | 0;
  }
}

/** Adds the block in `words` to the digest in `state`. */
function compress(): void {
  schedule(words);
  compressScheduled(words);
}

/** Adds a block to the digest in `state`. */
function compressScheduled(words: Int32Array): void {
  const s = state as unknown as { [word in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7]: number }; // eight words
  let a = s[0],
    b = s[1],
    c = s[2],
    d = s[3],
    e = s[4],
    f = s[5],
    g = s[6],
    h = s[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[i] as number) + (words[i] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  s[0] += a;
  s[1] += b;
  s[2] += c;
  s[3] += d;
  s[4] += e;
  s[5] += f;
  s[6] += g;
  s[7] += h;
}

/** Leaves the digest of a message of at most 2^28 bytes in `state`. */
function digest(message: Buffer): void {
  state.set(INITIAL);
  const { length } = message;
  const tailOffset = length & ~3;
  let tail = END_OF_MESSAGE >>> (8 * (length & 3));
  for (let at = tailOffset, shift = 24; at < length; at++, shift -= 8) tail |= (message[at] as number) << shift;
  // After the message come the bit that ends it and its length.
  const end = (((length + 8) >> 6) + 1) << 6;
  for (let at = 0; at < end;) {
    for (let i = 0; i < BLOCK_WORDS; i++, at += 4) {
      words[i] =
        at < tailOffset
          ? ((message[at] as number) << 24) |
            ((message[at + 1] as number) << 16) |
            ((message[at + 2] as number) << 8) |
            (message[at + 3] as number)
          : at === tailOffset
            ? tail
            : 0;
    }
    if (at === end) words[BLOCK_WORDS - 1] = length << 3;
    compress();
  }
}

/** Replaces the digest in `state` by its own digest. */
function digestAgain(): void {
  words.set(state);
  words[DIGEST_WORDS] = END_OF_MESSAGE;
  words.fill(0, DIGEST_WORDS + 1, BLOCK_WORDS - 1);
  words[BLOCK_WORDS - 1] = DIGEST_WORDS * 32;
  state.set(INITIAL);
  compress();
}

/** SHA-256 twice: txids, block hashes. 32 bytes, wire order. */
export function hash256(data: Buffer): Buffer {
  const result = Buffer.allocUnsafe(HASH_LENGTH);
  writeHash256(data, result, 0);
  return result;
}

/** `hash256` of `data`, written to `to` at `at`. */
function writeHash256(data: Buffer, to: Buffer, at: number): void {
  if (data.length <= SHORT) {
    digest(data);
  } else {
    // One character for each byte: node:crypto returns text three times as fast as buffers.
    const text = hash('sha256', data, 'binary');
    for (let i = 0, at = 0; i < DIGEST_WORDS; i++, at += 4) {
      state[i] = (text.charCodeAt(at) << 24) | (text.charCodeAt(at + 1) << 16) | (text.charCodeAt(at + 2) << 8) | text.charCodeAt(at + 3);
    }
  }
  digestAgain();
  writeState(to, at);
}

/** What follows a message of 64 bytes. */
const AFTER_PAIR = new Int32Array(64);
AFTER_PAIR[0] = END_OF_MESSAGE;
AFTER_PAIR[BLOCK_WORDS - 1] = 2 * HASH_LENGTH * 8;
schedule(AFTER_PAIR);

/**
 * hash256 of two hashes, the first one at `left` and the second one at `right` in `bytes`, written to `to` at `at`: a node of a Merkle tree.
 * Takes two thirds of the time of `hash256`.
 */
export function writePairHash(bytes: Buffer, left: number, right: number, to: Buffer, at: number): void {
  for (let i = 0, from = left; i < BLOCK_WORDS; i++, from += 4) {
    if (i === DIGEST_WORDS) from = right;
    words[i] =
      ((bytes[from] as number) << 24) |
      ((bytes[from + 1] as number) << 16) |
      ((bytes[from + 2] as number) << 8) |
      (bytes[from + 3] as number); // whole hashes
  }
  state.set(INITIAL);
  compress();
  compressScheduled(AFTER_PAIR);
  digestAgain();
  writeState(to, at);
}

function writeState(to: Buffer, at: number): void {
  for (let i = 0, end = at; i < DIGEST_WORDS; i++) {
    const word = state[i] as number;
    to[end++] = word >>> 24;
    to[end++] = word >>> 16;
    to[end++] = word >>> 8;
    to[end++] = word;
  }
}

/** The first four bytes of hash256 of short data, as a big-endian integer: the checksum of base58check. */
export function shortChecksum(data: Buffer): number {
  digest(data);
  digestAgain();
  return (state[0] as number) >>> 0;
}

/** RIPEMD-160 of SHA-256: key and script hashes. 20 bytes. */
export function hash160(data: Buffer): Buffer {
  return hash('ripemd160', hash('sha256', data, 'buffer'), 'buffer');
}

// Most transactions fit into this one buffer, which saves an allocation for each.
const joined = Buffer.allocUnsafeSlow(16_384);

/** hash256 of the parts one after the other. */
export function hash256Of(...parts: readonly Buffer[]): Buffer {
  const result = Buffer.allocUnsafe(HASH_LENGTH);
  writeHash256Of(parts, result, 0);
  return result;
}

/** The same, written to `to` at `at`. */
export function writeHash256Of(parts: readonly Buffer[], to: Buffer, at: number): void {
  writeHash256(inOnePiece(parts), to, at);
}

/** Valid until the next call. */
function inOnePiece(parts: readonly Buffer[]): Buffer {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return first;
  let length = 0;
  for (const part of parts) length += part.length;
  if (length > joined.length) return Buffer.concat(parts, length);
  let end = 0;
  for (const part of parts) end += part.copy(joined, end);
  return joined.subarray(0, length);
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

/** The hash by which an index finds what has to do with a locking script: its SHA-256, not reversed. */
export const scriptHashOf = (script: Buffer): Buffer => hash('sha256', script, 'buffer');
