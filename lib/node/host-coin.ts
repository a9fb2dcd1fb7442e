// Coins as bcoin keeps them in its database, 1.x and 2.x alike (coins/coinentry.js and
// coins/compress.js): version of the transaction, height * 2 + coinbase flag, value, script.
// Scripts of the usual kinds are shortened; the first byte says how.

import { ECDH } from 'node:crypto';
import { MalformedBytesError } from '../bitcoin/reader';
import type { NodeCoin, SpentNodeCoin } from './types';

/** First bytes of a shortened script; a whole one has its length + WHOLE_SCRIPT instead. */
const PUBKEY_HASH = 0;
const SCRIPT_HASH = 1;
const UNCOMPRESSED_KEY = 4;
const WHOLE_SCRIPT = 6;

const OP_DUP_HASH160_PUSH = Buffer.from('76a914', 'hex');
const OP_EQUALVERIFY_CHECKSIG = 0x88ac;
const OP_HASH160_PUSH = 0xa914;
const OP_EQUAL = 0x87;
const OP_CHECKSIG = 0xac;

/** A coin from its key (`c`, txid 32, index 4) and its record; the txid is a view. @throws MalformedBytesError */
export function readNodeCoin(key: Buffer, record: Buffer): NodeCoin {
  if (key.length !== 37) throw new MalformedBytesError('a key of 37 bytes', `${key.length}`, 0);
  const cursor = new CoinCursor(record);
  const coin = cursor.coin();
  return { txid: key.subarray(1, 33), index: key.readUInt32BE(33), ...coin };
}

/** The coins of an undo record, in the order in which the block spends them. @throws MalformedBytesError */
export function readUndoCoins(record: Buffer): SpentNodeCoin[] {
  const cursor = new CoinCursor(record, 4);
  return Array.from({ length: record.readUInt32LE() }, () => cursor.coin());
}

class CoinCursor {
  constructor(private readonly bytes: Buffer, private at = 0) {}

  coin(): SpentNodeCoin {
    this.integer(); // the transaction's version
    const field = this.bytes.readUInt32LE(this.skip(4));
    const value = this.integer();
    return { height: field >>> 1, coinbase: (field & 1) === 1, value, script: this.script() };
  }

  private script(): Buffer {
    const { bytes, at } = this;
    const kind = bytes[at] ?? this.end(1);
    if (kind >= WHOLE_SCRIPT) {
      const length = this.integer() - WHOLE_SCRIPT;
      const start = this.skip(length);
      return bytes.subarray(start, start + length);
    }
    if (kind === PUBKEY_HASH) return pubkeyHashScript(bytes, this.skip(21) + 1);
    if (kind === SCRIPT_HASH) return scriptHashScript(bytes, this.skip(21) + 1);
    this.skip(33);
    return pubkeyScript(kind < UNCOMPRESSED_KEY ? bytes.subarray(at, at + 33) : uncompressed(bytes.subarray(at, at + 33)));
  }

  /** As a compact size, but up to 2^53 - 1. */
  private integer(): number {
    const { bytes } = this;
    const first = bytes[this.at++] ?? this.end(1);
    if (first < 0xfd) return first;
    if (first === 0xfd) return bytes.readUInt16LE(this.skip(2));
    if (first === 0xfe) return bytes.readUInt32LE(this.skip(4));
    const start = this.skip(8);
    return bytes.readUInt32LE(start + 4) * 0x1_0000_0000 + bytes.readUInt32LE(start);
  }

  /** Moves past `count` bytes and returns where they began. */
  private skip(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) this.end(count);
    this.at += count;
    return start;
  }

  private end(count: number): never {
    throw new MalformedBytesError(`${count} more bytes of a coin`, `${Math.max(0, this.bytes.length - this.at)}`, this.at);
  }
}

function pubkeyHashScript(bytes: Buffer, at: number): Buffer {
  const script = Buffer.allocUnsafe(25);
  OP_DUP_HASH160_PUSH.copy(script);
  bytes.copy(script, 3, at, at + 20);
  script.writeUInt16BE(OP_EQUALVERIFY_CHECKSIG, 23);
  return script;
}

function scriptHashScript(bytes: Buffer, at: number): Buffer {
  const script = Buffer.allocUnsafe(23);
  script.writeUInt16BE(OP_HASH160_PUSH);
  bytes.copy(script, 2, at, at + 20);
  script[22] = OP_EQUAL;
  return script;
}

function pubkeyScript(key: Buffer): Buffer {
  return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([OP_CHECKSIG])]);
}

/** The key of 65 bytes of which 33 are kept; 4 and 5 stand for 2 and 3. */
function uncompressed(kept: Buffer): Buffer {
  const key = Buffer.from(kept);
  key[0] = (kept[0] as number) - 2; // there are 33 bytes
  return ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer; // a Buffer unless an encoding is named
}
