// JSON and hex of blocks, JSON of many headers: megabytes, made once for all who ask meanwhile, in buffers that are used again.
// New memory for each is expensive: the system gives its pages one by one, and the collector marks everything for every few of them.
//
// A buffer has holders: who makes the text, and each client on its way. When the last of them has let go the buffer is free, and shows its
// text until it is needed for another one; a client who asks for that text meanwhile holds it again. First the text goes that was made last
// and not asked for again: its memory may still be in the processor's cache, and who goes round all blocks leaves some of them there. Those
// that were asked for again go when there is no other, the least recently used first. A client that never lets go
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
  wasAskedAgain: boolean;
}

const NOTHING = Buffer.alloc(0);

export class BlockTexts {
  readonly #mostFreeBytes: number;
  readonly #byKey = new Map<string, TextBuffer>();
  /** Those that nobody holds, the least recently used first. */
  readonly #free: TextBuffer[] = [];
  #freeBytes = 0;
  /** Of all buffers that the collector has not taken, those included that somebody holds. */
  #bytes = 0;
  readonly #collected = new FinalizationRegistry<number>((byteLength) => {
    this.#bytes -= byteLength;
  });
  readonly #making = new MadeOnce<TextBuffer>();

  /** `cacheBytes`: of the cache for answers; free buffers have no more. */
  constructor(cacheBytes: number) {
    this.#mostFreeBytes = Math.min(cacheBytes, MOST_FREE_BYTES);
  }

  /** The text, if a buffer still shows it. */
  get(key: string): HeldText | undefined {
    const buffer = this.#byKey.get(key);
    if (buffer === undefined) return undefined;
    buffer.wasAskedAgain = true;
    return this.#held(buffer);
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

  /** A free one that fits, or a new one: texts stay as long as there is space for more beside them. */
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

  /** It is not free any more, and shows nothing. */
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
