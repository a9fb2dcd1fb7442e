// JSON and hex of blocks, and JSON of many headers: megabytes, made once for all who ask meanwhile, in buffers that are used again.
// New memory for each text is expensive: the system maps its pages one by one, and every few texts V8 marks its whole heap.
//
// A buffer has holders: the maker of its text, and each reply that is being sent. When the last holder releases it the buffer is free. It
// keeps its text until it is needed for another one; a client that asks for the text meanwhile holds the buffer again. The first text to be
// dropped is the one that was made last and not asked for again: its memory may still be in the processor's cache, and a client that reads
// all blocks in a loop then still finds some of them. Texts that were asked for again are dropped only when there is no other, the least
// recently used first. Every holder has to release: a text whose buffer is held is kept.

import { MadeOnce } from '../../server/cache/made-once';
import { runInOrder } from '../../turns/slices';
import type { Allocate } from '../../bitcoin/text-writer';
import type { CacheUse } from '../../server/cache/answer-cache';
import type { Client } from '../../turns/client';

/** Sizes are rounded up to this, so that a buffer fits other texts too. */
const STEP = 64 * 1_024;

/** A free buffer may be at most this many times as large as the text needs. */
const MOST_TOO_LARGE = 2;

/** Free buffers together: three of the largest blocks as JSON. */
const MOST_FREE_BYTES = 36 * 1_024 * 1_024;

/** Releases a buffer. A second call does nothing. */
export type Release = () => void;

/** A text, and the means to release its buffer. */
export interface HeldText {
  readonly text: Buffer;
  readonly release: Release;
}

interface TextBuffer {
  readonly memory: ArrayBufferLike;
  holders: number;
  /** The key of its text; undefined when it has none. */
  key: string | undefined;
  text: Buffer;
  wasAskedAgain: boolean;
}

const NOTHING = Buffer.alloc(0);

export class BlockTexts {
  readonly #mostFreeBytes: number;
  readonly #byKey = new Map<string, TextBuffer>();
  /** Buffers without a holder, the least recently used first. */
  readonly #free: TextBuffer[] = [];
  #freeBytes = 0;
  /** Bytes of all buffers that the garbage collector has not taken, including held ones. */
  #bytes = 0;
  readonly #collected = new FinalizationRegistry<number>((byteLength) => {
    this.#bytes -= byteLength;
  });
  readonly #making = new MadeOnce<TextBuffer>();
  readonly use: CacheUse = { hits: 0, misses: 0 };

  /** `cacheBytes`: the size of the cache for answers; free buffers together are no larger. */
  constructor(cacheBytes: number) {
    this.#mostFreeBytes = Math.min(cacheBytes, MOST_FREE_BYTES);
  }

  /** Bytes of all buffers. */
  get byteLength(): number {
    return this.#bytes;
  }

  /** The text, if a buffer still has it. */
  get(key: string): HeldText | undefined {
    const buffer = this.#byKey.get(key);
    if (buffer === undefined) {
      this.use.misses++;
      return undefined;
    }
    this.use.hits++;
    buffer.wasAskedAgain = true;
    return this.#held(buffer);
  }

  /** As `get`, or else makes the text in slices, after texts that were begun before. @throws ClientGoneError, and what the view throws */
  async make(key: string, client: Client, view: (allocate: Allocate) => Generator<void, Buffer>): Promise<HeldText> {
    return this.get(key) ?? this.#held(await this.#making.get(key, client, (everybody) => this.#make(key, everybody, view)));
  }

  async #make(key: string, client: Client, view: (allocate: Allocate) => Generator<void, Buffer>): Promise<TextBuffer> {
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
      // By the next turn every client that waited holds the buffer.
      setImmediate(() => {
        for (const { release } of held) release();
      });
    }
  }

  #held(buffer: TextBuffer): HeldText {
    return { text: buffer.text, release: this.#hold(buffer) };
  }

  #hold(buffer: TextBuffer): Release {
    if (buffer.holders++ === 0) this.#dropFree(buffer);
    let isHeld = true;
    return () => {
      if (isHeld && --buffer.holders === 0) this.#letGo(buffer);
      isHeld = false;
    };
  }

  #letGo(buffer: TextBuffer): void {
    this.#free.push(buffer);
    this.#freeBytes += buffer.memory.byteLength;
    while (this.#freeBytes > this.#mostFreeBytes) this.#forget(this.#free[0] as TextBuffer); // more than none
  }

  /** A free buffer that fits, or a new one. Buffers with a text are reused only when there is no space for a new one. */
  #takeFree(length: number): TextBuffer {
    const wanted = Math.ceil(length / STEP) * STEP;
    const hasSpace = this.#bytes + wanted <= this.#mostFreeBytes;
    const fitting = this.#free.filter(
      ({ memory: { byteLength }, key }) => byteLength >= wanted && byteLength <= wanted * MOST_TOO_LARGE && !(hasSpace && key !== undefined)
    );
    const taken = fitting.findLast(({ wasAskedAgain }) => !wasAskedAgain) ?? fitting[0];
    if (taken !== undefined) {
      this.#forget(taken);
      return taken;
    }
    const memory = Buffer.allocUnsafeSlow(wanted).buffer;
    this.#bytes += wanted;
    this.#collected.register(memory, wanted);
    return { memory, holders: 0, key: undefined, text: NOTHING, wasAskedAgain: false };
  }

  /** Takes the buffer off the free list and drops its text. */
  #forget(buffer: TextBuffer): void {
    this.#dropFree(buffer);
    if (buffer.key !== undefined) this.#byKey.delete(buffer.key);
    buffer.key = undefined;
    buffer.text = NOTHING;
    buffer.wasAskedAgain = false;
  }

  #dropFree(buffer: TextBuffer): void {
    const at = this.#free.indexOf(buffer);
    if (at < 0) return;
    this.#free.splice(at, 1);
    this.#freeBytes -= buffer.memory.byteLength;
  }
}
