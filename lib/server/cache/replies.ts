// Replies that hold for exactly one state of the index: clients repeat their requests while they wait for the next block.

import { ownCopy, type AnswerCache, type Cached, type CacheSection } from './answer-cache';
import type { HeaderRecord, IndexReader } from '../../index/types';
import type { NodeSource } from '../../node/types';
import type { Reply } from '../http/reply';

interface CachedReply extends Cached {
  readonly reply: Reply;
  /** Identifies the state: no two states share a tip object. */
  readonly tip: HeaderRecord;
  /** Whether the node was pruned: bytes that it may throw away are not answered from memory. */
  readonly pruned: boolean;
}

/** Enough for 2,000 headers in hex, whose digits cost more to make than to send. */
const LONGEST_BYTES = 524_288;

export class ReplyCache {
  readonly #replies: CacheSection<CachedReply>;
  readonly #node: Pick<NodeSource, 'pruned'>;
  readonly #reader: IndexReader;

  constructor(cache: AnswerCache, node: Pick<NodeSource, 'pruned'>, reader: IndexReader) {
    this.#replies = cache.section('reply');
    this.#node = node;
    this.#reader = reader;
  }

  /** `question`: everything that the reply depends on except the state. */
  find(question: string): Reply | undefined {
    const cached = this.#replies.get(question);
    return cached?.pruned === this.#node.pruned && cached.tip === this.#reader.read(({ tip }) => tip) ? cached.reply : undefined;
  }

  /** The reply that `make` makes. It is cached if it holds for a state and the question was asked before. */
  async make<R extends Reply>(question: string, make: () => Promise<R>): Promise<R> {
    const { pruned } = this.#node;
    const made = await make();
    const { tip, contentType, body, isImmutable } = made;
    if (tip === undefined || body.length > LONGEST_BYTES) return made;
    this.#replies.setIfAskedBefore(question, () => {
      const own = ownCopy(body);
      return {
        reply: { contentType, body: own, isImmutable },
        tip,
        pruned,
        byteLength: question.length + own.length
      };
    });
    return made;
  }
}
