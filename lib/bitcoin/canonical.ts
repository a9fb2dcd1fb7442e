// The one serialization that Bitcoin Core has of a block. bcoin also takes blocks in which transactions without a
// witness carry marker, flag and empty stacks (BIP144), under the same block hash and txids, and keeps such bytes as
// they came. Nothing else of a block can be written in two ways: the hashes cover the rest, and bcoin, too, takes
// compact sizes in their shortest form only, and no flag but 1.

import { HEADER_LENGTH } from './header';
import { ByteReader, MalformedBytesError } from './reader';
import { MARKER_AND_FLAG, readInputCount, skipInputs, skipMarkerAndFlag, skipOutputs, skipWitness } from './transaction-parts';

const VERSION_LENGTH = 4;
const LOCKTIME_LENGTH = 4;

/**
 * A serialized block without superfluous witnesses, as Bitcoin Core would write it; `stored` itself when it has none.
 * @throws MalformedBytesError for bytes that are not one block and nothing else.
 */
export function canonicalBlock(stored: Buffer): Buffer {
  const reader = new ByteReader(stored);
  reader.skip(HEADER_LENGTH);
  const kept: Buffer[] = [];
  let keptTo = 0;
  for (let left = reader.compactSize(); left > 0; left--) {
    reader.skip(VERSION_LENGTH);
    const markerOffset = reader.offset;
    const hasWitness = skipMarkerAndFlag(reader);
    const inputCount = readInputCount(reader);
    skipInputs(reader, inputCount);
    skipOutputs(reader);
    const witnessOffset = reader.offset;
    if (hasWitness && skipWitness(reader, inputCount) === 0) {
      kept.push(stored.subarray(keptTo, markerOffset), stored.subarray(markerOffset + MARKER_AND_FLAG, witnessOffset));
      keptTo = reader.offset;
    }
    reader.skip(LOCKTIME_LENGTH);
  }
  if (reader.remaining > 0)
    throw new MalformedBytesError('the end of the block', `${reader.remaining} more bytes`, reader.offset);
  return keptTo === 0 ? stored : Buffer.concat([...kept, stored.subarray(keptTo)]);
}
