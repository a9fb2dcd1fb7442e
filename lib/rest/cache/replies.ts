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

/** A reply, and the state for which it holds; none when it depends on more than that. */
export interface StateReply extends Reply {
  readonly tip?: HeaderRecord | undefined;
}

interface ReplyContext {
  readonly cache: AnswerCache;
  readonly node: Pick<NodeSource, 'pruned'>;
  readonly reader: IndexReader;
}

/** As long as 2,000 headers in hex: making their digits costs more than sending them. */
const LONGEST_BYTES = 524_288;

export class ReplyCache {
  readonly #replies: Shelf<CachedReply>;
  readonly #node: Pick<NodeSource, 'pruned'>;
  readonly #reader: IndexReader;

  /** `name`: one for each kind. */
  constructor(name: string, { cache, node, reader }: ReplyContext) {
    this.#replies = cache.shelf(name);
    this.#node = node;
    this.#reader = reader;
  }

  /** The cached reply, or the one that `make` makes. `question`: all that it depends on beside the state. */
  async reply(question: string, make: () => Promise<StateReply>): Promise<Reply> {
    const cached = this.#replies.get(question);
    const { pruned } = this.#node;
    if (cached?.pruned === pruned && cached.tip === this.#reader.read(({ tip }) => tip)) return cached.reply;
    const made = await make();
    const { tip, contentType, body, isImmutable = false } = made;
    if (tip !== undefined && body.length <= LONGEST_BYTES) {
      this.#replies.offer(question, () => {
        // Part of a larger buffer would keep all of it.
        const own = Buffer.allocUnsafeSlow(body.length);
        body.copy(own);
        return { reply: { contentType, body: own, isImmutable }, tip, pruned, byteLength: question.length + own.length };
      });
    }
    return made;
  }
}
