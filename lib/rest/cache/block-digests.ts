// The hashes of blocks' transactions, kept apart from the texts that show them: sixty times
// shorter than those.

import { txidsOf, wtxidsOf, type Digests } from '../../views/digests';
import { memoryOf, type AnswerCache, type Kept, type Shelf } from './answers';
import type { ScannedBlock } from '../../bitcoin/block';

interface KeptHashes extends Kept {
  readonly hashes: Buffer;
}

export class BlockDigests {
  private readonly txids: Shelf<KeptHashes>;
  private readonly wtxids: Shelf<KeptHashes>;

  constructor(cache: AnswerCache) {
    this.txids = cache.shelf('txids');
    this.wtxids = cache.shelf('wtxids');
  }

  /** `key`: of the block. Yields while it makes them. */
  * txidsOf(key: string, block: ScannedBlock): Generator<void, Pick<Digests, 'txids'>> {
    return { txids: this.txids.get(key)?.hashes ?? keep(this.txids, key, yield* txidsOf(block)) };
  }

  /** As txidsOf. */
  * of(key: string, block: ScannedBlock): Generator<void, Digests> {
    const { txids } = yield* this.txidsOf(key, block);
    return { txids, wtxids: this.wtxids.get(key)?.hashes ?? keep(this.wtxids, key, yield* wtxidsOf(block, txids)) };
  }
}

function keep(shelf: Shelf<KeptHashes>, key: string, hashes: Buffer): Buffer {
  shelf.set(key, { hashes, byteLength: memoryOf(hashes) });
  return hashes;
}
