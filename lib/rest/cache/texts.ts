// JSON and hex of blocks: megabytes, made once for all who ask meanwhile, in buffers that are used again. New memory for each is
// expensive: the system gives its pages one by one, and the collector marks everything for every few of them.
//
// A buffer has holders: who makes the text, and each client on its way. When the last of them has let go the buffer is free, and shows its
// text until it is needed for another one; a client who asks for that text meanwhile holds it again. A client that never lets go
// costs new memory and nothing else: the collector takes the buffer, as if nobody had counted.

import { MadeOnce } from './answers';
import { runInOrder } from '../server/slices';
import type { Waiting } from '../server/work-queue';
import type { Allocate } from '../../bitcoin/text-writer';

/** Buffers of a common size fit the next text too. */
const STEP = 1 << 16;

/** A buffer may be this many times as large as what is wanted. */
const MOST_TOO_LARGE = 2;

/** Free buffers together: three of the largest blocks as JSON. */
const MOST_FREE_BYTES = 36 << 20;

/** Lets go. A second call does nothing. */
export type Release = () => void;

/** A text, held by whoever was given it. */
export interface HeldText {
  readonly text: Buffer;
  readonly release: Release;
}

interface TextBuffer {
  readonly memory: ArrayBufferLike;
  holders: number;
  /** What it shows; undefined: nothing. */
  key: string | undefined;
  text: Buffer;
}

const NOTHING = Buffer.alloc(0);

export class BlockTexts {
  readonly #mostFreeBytes: number;
  readonly #byKey = new Map<string, TextBuffer>();
  /** Those that nobody holds, the least recently used first. */
  readonly #free = new Set<TextBuffer>();
  #freeBytes = 0;
  readonly #making = new MadeOnce<TextBuffer>();

  /** `cacheBytes`: of the cache for answers; free buffers have no more. */
  constructor(cacheBytes: number) {
    this.#mostFreeBytes = Math.min(cacheBytes, MOST_FREE_BYTES);
  }

  /** The text, if a buffer still shows it. */
  get(key: string): HeldText | undefined {
    const buffer = this.#byKey.get(key);
    return buffer && this.#held(buffer);
  }

  /** The same, or the text that the view makes in slices, after those that came before. @throws ClientGoneError, as the view */
  async make(key: string, client: Waiting, view: (allocate: Allocate) => Generator<void, Buffer>): Promise<HeldText> {
    return this.get(key) ?? this.#held(await this.#making.get(key, client, (everybody) => this.#make(key, everybody, view)));
  }

  async #make(key: string, client: Waiting, view: (allocate: Allocate) => Generator<void, Buffer>): Promise<TextBuffer> {
    const held: { readonly buffer: TextBuffer; readonly release: Release }[] = [];
    const allocate: Allocate = (length) => {
      const buffer = this.#takeFree(length);
      held.push({ buffer, release: this.#hold(buffer) });
      return Buffer.from(buffer.memory);
    };
    try {
      const text = await runInOrder(view(allocate), client);
      const made = held.find(({ buffer: { memory } }) => memory === text.buffer);
      if (made === undefined) throw new RangeError('expected a text in memory that was allocated for it');
      const { buffer } = made;
      buffer.key = key;
      buffer.text = text;
      this.#byKey.set(key, buffer);
      return buffer;
    } finally {
      // By the next turn everybody who waited holds it.
      setImmediate(() => { for (const { release } of held) release(); });
    }
  }

  #held(buffer: TextBuffer): HeldText {
    return { text: buffer.text, release: this.#hold(buffer) };
  }

  #hold(buffer: TextBuffer): Release {
    buffer.holders++;
    if (this.#free.delete(buffer)) this.#freeBytes -= buffer.memory.byteLength;
    let isHeld = true;
    return () => {
      if (isHeld && --buffer.holders === 0) this.#letGo(buffer);
      isHeld = false;
    };
  }

  #letGo(buffer: TextBuffer): void {
    this.#free.add(buffer);
    this.#freeBytes += buffer.memory.byteLength;
    for (const oldest of this.#free) {
      if (this.#freeBytes <= this.#mostFreeBytes) return;
      this.#forget(oldest);
    }
  }

  /** The least recently used one that fits, or a new one: texts stay as long as there is space for others beside them. */
  #takeFree(length: number): TextBuffer {
    const wanted = Math.ceil(length / STEP) * STEP;
    const hasSpace = this.#freeBytes + wanted <= this.#mostFreeBytes;
    for (const buffer of this.#free) {
      const { memory: { byteLength }, key } = buffer;
      if (byteLength < wanted || byteLength > wanted * MOST_TOO_LARGE || hasSpace && key !== undefined) continue;
      this.#forget(buffer);
      return buffer;
    }
    return { memory: Buffer.allocUnsafeSlow(wanted).buffer, holders: 0, key: undefined, text: NOTHING };
  }

  /** It is not free any more, and shows nothing. */
  #forget(buffer: TextBuffer): void {
    this.#free.delete(buffer);
    this.#freeBytes -= buffer.memory.byteLength;
    if (buffer.key !== undefined) this.#byKey.delete(buffer.key);
    buffer.key = undefined;
    buffer.text = NOTHING;
  }
}
