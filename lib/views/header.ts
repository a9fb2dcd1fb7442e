// The JSON of an array of headers (blockheaderToJSON of Bitcoin Core), and the fields that it shares with the JSON of blocks, in the
// two groups in which Bitcoin Core 0.17 prints them. Once the next block is known, only `confirmations` of a header changes: texts of many
// headers are cached without it, and get it when they are assembled.

import { NO_HASH } from '../bitcoin/hash';
import { bitsOf, HEADER_LENGTH, merkleRootOf, nonceOf, previousHashOf, timeOf, versionOf } from '../bitcoin/header';
import { difficultyOf, targetOf } from '../bitcoin/work';
import { ARRAY_START, COMMA, OBJECT_END, doubleText, JsonWriter } from './json-writer';
import { described, named, object, type Properties, type Schema } from '../describe/schema';
import { BLOCK_HASH, COUNT, HASH, HEIGHT, INTEGER, NUMBER, TIME, WORD } from '../describe/values';
import type { Allocate } from '../bitcoin/text-writer';
import type { HeaderRun } from '../index/types';
import type { ProfileFields } from './profile';

export interface HeaderContext {
  readonly height: number;
  /** Work of the chain up to and including this block; a Buffer has 32 bytes, big endian. */
  readonly chainwork: bigint | Buffer;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
  /** Hash of the next block on the active chain: 32 bytes in wire order. */
  readonly nextHash?: Buffer | undefined;
}

/** Consecutive headers as JSON objects separated by commas, without their confirmations. */
export interface HeadersText {
  /** Height of the first one. */
  readonly height: number;
  readonly count: number;
  readonly text: Buffer;
  /** Where each header begins, and at the end where another one would begin. */
  readonly starts: Uint32Array;
}

/** Some of the headers in a text. */
export interface HeadersPart {
  readonly of: HeadersText;
  /** Height of the first one. */
  readonly height: number;
  readonly count: number;
}

const HEADER_BYTES_IN_JSON = 780;

/** From the start of a header's text to its confirmations. */
const BEFORE_CONFIRMATIONS = '{"hash":"'.length + 64 + '","confirmations":'.length;

const MAX_DIGITS = 16;

/** Difficulty and target of bits, as texts. */
export interface BitsTexts {
  /** Digits as Bitcoin Core prints them. */
  readonly difficulty: string;
  /** 64 hex digits. */
  readonly target: string;
}

/** Texts of the bits asked for last: bits rarely change between blocks, and exact decimals of a double are not cheap. */
let known: BitsTexts & { readonly bits: number } = { bits: -1, difficulty: '', target: '' };

/** `bits`: the target in compact form (lib/bitcoin/work.ts). */
export function textsOfBits(bits: number): BitsTexts {
  if (bits !== known.bits) {
    known = { bits, difficulty: doubleText(difficultyOf(bits)), target: targetOf(bits).toString(16).padStart(64, '0') };
  }
  return known;
}

/** Writes `height, version, versionHex, merkleroot`. */
export function writeHeaderStart(writer: JsonWriter, header: Buffer, { height }: HeaderContext): void {
  const version = versionOf(header);
  writer.integerField(',"height":', height);
  writer.integerField(',"version":', version);
  writer.ascii(',"versionHex":"');
  writer.hex32(version);
  writer.hashField('","merkleroot":', merkleRootOf(header));
}

/** Writes `time, mediantime, nonce, bits, target?, difficulty, chainwork, nTx, previousblockhash?, nextblockhash?`. */
export function writeHeaderEnd(
  writer: JsonWriter,
  header: Buffer,
  { medianTime, chainwork, nextHash }: HeaderContext,
  transactionCount: number,
  { target: showsTarget }: ProfileFields
): void {
  const previousHash = previousHashOf(header);
  const { target, difficulty } = textsOfBits(bitsOf(header));
  writer.integerField(',"time":', timeOf(header));
  writer.integerField(',"mediantime":', medianTime);
  writer.integerField(',"nonce":', nonceOf(header));
  writer.ascii(',"bits":"');
  writer.hex32(bitsOf(header));
  if (showsTarget) {
    writer.ascii('","target":"');
    writer.ascii(target);
  }
  writer.ascii('","difficulty":');
  writer.ascii(difficulty);
  writer.ascii(',"chainwork":');
  if (typeof chainwork === 'bigint') writer.workString(chainwork);
  else writer.hexString(chainwork);
  writer.integerField(',"nTx":', transactionCount);
  if (!previousHash.equals(NO_HASH)) writer.hashField(',"previousblockhash":', previousHash);
  if (nextHash !== undefined) writer.hashField(',"nextblockhash":', nextHash);
}

/** The headers of a run, in its order. */
export function headersText(run: HeaderRun, fields: ProfileFields): HeadersText {
  const { height, count } = run;
  const writer = new JsonWriter(count * HEADER_BYTES_IN_JSON);
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    writeHeader(writer, run, i, fields, undefined);
    writer.char(COMMA);
    starts[i + 1] = writer.length;
  }
  return { height, count, text: writer.toBuffer(), starts };
}

/** The headers of some runs as one array with confirmations up to the tip, and a line feed; for a few headers, whose text is not cached. */
export function fewHeadersJson(runs: readonly HeaderRun[], tipHeight: number, fields: ProfileFields): Buffer {
  const writer = new JsonWriter(runs.reduce((sum, { count }) => sum + count * HEADER_BYTES_IN_JSON, 3));
  writer.char(ARRAY_START);
  runs.forEach((run, place) => {
    for (let i = 0; i < run.count; i++) {
      if (place + i > 0) writer.char(COMMA);
      writeHeader(writer, run, i, fields, tipHeight - run.height - i + 1);
    }
  });
  writer.ascii(']\n');
  return writer.toBuffer();
}

/** `confirmations`: undefined to leave them out, to be inserted later. */
function writeHeader(writer: JsonWriter, run: HeaderRun, i: number, fields: ProfileFields, confirmations: number | undefined): void {
  const { headers, count, lastHash } = run;
  const hashAt = (at: number): Buffer => (at < count ? previousHashOf(headers.subarray(at * HEADER_LENGTH)) : lastHash);
  const header = headers.subarray(i * HEADER_LENGTH, (i + 1) * HEADER_LENGTH);
  const { chainwork, medianTime, transactionCount } = run.detailsAt(i);
  const context = { height: run.height + i, chainwork, medianTime, nextHash: i + 1 < count ? hashAt(i + 2) : run.nextHash };
  writer.hashField('{"hash":', hashAt(i + 1));
  writer.ascii(',"confirmations":');
  if (confirmations !== undefined) writer.integer(confirmations);
  writeHeaderStart(writer, header, context);
  writeHeaderEnd(writer, header, context, transactionCount, fields);
  writer.char(OBJECT_END);
}

/** The parts as one array with confirmations up to the tip, and a line feed; yields after each part. */
export function* headersJson(parts: readonly HeadersPart[], tipHeight: number, allocate?: Allocate): Generator<void, Buffer> {
  let capacity = 3;
  for (const { of, height, count } of parts) {
    const first = height - of.height;
    capacity += (of.starts[first + count] as number) - (of.starts[first] as number) + count * MAX_DIGITS; // a start for each, and one more
  }
  const writer = new JsonWriter(capacity, allocate);
  writer.char(ARRAY_START);
  for (const part of parts) {
    writePart(writer, part, tipHeight);
    yield;
  }
  // Removes the comma after the last header.
  if (parts.length > 0) writer.unwrite(1);
  writer.ascii(']\n');
  return writer.toBuffer();
}

/** Copies the text, and inserts the confirmations. */
function writePart(writer: JsonWriter, { of: { text, starts, height: textHeight }, height, count }: HeadersPart, tipHeight: number): void {
  const first = height - textHeight;
  let from = starts[first] as number; // a start for each, and one more
  for (let i = 0; i < count; i++) {
    const to = (starts[first + i] as number) + BEFORE_CONFIRMATIONS;
    writer.bytes(text, from, to);
    writer.integer(tipHeight - height - i + 1);
    from = to;
  }
  writer.bytes(text, from, starts[first + count] as number);
}

const WORK_OR_TARGET = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

export const TARGET = { ...WORK_OR_TARGET, description: 'The number that the hash may not exceed, in hex.' };

export const DIFFICULTY = described('The difficulty; 1 is the easiest on the main network.', NUMBER);

export const CHAINWORK = { ...WORK_OR_TARGET, description: 'The expected number of hashes in the chain up to this block, in hex.' };

export const BITS = described('The target in compact form, in hex.', WORD);

/** What every JSON about a header has: the fields that are always there, and those that may be lacking. */
export function headerProperties({ target }: ProfileFields): readonly [required: Properties, optional: Properties] {
  return [
    {
      hash: BLOCK_HASH,
      confirmations: described('1 for the tip; -1 for a block off the active chain.', INTEGER),
      height: HEIGHT,
      version: INTEGER,
      versionHex: WORD,
      merkleroot: HASH,
      time: TIME,
      mediantime: described('Median time past, Unix time in seconds.', TIME),
      nonce: COUNT,
      bits: BITS,
      ...(target && { target: TARGET }),
      difficulty: DIFFICULTY,
      chainwork: CHAINWORK,
      nTx: described('The number of transactions.', COUNT)
    },
    {
      previousblockhash: described('Lacking in the genesis block.', BLOCK_HASH),
      nextblockhash: described('The next block of the active chain; lacking at the tip and off the chain.', BLOCK_HASH)
    }
  ];
}

/** A header on its own. */
export const headerSchema = (fields: ProfileFields): Schema => named('Header', object(...headerProperties(fields)));
