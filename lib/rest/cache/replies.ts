// Replies that hold for one state of the index and no other: clients ask for the same things again and again while they wait for
// the next block.

import type { AnswerCache, Cached, Shelf } from './answers';
import type { HeaderRecord, IndexReader } from '../../index/types';
import type { NodeSource } from '../../node/types';
import type { Reply } from '../format';

interface CachedReply extends Cached {
  readonly reply: Reply;
  /** The state's own: no two states share one. */
  readonly tip: HeaderRecord;
  /** Whether the node was pruned: what it throws away is not answered from memory. */
  readonly pruned: boolean;
}

/** As long as 2,000 headers in hex: making their digits costs more than sending them. */
const LONGEST_BYTES = 524_288;

export class ReplyCache {
  readonly #replies: Shelf<CachedReply>;
  readonly #node: Pick<NodeSource, 'pruned'>;
  readonly #reader: IndexReader;

  constructor(cache: AnswerCache, node: Pick<NodeSource, 'pruned'>, reader: IndexReader) {
    this.#replies = cache.shelf('reply');
    this.#node = node;
    this.#reader = reader;
  }

  /** `question`: all that the reply depends on beside the state. */
  find(question: string): Reply | undefined {
    const cached = this.#replies.get(question);
    return cached?.pruned === this.#node.pruned && cached.tip === this.#reader.read(({ tip }) => tip) ? cached.reply : undefined;
  }

  /** The reply that `make` makes; it is cached when it holds for a state and its question came before. */
  async make<R extends Reply>(question: string, make: () => Promise<R>): Promise<R> {
    const { pruned } = this.#node;
    const made = await make();
    const { tip, contentType, body, isImmutable } = made;
    if (tip === undefined || body.length > LONGEST_BYTES) return made;
    this.#replies.offer(question, () => {
      // Part of a larger buffer would keep all of it.
      const own = Buffer.allocUnsafeSlow(body.length);
      body.copy(own);
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
