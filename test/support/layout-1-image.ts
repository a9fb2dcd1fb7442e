// Stores that hold an index of layout 1: the image of test/vectors/migrations, alone or as a
// longer chain in which it comes again and again under other hashes and heights.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gunzipSync } from 'node:zlib';
import { knownSecret } from './known-secret';
import type { Store, StoreWrite } from '../../lib/store/store';

type ImageRecord = readonly [key: Buffer, record: Buffer];

const CHECKSUM_LENGTH = 4;
/** Not divisible by two: each repetition has its own hashes. */
const HASH_STRIDE = 0x9e3779b1;

const image = gunzipSync(readFileSync(join(__dirname, '../vectors/migrations/layout-1.txt.gz'))).toString().trim().split('\n')
  .map((line) => line.split(' ').map((hex) => Buffer.from(hex, 'hex')) as [Buffer, Buffer]);

/** Records of the image whose keys begin with a letter, without their checksums. */
function recordsOf(letter: string): ImageRecord[] {
  return image.filter(([key]) => key[0] === letter.charCodeAt(0)).map(([key, value]) => [key, value.subarray(0, -CHECKSUM_LENGTH)]);
}

const BLOCKS = recordsOf('h').length;
const [TRANSACTIONS, BYTES] = [152, 160].map((at) => recordsOf('h').at(-1)?.[1].readBigUInt64BE(at) ?? 0n) as [bigint, bigint];

/** Fills an open, empty store with the image, so many times in a row, and with the secret that a later layout is to have. */
export async function fillWithLayout1(store: Store, times = 1): Promise<void> {
  await store.batch([knownSecret, ...image.map(([key, value]): StoreWrite => ({ type: 'put', key, value }))], { durable: false });
  for (let turn = 1; turn < times; turn++)
    await store.batch(['b', 'c', 'h', 'u', 'x', 'T'].flatMap((letter) => recordsOf(letter).map((record) => moved(letter, record, turn))), { durable: false });
}

/** A record as it is in a later repetition. */
function moved(letter: string, [oldKey, oldRecord]: ImageRecord, turn: number): StoreWrite {
  const [key, record] = [Buffer.from(oldKey), Buffer.from(oldRecord)];
  if ('bcx'.includes(letter)) moveHash(key, 1, turn);
  if ('hu'.includes(letter)) moveHeight(key, 1, turn);
  if ('bxT'.includes(letter)) moveHeight(record, 0, turn);
  if (letter === 'T') moveHash(record, 4, turn);
  if (letter === 'c') moveHeight(record, 0, turn * 2);
  if (letter === 'h') {
    moveHash(record, 0, turn);
    record.writeBigUInt64BE(record.readBigUInt64BE(152) + TRANSACTIONS * BigInt(turn), 152);
    record.writeBigUInt64BE(record.readBigUInt64BE(160) + BYTES * BigInt(turn), 160);
  }
  if (letter === 'u') moveUndo(record, turn);
  const checksum = Buffer.alloc(CHECKSUM_LENGTH);
  checksum.writeUInt32BE(crc32(record, crc32(key)));
  return { type: 'put', key, value: Buffer.concat([record, checksum]) };
}

/** What an undo record of layout 1 has: migrations/0001/undo.ts. */
function moveUndo(record: Buffer, turn: number): void {
  moveHash(record, 0, turn);
  let at = 32;
  const list = (one: () => void): void => {
    const count = record.readUInt32BE(at);
    at += 4;
    for (let i = 0; i < count; i++) {
      moveHash(record, at, turn);
      at += 32;
      one();
    }
  };
  /** A record behind its length that begins with a height. */
  const inner = (heights: number): void => {
    moveHeight(record, at + 4, heights);
    at += 4 + record.readUInt32BE(at);
  };
  list(() => { at += 4; });
  list(() => { at += 4; inner(turn * 2); });
  list(() => { inner(turn); });
}

function moveHash(bytes: Buffer, at: number, turn: number): void {
  bytes.writeUInt32BE((bytes.readUInt32BE(at) ^ Math.imul(turn, HASH_STRIDE)) >>> 0, at);
}

function moveHeight(bytes: Buffer, at: number, turns: number): void {
  bytes.writeUInt32BE(bytes.readUInt32BE(at) + BLOCKS * turns, at);
}
