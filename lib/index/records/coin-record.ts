// Coins as bytes, packed as Bitcoin Core packs its own (compressor.h): up to 32 outputs of a
// transaction, a group, share a record.
//
//   'o' height 4, index in the block 2, group 2    the unspent outputs of the group, in the order of their indexes;
//                                                  the group is the output's index / 32, left out when it is 0
//
// Each coin is
//
//   kind of script * 32 + index % 32    1
//   amount                              1 to 9 (numbers.ts)
//   script                              its key or hash, if it is of a common kind (0 to 6);
//                                       otherwise (7) its length and the whole script
//
// Height and coinbase flag follow from the key.

import { keyOfHeight, recordOf, type Records } from './layout';
import { numberEnd, RecordReader, writeAmount, writeInteger } from './numbers';
import { POSITION_LENGTH, writePosition } from './position';
import { DamagedIndexError } from '../../follow/errors';
import type { StoreRange } from '../../store/store';
import type { Position } from '../types';
import type { Coin, IsWanted, TransactionCoin } from '../types';

/** Outputs that share a record. */
export const GROUP_SIZE = 32;
/** A group's number has 16 bits. No transaction that fits into a block has more groups. */
export const MOST_GROUPS = 0x1_0000;
/** Bytes that a coin takes at most beside its script. */
export const COIN_OVERHEAD = 12;

const LETTER = 'o'.charCodeAt(0);

/** Bytes of the key of a transaction's first group. */
const FIRST_KEY_LENGTH = 1 + POSITION_LENGTH;
/** Bytes of a coin key at most. */
export const COIN_KEY_LENGTH = FIRST_KEY_LENGTH + 2;

/** Writes a coin key to the start of `bytes`, and returns its length. */
export function writeCoinKey(bytes: Buffer, height: number, index: number, group: number): number {
  bytes[0] = LETTER;
  const end = writePosition(bytes, 1, height, index);
  return group === 0 ? end : bytes.writeUInt16BE(group, end);
}

/** The key of a group of outputs of the transaction at a position. */
export function coinKey({ height, index }: Position, group: number): Buffer {
  const key = Buffer.allocUnsafe(group === 0 ? FIRST_KEY_LENGTH : COIN_KEY_LENGTH);
  writeCoinKey(key, height, index, group);
  return key;
}

const startOfBlock = keyOfHeight('o');

/** The coins that the block at `height` made, as far as they are unspent. */
export function coinsOfBlock(height: number): StoreRange {
  return { gte: startOfBlock(height), lt: startOfBlock(height + 1) };
}

/** The coins of all blocks. */
export const ALL_COINS: StoreRange = { gte: Buffer.from('o'), lt: Buffer.from('p') };

/** The position of the transaction whose coins are under a key. */
export function coinPosition(key: Buffer): Position {
  return { height: key.readUInt32BE(1), index: key.readUInt16BE(5) };
}

/** The coin of an output of the transaction at a position; undefined: it was spent, or never existed. @throws DamagedIndexError */
export function coinAt(records: Records, position: Position, output: number): Coin | undefined {
  const group = Math.floor(output / GROUP_SIZE);
  if (group >= MOST_GROUPS) return undefined;
  const key = coinKey(position, group);
  const value = records.get(key);
  if (value === undefined) return undefined;
  const record = recordOf(key, value);
  for (let at = 0; at < record.length; at = coinEnd(record, at)) {
    if (slotAt(record, at) !== output % GROUP_SIZE) continue;
    const reader = new RecordReader(record);
    reader.skip(at);
    const { value: satoshis, script } = readOutput(reader);
    return { height: position.height, coinbase: position.index === 0, value: satoshis, script };
  }
  return undefined;
}

/** The coins of the transaction at a position, group by group. */
export function coinsOfTransaction({ height, index }: Position): StoreRange {
  const isLast = index === 0xffff;
  return { gte: coinKey({ height, index }, 0), lt: coinKey(isLast ? { height: height + 1, index: 0 } : { height, index: index + 1 }, 0) };
}

/** The coins in one record of the transaction at a position. @throws DamagedIndexError */
export function transactionCoins(key: Buffer, value: Buffer, { height, index }: Position): TransactionCoin[] {
  const first = key.length === COIN_KEY_LENGTH ? key.readUInt16BE(COIN_KEY_LENGTH - 2) * GROUP_SIZE : 0;
  return coinsIn(recordOf(key, value)).map(({ slot, value: satoshis, script }) => ({
    index: first + slot,
    height,
    coinbase: index === 0,
    value: satoshis,
    script
  }));
}

/** The first 32 outputs' coins of the transaction at a position that have a wanted script. @throws DamagedIndexError */
export function wantedCoins(key: Buffer, value: Buffer, { height, index }: Position, isWanted: IsWanted): TransactionCoin[] {
  const record = recordOf(key, value);
  const coins: TransactionCoin[] = [];
  const script = new CoinScript();
  for (let at = 0; at < record.length;) {
    const end = script.read(record, at);
    if (isWanted(script.bytes, script.start, script.end)) {
      const reader = new RecordReader(record);
      reader.skip(at);
      const { value: satoshis, script: whole } = readOutput(reader);
      coins.push({ index: slotAt(record, at), height, coinbase: index === 0, value: satoshis, script: whole });
    }
    at = end;
  }
  return coins;
}

interface ScriptKind {
  readonly prefix: Buffer;
  readonly payload: number;
  readonly suffix: Buffer;
}

const kind = (prefix: string, payload: number, suffix = ''): ScriptKind => ({
  prefix: Buffer.from(prefix, 'hex'),
  payload,
  suffix: Buffer.from(suffix, 'hex')
});

/** P2PKH, P2SH, P2WPKH, P2WSH, P2TR, P2PK with a compressed key, even and odd. */
const KINDS = [
  kind('76a914', 20, '88ac'),
  kind('a914', 20, '87'),
  kind('0014', 20),
  kind('0020', 32),
  kind('5120', 32),
  kind('2102', 32, 'ac'),
  kind('2103', 32, 'ac')
] as const;
const WHOLE_SCRIPT = KINDS.length;
/** The longest script of these kinds, in bytes. */
const LONGEST_MADE_SCRIPT = 35;

/** A script's kind by the bytes that all scripts of the kind share. */
function kindOf(bytes: Uint8Array, at: number, length: number): number {
  switch (length) {
    case 22:
      return bytes[at] === 0x00 && bytes[at + 1] === 20 ? 2 : WHOLE_SCRIPT;
    case 23:
      return bytes[at] === 0xa9 && bytes[at + 1] === 20 && bytes[at + 22] === 0x87 ? 1 : WHOLE_SCRIPT;
    case 25:
      return bytes[at] === 0x76 && bytes[at + 1] === 0xa9 && bytes[at + 2] === 20 && bytes[at + 23] === 0x88 && bytes[at + 24] === 0xac
        ? 0
        : WHOLE_SCRIPT;
    case 34:
      return bytes[at + 1] !== 32 ? WHOLE_SCRIPT : bytes[at] === 0x00 ? 3 : bytes[at] === 0x51 ? 4 : WHOLE_SCRIPT;
    case 35:
      return bytes[at] !== 33 || bytes[at + 34] !== 0xac ? WHOLE_SCRIPT : bytes[at + 1] === 2 ? 5 : bytes[at + 1] === 3 ? 6 : WHOLE_SCRIPT;
    default:
      return WHOLE_SCRIPT;
  }
}

/** Writes a coin whose script is in `source`, and returns where the coin ends. `slot`: index % 32. */
export function writeCoin(
  bytes: Buffer,
  at: number,
  slot: number,
  value: number,
  source: Buffer,
  scriptAt: number,
  scriptLength: number
): number {
  const scriptKind = kindOf(source, scriptAt, scriptLength);
  const common = KINDS[scriptKind];
  bytes[at] = (scriptKind << 5) | slot;
  let end = writeAmount(bytes, at + 1, value);
  if (common === undefined) {
    end = writeInteger(bytes, end, scriptLength);
    return end + source.copy(bytes, end, scriptAt, scriptAt + scriptLength);
  }
  const from = scriptAt + common.prefix.length;
  for (let i = 0; i < common.payload; i++) bytes[end + i] = source[from + i] as number; // the script is as long as its kind
  return end + common.payload;
}

/** Which output of its group the coin that begins at `at` is: index % 32. */
export function slotAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) & 31; // a coin begins there
}

/** Where the coin that begins at `at` ends. The bytes must be sound. @throws DamagedIndexError where they end within a length. */
export function coinEnd(bytes: Uint8Array, at: number): number {
  const common = KINDS[(bytes[at] as number) >> 5];
  let end = numberEnd(bytes, at + 1);
  if (common !== undefined) return end + common.payload;
  let [length, unit] = [0, 1];
  for (; ; unit *= 0x80) {
    const byte = bytes[end++] as number;
    length += (byte & 0x7f) * unit;
    if (byte < 0x80) return end + length;
    if (end >= bytes.length) throw new DamagedIndexError('a coin is damaged: its bytes end within a length');
  }
}

/**
 * A cursor over the scripts of coins. It shows a script in place if the coin holds all of it, and otherwise builds it in a buffer
 * that the next script overwrites.
 */
export class CoinScript {
  readonly #made = Buffer.alloc(LONGEST_MADE_SCRIPT);
  bytes: Uint8Array = this.#made;
  start = 0;
  end = 0;

  /** Goes to the script of the coin that begins at `at`, and returns where the coin ends. The bytes must be sound. */
  read(bytes: Uint8Array, at: number): number {
    const coinEnds = coinEnd(bytes, at);
    const common = KINDS[(bytes[at] as number) >> 5];
    if (common === undefined) {
      const start = numberEnd(bytes, numberEnd(bytes, at + 1)); // amount, length
      [this.bytes, this.start, this.end] = [bytes, start, coinEnds];
    } else {
      const { prefix, payload, suffix } = common;
      let end = prefix.copy(this.#made);
      for (let from = coinEnds - payload; from < coinEnds; from++) this.#made[end++] = bytes[from] as number; // within the coin
      end += suffix.copy(this.#made, end);
      [this.bytes, this.start, this.end] = [this.#made, 0, end];
    }
    return coinEnds;
  }
}

interface Output {
  readonly value: number;
  readonly script: Buffer;
}

/** A coin as it is in a record. */
export interface PackedCoin extends Output {
  /** index % 32. */
  readonly slot: number;
  /** All of its bytes, a view. */
  readonly bytes: Buffer;
}

/** Reads the coin at the cursor. @throws DamagedIndexError where the bytes end too early. */
export function readCoin(reader: RecordReader): PackedCoin {
  const { offset, bytes } = reader;
  const { value, script } = readOutput(reader);
  return { slot: slotAt(bytes, offset), value, script, bytes: bytes.subarray(offset, reader.offset) };
}

/** Reads value and script of the coin at the cursor; a script of no common kind is a view. @throws DamagedIndexError */
export function readOutput(reader: RecordReader): Output {
  const common = KINDS[reader.byte() >> 5];
  const value = reader.amount();
  return { value, script: common === undefined ? reader.take(reader.integer()) : scriptOf(common, reader) };
}

/** Copies byte by byte: the parts are so short that calls to `copy` would take longer. */
function scriptOf({ prefix, payload, suffix }: ScriptKind, reader: RecordReader): Buffer {
  const from = reader.skip(payload);
  const script = Buffer.allocUnsafe(prefix.length + payload + suffix.length);
  let end = 0;
  for (let i = 0; i < prefix.length; i++) script[end++] = prefix[i] as number; // i < length
  for (let i = 0; i < payload; i++) script[end++] = reader.bytes[from + i] as number; // within the record
  for (let i = 0; i < suffix.length; i++) script[end++] = suffix[i] as number; // i < length
  return script;
}

/** All coins of a record. @throws DamagedIndexError */
export function coinsIn(record: Buffer): PackedCoin[] {
  const reader = new RecordReader(record);
  const coins: PackedCoin[] = [];
  while (!reader.atEnd) coins.push(readCoin(reader));
  return coins;
}

/** The record with coins put back in the order of their slots. @throws DamagedIndexError */
export function withCoins(record: Buffer | undefined, restored: readonly Buffer[]): Buffer {
  const present = record === undefined ? [] : coinsIn(record).map(({ bytes }) => bytes);
  return Buffer.concat([...present, ...restored].sort((a, b) => slotAt(a, 0) - slotAt(b, 0)));
}
