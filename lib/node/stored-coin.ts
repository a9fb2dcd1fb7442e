// A coin as bcoin 1.x and 2.x store it (coins/coinentry.js and coins/compress.js): the version of its transaction, height * 2 +
// coinbase flag, value, script. Scripts of the usual kinds are shortened; the first byte says how.

import { ECDH } from 'node:crypto';
import { ByteReader, MalformedBytesError, writeCompactSize } from '../bitcoin/reader';
import { OP_CHECKSIG, OP_DUP, OP_EQUAL, OP_EQUALVERIFY, OP_HASH160 } from '../bitcoin/script';
import type { SpentNodeCoin } from './types/coins';

/** First bytes of shortened scripts; a whole script begins with its length + WHOLE_SCRIPT instead. */
const PUBKEY_HASH = 0;
const SCRIPT_HASH = 1;
const UNCOMPRESSED_KEY = 4;
const WHOLE_SCRIPT = 6;

const HASH160_LENGTH = 20;
/** Bytes of a script that is shortened to its key. The first byte is the key's own, or replaces it. */
const KEY_LENGTH = 33;
const PUBKEY_HASH_SCRIPT_LENGTH = 25;
const SCRIPT_HASH_SCRIPT_LENGTH = 23;

const SHORT_LENGTH = 64;

/** A cursor over consecutive coins. All methods throw MalformedBytesError. */
export class StoredCoinReader extends ByteReader {
  /** The next coin. */
  coin(): SpentNodeCoin {
    this.#integer(); // the transaction's version
    const field = this.u32();
    const value = this.#integer();
    return { height: field >>> 1, coinbase: (field & 1) === 1, value, script: this.#script() };
  }

  /** Moves past the next coin. */
  skipCoin(): void {
    this.#integer();
    this.skip(4);
    this.#integer();
    const kind = this.buffer[this.offset] ?? this.u8();
    if (kind >= WHOLE_SCRIPT) this.skip(this.#wholeLength());
    else this.skip(kind === PUBKEY_HASH || kind === SCRIPT_HASH ? 1 + HASH160_LENGTH : KEY_LENGTH);
  }

  /**
   * Writes value (64 bits) and script (after its length) of the next coin, as in a transaction, and returns where they end. Writes at
   * most twice as many bytes as it reads.
   */
  writeOutput(to: Buffer, at: number): number {
    this.#integer();
    this.skip(4);
    at = this.#writeValue(to, at);
    const { buffer, offset } = this;
    const kind = buffer[offset] ?? this.u8();
    if (kind === PUBKEY_HASH) return writePubkeyHashScript(to, at, buffer, this.skip(21) + 1);
    if (kind === SCRIPT_HASH) return writeScriptHashScript(to, at, buffer, this.skip(21) + 1);
    if (kind >= WHOLE_SCRIPT) {
      const length = this.#wholeLength();
      return copyBytes(to, writeCompactSize(to, length, at), buffer, this.skip(length), length);
    }
    const script = this.#script();
    return copyBytes(to, writeCompactSize(to, script.length, at), script, 0, script.length);
  }

  /** Copies the next integer as 64 bits, and returns where they end. */
  #writeValue(to: Buffer, at: number): number {
    const first = this.u8();
    let length = 1;
    if (first < 0xfd) to[at] = first;
    else {
      length = first === 0xfd ? 2 : first === 0xfe ? 4 : 8;
      copyBytes(to, at, this.buffer, this.skip(length), length);
    }
    for (let i = length; i < 8; i++) to[at + i] = 0;
    return at + 8;
  }

  #script(): Buffer {
    const { buffer, offset } = this;
    const kind = buffer[offset] ?? this.u8();
    if (kind >= WHOLE_SCRIPT) return this.bytes(this.#wholeLength());
    if (kind === PUBKEY_HASH) return pubkeyHashScript(buffer, this.skip(21) + 1);
    if (kind === SCRIPT_HASH) return scriptHashScript(buffer, this.skip(21) + 1);
    const key = this.bytes(KEY_LENGTH);
    return pubkeyScript(kind < UNCOMPRESSED_KEY ? key : uncompressed(key, offset));
  }

  /** Bytes of a script that is not shortened. */
  #wholeLength(): number {
    const { offset } = this;
    const length = this.#integer() - WHOLE_SCRIPT;
    if (length < 0) throw new MalformedBytesError('the length of a script', `${length}`, offset);
    return length;
  }

  /** Like a compact size, but up to 2^53 - 1 and not necessarily in its shortest form. */
  #integer(): number {
    const first = this.u8();
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.buffer.readUInt16LE(this.skip(2));
    return first === 0xfe ? this.u32() : this.u64();
  }
}

/** Copies bytes and returns where they end. A few bytes are copied one by one: calling `copy` would take longer. */
function copyBytes(to: Buffer, at: number, from: Buffer, start: number, length: number): number {
  if (length > SHORT_LENGTH) return at + from.copy(to, at, start, start + length);
  for (let i = 0; i < length; i++) to[at + i] = from[start + i] as number; // the reader has checked the bounds
  return at + length;
}

function pubkeyHashScript(bytes: Buffer, at: number): Buffer {
  const script = Buffer.allocUnsafe(1 + PUBKEY_HASH_SCRIPT_LENGTH);
  writePubkeyHashScript(script, 0, bytes, at);
  return script.subarray(1);
}

function scriptHashScript(bytes: Buffer, at: number): Buffer {
  const script = Buffer.allocUnsafe(1 + SCRIPT_HASH_SCRIPT_LENGTH);
  writeScriptHashScript(script, 0, bytes, at);
  return script.subarray(1);
}

/** Writes a length and the script for the 20 bytes from `from` on, and returns where the script ends. */
function writePubkeyHashScript(to: Buffer, at: number, bytes: Buffer, from: number): number {
  to[at] = PUBKEY_HASH_SCRIPT_LENGTH;
  to[at + 1] = OP_DUP;
  to[at + 2] = OP_HASH160;
  to[at + 3] = HASH160_LENGTH;
  copyBytes(to, at + 4, bytes, from, HASH160_LENGTH);
  to[at + 24] = OP_EQUALVERIFY;
  to[at + 25] = OP_CHECKSIG;
  return at + 1 + PUBKEY_HASH_SCRIPT_LENGTH;
}

/** As `writePubkeyHashScript`. */
function writeScriptHashScript(to: Buffer, at: number, bytes: Buffer, from: number): number {
  to[at] = SCRIPT_HASH_SCRIPT_LENGTH;
  to[at + 1] = OP_HASH160;
  to[at + 2] = HASH160_LENGTH;
  copyBytes(to, at + 3, bytes, from, HASH160_LENGTH);
  to[at + 23] = OP_EQUAL;
  return at + 1 + SCRIPT_HASH_SCRIPT_LENGTH;
}

function pubkeyScript(key: Buffer): Buffer {
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([OP_CHECKSIG])]);
}

/** The uncompressed key (65 bytes) that is stored as a compressed one whose first byte is 4 or 5 instead of 2 or 3. `at`: where. */
function uncompressed(shortened: Buffer, at: number): Buffer {
  const key = Buffer.from(shortened);
  key[0] = (shortened[0] as number) - 2; // a key has 33 bytes
  try {
    // A Buffer, as no encoding is named.
    return ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
  } catch {
    // OpenSSL has several words for it.
    throw new MalformedBytesError('a key on the curve', shortened.toString('hex'), at);
  }
}
