// The JSON of an array of headers (blockheaderToJSON of Bitcoin Core 0.17).

import { writeHeaderEnd, writeHeaderStart, type HeaderContext } from './header-fields';
import { JsonWriter } from './json-writer';

export interface HeaderView extends HeaderContext {
  /** 32 bytes in wire order. */
  readonly hash: Buffer;
  /** The 80 bytes. */
  readonly header: Buffer;
  readonly transactionCount: number;
}

const HEADER_BYTES_IN_JSON = 700;

/** The headers in the order given, and a line feed; yields after each. */
export function* headersJson(headers: readonly HeaderView[]): Generator<void, Buffer> {
  const writer = new JsonWriter(headers.length * HEADER_BYTES_IN_JSON + 3);
  writer.char(0x5b);
  for (const [i, view] of headers.entries()) {
    writer.ascii(i === 0 ? '{"hash":' : ',{"hash":');
    writer.hashString(view.hash);
    writer.ascii(',"confirmations":');
    writer.integer(view.confirmations);
    writeHeaderStart(writer, view.header, view);
    writeHeaderEnd(writer, view.header, view, view.transactionCount);
    writer.char(0x7d);
    yield;
  }
  writer.ascii(']\n');
  return writer.toBuffer();
}
