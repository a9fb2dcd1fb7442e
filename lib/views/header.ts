// The JSON of an array of headers (blockheaderToJSON of Bitcoin Core 0.17). All of a header
// but `confirmations` stays as it is once the next block is known: texts are written without,
// can be kept, and get their confirmations when they are put together.

import { HEADER_LENGTH, previousHashOf } from '../bitcoin/header';
import { writeHeaderEnd, writeHeaderStart, writeNextHash } from './header-fields';
import { JsonWriter } from './json-writer';

/** Consecutive headers of the active chain, as columns. */
export interface HeaderColumns {
  /** Of the first one. */
  readonly height: number;
  readonly count: number;
  /** 80 bytes each. */
  readonly headers: Buffer;
  /** 40 bytes each, big endian: chainwork 32, median time past 4, transactions 4. */
  readonly details: Buffer;
  /** Hash of the last one. */
  readonly lastHash: Buffer;
  /** Hash of the block after the last one; undefined at the tip. */
  readonly nextHash: Buffer | undefined;
}

export interface HeaderDetails {
  /** 32 bytes, big endian, a view. */
  readonly chainwork: Buffer;
  readonly medianTime: number;
  readonly transactionCount: number;
}

/** Consecutive headers as JSON objects with commas between them, without their confirmations. */
export interface HeadersText {
  /** Of the first one. */
  readonly height: number;
  readonly count: number;
  readonly text: Buffer;
  /** Where each header begins; last, where the one after it would. */
  readonly starts: Uint32Array;
}

/** Some of the headers in a text. */
export interface HeadersPart {
  readonly of: HeadersText;
  /** Height of the first one. */
  readonly height: number;
  readonly count: number;
}

const DETAILS_LENGTH = 40;
const WORK_LENGTH = 32;

const HEADER_BYTES_IN_JSON = 700;

/** From the start of a header's text to its confirmations. */
const BEFORE_CONFIRMATIONS = '{"hash":"'.length + 64 + '","confirmations":'.length;

const MAX_DIGITS = 16;

/** What stands beside a header in the columns. */
export function detailsAt({ details }: Pick<HeaderColumns, 'details'>, i: number): HeaderDetails {
  const at = i * DETAILS_LENGTH;
  return {
    chainwork: details.subarray(at, at + WORK_LENGTH),
    medianTime: details.readUInt32BE(at + WORK_LENGTH),
    transactionCount: details.readUInt32BE(at + WORK_LENGTH + 4)
  };
}

/** The headers in the order given. */
export function headersText(columns: HeaderColumns): HeadersText {
  const { height, count } = columns;
  const writer = new JsonWriter(count * HEADER_BYTES_IN_JSON);
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    writeHeader(writer, columns, i);
    writer.char(0x2c);
    starts[i + 1] = writer.length;
  }
  return { height, count, text: writer.toBuffer(), starts };
}

function writeHeader(writer: JsonWriter, columns: HeaderColumns, i: number): void {
  const { headers, count, lastHash } = columns;
  const hashAt = (at: number): Buffer => at < count ? previousHashOf(headers.subarray(at * HEADER_LENGTH)) : lastHash;
  const header = headers.subarray(i * HEADER_LENGTH, (i + 1) * HEADER_LENGTH);
  const fields = detailsAt(columns, i);
  const context = { ...fields, height: columns.height + i };
  writer.ascii('{"hash":');
  writer.hashString(hashAt(i + 1));
  writer.ascii(',"confirmations":');
  writeHeaderStart(writer, header, context);
  writeHeaderEnd(writer, header, context, fields.transactionCount);
  writeNextHash(writer, i + 1 < count ? hashAt(i + 2) : columns.nextHash);
  writer.char(0x7d);
}

/** The parts as one array, confirmed up to the tip, and a line feed; yields after each part. */
export function* headersJson(parts: readonly HeadersPart[], tipHeight: number): Generator<void, Buffer> {
  let capacity = 3;
  for (const { of, height, count } of parts) {
    const first = height - of.height;
    capacity += (of.starts[first + count] as number) - (of.starts[first] as number) + count * MAX_DIGITS; // a start for each, and one more
  }
  const writer = new JsonWriter(capacity);
  writer.char(0x5b);
  for (const part of parts) {
    writePart(writer, part, tipHeight);
    yield;
  }
  // The comma after the last one.
  if (parts.length > 0) writer.unwrite(1);
  writer.ascii(']\n');
  return writer.toBuffer();
}

/** From one header's confirmations to the next one's is one piece of text. */
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
