import { HEADER_LENGTH } from '../../bitcoin/header';
import { ByteReader } from '../../bitcoin/reader';
import { readTransaction } from '../../bitcoin/transaction';

/** The outputs that a serialized block spends. @throws MalformedBytesError */
export function* spentOutpoints(raw: Buffer): Generator<{ readonly txid: Buffer; readonly index: number }, void> {
  const reader = new ByteReader(raw, HEADER_LENGTH);
  for (let left = reader.compactSize(); left > 0; left--) {
    const transaction = readTransaction(reader);
    if (!transaction.isCoinbase) yield* transaction.inputs;
  }
}
