// All coins of the node at one block, read from a snapshot of its database while its chain goes on, and those that a block
// spent. Keys are those of bcoin's blockchain/layout.js: `c` coins, `u` coins that a block spent, `H` hashes by height, `e`
// entries by hash. A coin (coins/coinentry.js and coins/compress.js, 1.x and 2.x alike) is the version of its transaction,
// height * 2 + coinbase flag, value, script. Scripts of the usual kinds are shortened; the first byte says how.

import { ECDH } from 'node:crypto';
import { HEADER_LENGTH } from '../bitcoin/header';
import { ByteReader, MalformedBytesError } from '../bitcoin/reader';
import { ChainMovedError } from './errors';
import { fromHost, sameHostHash, type HostChain, type HostIterator, type HostNode, type HostRange } from './host';
import type { BlockPoint, CoinSet, NodeCoin, SpentNodeCoin } from './types';

/** Coins at once: more take much memory. */
const PORTION = 10_000;
const HEADERS_AT_ONCE = 500;

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

/** The coins at a moment in which nothing is under way in the chain, which is held for that moment only. To be closed. */
export async function openCoinSet(chain: HostChain): Promise<CoinSet> {
  const unlock = await chain.locker.lock();
  try {
    if (!sameHostHash(chain.tip.hash, chain.db.state.tip)) throw new ChainMovedError('the chain is being reset');
    return new HostCoinSet(chain);
  } finally {
    unlock();
  }
}

/** The coins that a block spends: `u` by hash in 1.x, in the block store of 2.x. */
export async function readSpentCoins(hash: Buffer, { blocks, chain }: HostNode): Promise<readonly SpentNodeCoin[] | undefined> {
  const record = await (blocks === undefined ? chain.db.db.get(key('u', hash)) : blocks.readUndo(hash));
  return record === null ? undefined : readUndoCoins(record);
}

class HostCoinSet implements CoinSet {
  readonly tip: BlockPoint;
  readonly count: number;
  readonly value: number;
  readonly transactions: number;
  readonly #chain: HostChain;
  readonly #coins: HostIterator;
  readonly #heights: HostIterator;

  constructor(chain: HostChain) {
    const {
      tip,
      db: { db, state }
    } = chain;
    this.#chain = chain;
    this.tip = { hash: Buffer.from(fromHost(tip.hash)), height: tip.height };
    this.count = state.coin;
    this.value = state.value;
    this.transactions = state.tx;
    this.#coins = db.iterator({ ...bounds('c', 36), values: true });
    this.#heights = db.iterator({ ...bounds('H', 4), values: true });
    // From here on an iterator reads its snapshot, LevelDB's or that of the tree in memory.
    this.#coins.start();
    this.#heights.start();
  }

  async *coins(): AsyncGenerator<readonly NodeCoin[]> {
    for await (const records of portions(this.#coins, PORTION)) yield records.map(([coinKey, record]) => readNodeCoin(coinKey, record));
  }

  async *headers(): AsyncGenerator<readonly Buffer[]> {
    const { db } = this.#chain.db;
    for await (const records of portions(this.#heights, HEADERS_AT_ONCE)) {
      yield await Promise.all(
        records.map(async ([, hash]) => {
          // Entries are not read from the snapshot, but they never change; a reset deletes them.
          const entry = await db.get(key('e', hash));
          if (entry === null) throw new ChainMovedError('the chain was reset meanwhile');
          return entry.subarray(0, HEADER_LENGTH);
        })
      );
    }
  }

  async close(): Promise<void> {
    await this.#coins.end();
    await this.#heights.end();
  }
}

async function* portions(records: HostIterator, size: number): AsyncGenerator<(readonly [key: Buffer, value: Buffer])[]> {
  for (;;) {
    const portion: (readonly [Buffer, Buffer])[] = [];
    while (portion.length < size && (await records.next())) portion.push([records.key, records.value]);
    if (portion.length > 0) yield portion;
    if (portion.length < size) return;
  }
}

/** All keys that begin with a letter and have so many bytes after it. */
function bounds(letter: string, length: number): HostRange {
  const [first, last] = [key(letter, Buffer.alloc(length)), key(letter, Buffer.alloc(length, 0xff))];
  return { gt: key(letter), gte: first, lt: Buffer.concat([last, Buffer.alloc(1)]), lte: last };
}

function key(letter: string, ...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from(letter), ...parts]);
}

/** A coin from its key (`c`, txid 32, index 4) and its record; the txid is a view. @throws MalformedBytesError */
export function readNodeCoin(coinKey: Buffer, record: Buffer): NodeCoin {
  if (coinKey.length !== 37) throw new MalformedBytesError('a key of 37 bytes', `${coinKey.length}`, 0);
  const coin = new CoinReader(record).coin();
  return { txid: coinKey.subarray(1, 33), index: coinKey.readUInt32BE(33), ...coin };
}

/** The coins of an undo record, in the order in which the block spends them. @throws MalformedBytesError */
export function readUndoCoins(record: Buffer): SpentNodeCoin[] {
  const reader = new CoinReader(record);
  return Array.from({ length: reader.u32() }, () => reader.coin());
}

class CoinReader extends ByteReader {
  coin(): SpentNodeCoin {
    this.#integer(); // the transaction's version
    const field = this.u32();
    const value = this.#integer();
    return { height: field >>> 1, coinbase: (field & 1) === 1, value, script: this.#script() };
  }

  #script(): Buffer {
    const { buffer, offset } = this;
    const kind = buffer[offset] ?? this.u8();
    if (kind >= WHOLE_SCRIPT) return this.bytes(this.#integer() - WHOLE_SCRIPT);
    if (kind === PUBKEY_HASH) return pubkeyHashScript(buffer, this.skip(21) + 1);
    if (kind === SCRIPT_HASH) return scriptHashScript(buffer, this.skip(21) + 1);
    const key = this.bytes(33);
    return pubkeyScript(kind < UNCOMPRESSED_KEY ? key : uncompressed(key));
  }

  /** As a compact size, but up to 2^53 - 1 and in any form. */
  #integer(): number {
    const first = this.u8();
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.buffer.readUInt16LE(this.skip(2));
    return first === 0xfe ? this.u32() : this.u64();
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

/** The key of 65 bytes that is stored as 33; 4 and 5 stand for 2 and 3. */
function uncompressed(shortened: Buffer): Buffer {
  const key = Buffer.from(shortened);
  key[0] = (shortened[0] as number) - 2; // there are 33 bytes
  return ECDH.convertKey(key, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer; // a Buffer unless an encoding is named
}
