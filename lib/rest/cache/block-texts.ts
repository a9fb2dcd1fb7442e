// Long texts of one kind, of blocks: made once for all who ask meanwhile, in memory that is
// used again, and kept when they are asked for again. Blocks that are read one after
// the other would otherwise drive out what is asked for again.

import { memoryOf, type AnswerCache, type Kept, type Shelf } from './answers';
import { MadeOnce } from './made-once';
import { runInOrder } from '../server/slices';
import type { Allocate } from '../../bitcoin/text-writer';
import type { Release, ReplyMemory } from './buffers';
import type { Waiting } from '../server/work-queue';

/** A text, held by whoever was given it. */
export interface HeldText<T> {
  readonly text: T;
  readonly release: Release;
}

interface KeptText<T> extends Kept {
  readonly text: T;
}

export class LongTexts<T> {
  private readonly shelf: Shelf<KeptText<T>>;
  private readonly making = new MadeOnce<T>();

  /** `name`: one for each kind. `bytesOf`: what of a text is sent. `keptAfter`: kept when asked for so many times (Shelf.isWorthKeeping). */
  constructor(cache: AnswerCache, name: string, private readonly memory: ReplyMemory, private readonly bytesOf: (text: T) => Buffer, private readonly keptAfter: number) {
    this.shelf = cache.shelf(name);
  }

  /** What is kept. */
  get(key: string): HeldText<T> | undefined {
    const kept = this.shelf.get(key);
    return kept && this.held(kept.text);
  }

  /** Runs the view in slices, after those that came before; not when the same is under way. @throws ClientGoneError, as the view */
  make(key: string, client: Waiting, view: (allocate: Allocate) => Generator<void, T>): HeldText<T> | Promise<HeldText<T>> {
    const made = this.making.get(key, client, (everybody) => this.run(key, everybody, view));
    return made instanceof Promise ? made.then((text) => this.held(text)) : this.held(made);
  }

  /** Makes one from another that is held, at once, and keeps it in the place of that. */
  renew(key: string, make: (allocate: Allocate) => T): HeldText<T> {
    const { allocate, release } = this.memory.making();
    const text = make(allocate);
    const held = this.held(text);
    release();
    if (this.shelf.get(key) !== undefined) this.keep(key, text);
    return held;
  }

  private run(key: string, client: Waiting, view: (allocate: Allocate) => Generator<void, T>): T | Promise<T> {
    const { allocate, release } = this.memory.making();
    // By the next turn everybody who waited has it.
    const over = (): void => { setImmediate(release); };
    const done = (text: T): T => {
      if (this.shelf.isWorthKeeping(key, this.bytesOf(text).length, this.keptAfter)) this.keep(key, text);
      return text;
    };
    let made: T | Promise<T>;
    try {
      made = runInOrder(view(allocate), client);
    } catch (error) {
      over();
      throw error;
    }
    if (made instanceof Promise) return made.then(done).finally(over);
    over();
    return done(made);
  }

  private keep(key: string, text: T): void {
    const bytes = this.bytesOf(text);
    this.shelf.set(key, { text, byteLength: memoryOf(bytes), onDropped: this.memory.hold(bytes) });
  }

  private held(text: T): HeldText<T> {
    return { text, release: this.memory.hold(this.bytesOf(text)) };
  }
}
