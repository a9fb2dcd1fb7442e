// Puts the parts of blocks together, as the log has them before the blocks are connected.

import { LRUCache } from 'lru-cache';
import { keyOf } from '../../bitcoin/hash';
import type { BlockPart, Connect } from '../messages/records';
import type { StoredBlock } from './stored-block';

/** Bytes of blocks that were not connected yet. */
const MOST_BYTES = 64 * 1_024 * 1_024;

interface Whole {
  /** Sequence of the first part. */
  readonly sequence: number;
  readonly bytes: Buffer;
}

/** Where the log has a block. */
type LoggedBlock = Pick<Connect, 'hash' | 'blockSequence' | 'blockBytes' | 'undoBytes'>;

export class BlockAssembly {
  readonly #whole = new LRUCache<string, Whole>({ maxSize: MOST_BYTES, sizeCalculation: ({ bytes }) => Math.max(1, bytes.length) });
  #coming: { readonly hash: Buffer; readonly sequence: number; readonly parts: Buffer[]; length: number } | undefined;

  /** Takes a part. One that does not follow the last one, because a leader died meanwhile, is dropped with those before it. */
  add({ hash, part, parts, bytes }: BlockPart, sequence: number): void {
    if (part === 0) this.#coming = { hash, sequence, parts: [], length: 0 };
    const coming = this.#coming;
    // Parts without bytes would count for nothing.
    const fits = bytes.length > 0 && coming !== undefined && coming.length + bytes.length <= MOST_BYTES;
    if (!fits || coming.parts.length !== part || !coming.hash.equals(hash)) {
      this.#coming = undefined;
      return;
    }
    coming.parts.push(bytes);
    coming.length += bytes.length;
    if (part < parts - 1) return;
    this.#whole.set(keyOf(hash), { sequence: coming.sequence, bytes: Buffer.concat(coming.parts) });
    this.#coming = undefined;
  }

  /** The block of a record, which is not kept any longer; undefined: the log has not had all its parts. */
  take({ hash, blockSequence, blockBytes, undoBytes }: LoggedBlock): StoredBlock | undefined {
    const whole = this.#whole.get(keyOf(hash));
    this.#whole.delete(keyOf(hash));
    if (whole?.sequence !== blockSequence || whole.bytes.length !== blockBytes + undoBytes) return undefined;
    const raw = whole.bytes.subarray(0, blockBytes);
    return undoBytes === 0 ? { raw } : { raw, undo: whole.bytes.subarray(blockBytes) };
  }

  clear(): void {
    this.#whole.clear();
    this.#coming = undefined;
  }
}
