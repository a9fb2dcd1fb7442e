// The addresses that the outputs of a block pay to, as Esplora's interface shows them: an output to a bare key has none.

import { writeAddress, type AddressPrefixes } from '../bitcoin/address';
import { HEADER_LENGTH } from '../bitcoin/header';
import { ByteReader } from '../bitcoin/reader';
import { scriptTypeOf } from '../bitcoin/script-type';
import { TextWriter } from '../bitcoin/text-writer';
import { readTransaction, VALUE_LENGTH } from '../bitcoin/transaction';
import { Slice } from '../turns/slices';

/** Adds the addresses of a serialized block to a set. Yields about once a millisecond. @throws MalformedBytesError */
export function* addPaidAddresses(raw: Buffer, prefixes: AddressPrefixes, found: Set<string>): Generator<void, void> {
  const block = new ByteReader(raw, HEADER_LENGTH);
  const slice = new Slice();
  for (let left = block.compactSize(); left > 0; left--) {
    const reader = new ByteReader(raw, readTransaction(block).outputsOffset);
    for (let outputs = reader.compactSize(); outputs > 0; outputs--) {
      reader.skip(VALUE_LENGTH);
      const length = reader.compactSize();
      const start = reader.skip(length);
      const end = start + length;
      const type = scriptTypeOf(raw, start, end);
      const writer = new TextWriter();
      if (type !== 'pubkey' && writeAddress(writer, raw, start, end, type, prefixes)) found.add(writer.toString());
      if (slice.isOverAfterStep()) yield;
    }
  }
}
