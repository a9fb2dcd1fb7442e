// A buffer in which writes are made, one at a time: key, record and checksum side by side. A
// write is valid until the next one; a store has copied it by then (store.ts). Views of the
// usual lengths are cached, so that hundreds of thousands of writes a second leave no garbage.

import { crc32 } from 'node:zlib';
import { CHECKSUM_LENGTH } from './layout';
import type { StoreWrite } from '../../store/store';

/** Longer views are rare and not cached. */
const USUAL_LENGTH = 1 << 12;

export class WriteBuffer {
  #bytes = Buffer.allocUnsafeSlow(USUAL_LENGTH * 2);
  /** Views by where they begin and how long they are. */
  #views: Buffer[][] = [];

  /** The buffer, at least `length` bytes long. Its former content may be gone. */
  reserve(length: number): Buffer {
    if (length > this.#bytes.length) {
      this.#bytes = Buffer.allocUnsafeSlow(length * 2);
      this.#views = [];
    }
    return this.#bytes;
  }

  /** The write of a key and a record that were written to the bytes; the checksum is added. */
  put(keyLength: number, recordLength: number): StoreWrite {
    const end = keyLength + recordLength;
    this.#bytes.writeUInt32BE(crc32(this.#view(0, end)), end);
    return { type: 'put', key: this.#view(0, keyLength), value: this.#view(keyLength, recordLength + CHECKSUM_LENGTH) };
  }

  /** The deletion of a key that was written to the bytes. */
  del(keyLength: number): StoreWrite {
    return { type: 'del', key: this.#view(0, keyLength) };
  }

  #view(from: number, length: number): Buffer {
    if (length > USUAL_LENGTH) return this.#bytes.subarray(from, from + length);
    const views = (this.#views[from] ??= []);
    return (views[length] ??= this.#bytes.subarray(from, from + length));
  }
}
