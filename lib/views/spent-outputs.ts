// The JSON of the outputs that a block spends (rest_spent_txouts of Bitcoin Core since 30), written straight from the bytes that
// `NodeSource.spentOutputs` gives.

import { ByteReader } from '../bitcoin/reader';
import { ARRAY_END, OBJECT_END, JsonWriter } from './json-writer';
import { scriptPubKeySchema, writeScriptPubKey, type JsonStyle } from './script';
import { described, listOf, named, object, type Schema } from '../describe/schema';
import { COINS } from '../describe/values';
import type { Allocate } from '../bitcoin/text-writer';
import type { ProfileFields } from './profile';

/** An estimate: more than most outputs take. */
const JSON_BYTES_PER_BYTE = 12;

/** An array of `{value, scriptPubKey}` for each transaction, and a line feed. Yields after each output. @throws MalformedBytesError */
export function* spentOutputsJson(bytes: Buffer, style: JsonStyle, allocate?: Allocate): Generator<void, Buffer> {
  const writer = new JsonWriter(bytes.length * JSON_BYTES_PER_BYTE + 64, allocate);
  const reader = new ByteReader(bytes);
  let separator = '[';
  for (let transactions = reader.compactSize(); transactions > 0; transactions--) {
    writer.ascii(`${separator}[`);
    separator = ',';
    const count = reader.compactSize();
    for (let left = count; left > 0; left--) {
      writer.ascii(left === count ? '{"value":' : ',{"value":');
      writer.amount(reader.u64());
      const length = reader.compactSize();
      const start = reader.skip(length);
      writer.ascii(',"scriptPubKey":');
      writeScriptPubKey(writer, bytes, start, start + length, style);
      writer.char(OBJECT_END);
      yield;
    }
    writer.char(ARRAY_END);
  }
  writer.ascii(']\n');
  return writer.toBuffer();
}

/** What `spentOutputsJson` writes. */
export function spentOutputsSchema(fields: ProfileFields): Schema {
  const output = named('SpentOutput', object({ value: COINS, scriptPubKey: scriptPubKeySchema(fields) }));
  return described('A list for each transaction of the block, in its order; that of the coinbase is empty.', listOf(listOf(output)));
}
