// What holds for one state of the index and no other, kept until the index moves: clients ask
// for the same things again and again while they wait for the next block.

import { memoryOf, type AnswerCache, type Kept, type Shelf } from './answers';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Reply } from '../format';

interface OfState<T> extends Kept {
  /** The state's own: no two states share one. */
  readonly tip: HeaderRecord;
  readonly value: T;
}

type State = Pick<IndexSnapshot, 'tip'>;

export class StateShelf<T> {
  private readonly shelf: Shelf<OfState<T>>;

  /** `name`: one for each kind. */
  constructor(cache: AnswerCache, name: string) {
    this.shelf = cache.shelf(name);
  }

  /** What was kept of this very state. */
  get(key: string, { tip }: State): { readonly value: T } | undefined {
    const kept = this.shelf.get(key);
    return kept?.tip === tip ? kept : undefined;
  }

  /** `byteLength`: what the value takes in memory beside its objects. */
  set(key: string, { tip }: State, value: T, byteLength: number): void {
    this.shelf.set(key, { tip, value, byteLength });
  }
}

/** Longer replies are asked for less often than they would drive others out. */
const LONGEST_BYTES = 65_536;

/** Whole replies by what was asked. */
export class StateReplies {
  private readonly replies: StateShelf<Reply>;

  constructor(cache: AnswerCache, name: string) {
    this.replies = new StateShelf(cache, name);
  }

  get(question: string, state: State): Reply | undefined {
    return this.replies.get(question, state)?.value;
  }

  /** Gives the reply back, now or when it is made. */
  keep(question: string, state: State, reply: Reply | Promise<Reply>): Reply | Promise<Reply> {
    if (reply instanceof Promise) return reply.then((made) => this.keep(question, state, made));
    if (reply.body.length <= LONGEST_BYTES) {
      const body = withOwnMemory(reply.body);
      this.replies.set(question, state, { ...reply, body }, question.length + memoryOf(body));
    }
    return reply;
  }
}

/** Part of a larger buffer would keep all of it. */
export function withOwnMemory(bytes: Buffer): Buffer {
  if (memoryOf(bytes) === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
