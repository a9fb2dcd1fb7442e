// What a reader checks of headers and blocks, whatever their source: hash, link, proof of work, Merkle root. Whether transactions are valid
// is checked by nodes.

import { txidsIn } from '../../bitcoin/block';
import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { bitsOf, HEADER_LENGTH, merkleRootOf, previousHashOf } from '../../bitcoin/header';
import { merkleTree } from '../../bitcoin/merkle-tree';
import { MalformedBytesError } from '../../bitcoin/reader';
import { targetOf } from '../../bitcoin/work';
import { messageOf } from '../../system/error-text';
import { runAhead } from '../../turns/slices';
import { UntrueRecordError } from './errors';
import type { ReaderNetwork } from './networks';

/** The hash of a header (80 bytes) that follows the block `previous` and has proof of work. @throws UntrueRecordError */
export function checkedHash(header: Buffer, previous: Buffer, { powLimit }: Pick<ReaderNetwork, 'powLimit'>): Buffer {
  if (header.length !== HEADER_LENGTH) throw new UntrueRecordError(`expected a header of ${HEADER_LENGTH} bytes, got ${header.length}`);
  const hash = hash256(header);
  const name = toDisplayHex(hash);
  if (!previousHashOf(header).equals(previous))
    throw new UntrueRecordError(
      `expected block ${name} to follow ${toDisplayHex(previous)}, it follows ${toDisplayHex(previousHashOf(header))}`
    );
  const target = targetOf(bitsOf(header));
  if (powLimit !== undefined && target > powLimit)
    throw new UntrueRecordError(`the target of block ${name} is easier than the network allows`);
  if (BigInt(`0x${name}`) > target) throw new UntrueRecordError(`block ${name} has no proof of work`);
  return hash;
}

/**
 * The txids of a serialized block, concatenated, once it is sure that the bytes are the block of this hash and nothing else. Witnesses are
 * not covered by the Merkle root; nodes have checked those.
 * @throws UntrueRecordError
 */
export async function checkedTxids(raw: Buffer, hash: Buffer): Promise<Buffer> {
  const name = toDisplayHex(hash);
  try {
    if (raw.length < HEADER_LENGTH || !hash256(raw.subarray(0, HEADER_LENGTH)).equals(hash))
      throw new UntrueRecordError(`expected the bytes of block ${name}, got those of another`);
    const txids = await runAhead(txidsIn(raw));
    const tree = txids.length === 0 ? undefined : await runAhead(merkleTree(txids));
    if (tree?.root.equals(merkleRootOf(raw)) !== true)
      throw new UntrueRecordError(`the transactions of block ${name} do not fit its Merkle root`);
    if (tree.hasTwins) throw new UntrueRecordError(`block ${name} has a transaction twice`);
    return txids;
  } catch (error) {
    if (!(error instanceof MalformedBytesError)) throw error;
    throw new UntrueRecordError(`the bytes of block ${name} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
