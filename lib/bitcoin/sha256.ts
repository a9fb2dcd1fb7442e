// SHA-256 (FIPS 180-4) for short messages. The call into node:crypto costs about as much as
// three blocks of this; checksums, and the second half of every double hash, have one.

const INITIAL = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
);

const ROUNDS = Int32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
);

const BLOCK_LENGTH = 64;
const DIGEST_WORDS = 8;
const END_OF_MESSAGE = 0x80000000 | 0;

/** The message schedule; its first 16 words are the block to be hashed. */
const words = new Int32Array(64);
/** The digest, between calls of this module's functions. */
const state = new Int32Array(DIGEST_WORDS);

/** Folds the block in `words` into `state`. */
function compress(): void {
  const s = state as unknown as { [word in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7]: number }; // eight words
  for (let i = 16; i < 64; i++) {
    const w2 = words[i - 2] as number;
    const w15 = words[i - 15] as number;
    const s1 = (w2 >>> 17 | w2 << 15) ^ (w2 >>> 19 | w2 << 13) ^ w2 >>> 10;
    const s0 = (w15 >>> 7 | w15 << 25) ^ (w15 >>> 18 | w15 << 14) ^ w15 >>> 3;
    words[i] = s1 + (words[i - 7] as number) + s0 + (words[i - 16] as number) | 0;
  }
  let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (let i = 0; i < 64; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = h + s1 + (e & f ^ ~e & g) + (ROUNDS[i] as number) + (words[i] as number) | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = s0 + (a & b ^ a & c ^ b & c) | 0;
    h = g;
    g = f;
    f = e;
    e = d + t1 | 0;
    d = c;
    c = b;
    b = a;
    a = t1 + t2 | 0;
  }
  s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
}

/** Reads up to a block of the message from `at`, zeros behind its end. */
function load(bytes: Buffer, at: number): void {
  const whole = Math.min(bytes.length - at, BLOCK_LENGTH) >> 2;
  for (let i = 0; i < whole; i++, at += 4)
    words[i] = (bytes[at] as number) << 24 | (bytes[at + 1] as number) << 16 | (bytes[at + 2] as number) << 8 | (bytes[at + 3] as number);
  if (whole === 16)
    return;
  words.fill(0, whole, 16);
  for (let shift = 24; at < bytes.length; at++, shift -= 8)
    words[whole] = (words[whole] as number) | (bytes[at] as number) << shift;
}

/** Leaves the digest of the message in `state`. */
function digest(bytes: Buffer): void {
  state.set(INITIAL);
  const { length } = bytes;
  let at = 0;
  for (; at + BLOCK_LENGTH <= length; at += BLOCK_LENGTH) {
    load(bytes, at);
    compress();
  }
  load(bytes, at);
  const last = length - at >> 2;
  words[last] = (words[last] as number) | END_OF_MESSAGE >>> 8 * (length & 3);
  if (last >= 14) {
    compress();
    words.fill(0, 0, 16);
  }
  words[15] = length << 3;
  compress();
}

/** Replaces the digest in `state` by its own digest. */
function digestAgain(): void {
  words.set(state);
  words[DIGEST_WORDS] = END_OF_MESSAGE;
  words.fill(0, DIGEST_WORDS + 1, 15);
  words[15] = DIGEST_WORDS * 32;
  state.set(INITIAL);
  compress();
}

function result(): Buffer {
  const hash = Buffer.allocUnsafe(DIGEST_WORDS * 4);
  for (let i = 0, at = 0; i < DIGEST_WORDS; i++) {
    const word = state[i] as number;
    hash[at++] = word >>> 24;
    hash[at++] = word >>> 16;
    hash[at++] = word >>> 8;
    hash[at++] = word;
  }
  return hash;
}

/** SHA-256 twice of a message of at most 2^28 bytes; fast for up to two blocks. */
export function shortHash256(bytes: Buffer): Buffer {
  digest(bytes);
  digestAgain();
  return result();
}

/**
 * SHA-256 of a digest that came as text, each byte a character: node:crypto makes text three
 * times as fast as buffers.
 */
export function sha256OfDigestText(digestText: string): Buffer {
  for (let i = 0, at = 0; i < DIGEST_WORDS; i++, at += 4)
    state[i] = digestText.charCodeAt(at) << 24 | digestText.charCodeAt(at + 1) << 16 | digestText.charCodeAt(at + 2) << 8 | digestText.charCodeAt(at + 3);
  digestAgain();
  return result();
}

/** The first four bytes of SHA-256 twice, as a big-endian integer: the checksum of base58check. */
export function shortChecksum(bytes: Buffer): number {
  digest(bytes);
  digestAgain();
  return (state[0] as number) >>> 0;
}
