// Replies that clients ask for again: they are answered from memory as long as what they were made from is the same. For most of them that
// is one state of the index.

import { ownCopy } from '../../system/own-copy';
import type { AnswerCache, Cached, CacheSection } from './answer-cache';
import type { HeaderRecord, IndexReader } from '../../index/types';
import type { NodeSource } from '../../node/types/source';
import type { Basis, Reply } from '../http/reply';

interface CachedReply extends Cached {
  readonly reply: Reply;
  readonly basis: Basis;
  /** Whether the node was pruned: bytes that it may throw away are not answered from memory. */
  readonly pruned: boolean;
}

/** Enough for 2,000 headers in hex, whose digits cost more to make than to send. */
const LONGEST_BYTES = 512 * 1_024;

export class ReplyCache {
  readonly #replies: CacheSection<CachedReply>;
  readonly #node: Pick<NodeSource, 'pruned'>;
  readonly #reader: IndexReader;

  constructor(cache: AnswerCache, node: Pick<NodeSource, 'pruned'>, reader: IndexReader) {
    this.#replies = cache.section('reply');
    this.#node = node;
    this.#reader = reader;
  }

  /** `question`: everything that the reply depends on except its basis. @throws HttpError 503 */
  find(question: string): Reply | undefined {
    const cached = this.#replies.get(question);
    return cached?.pruned === this.#node.pruned && cached.basis.isSame() ? cached.reply : undefined;
  }

  /** The reply that `make` makes. It is cached if its basis is known and the question was asked before. `route`: the name of what makes it. */
  async make<R extends Reply>(question: string, route: string | undefined, make: () => Promise<R>): Promise<R> {
    const { pruned } = this.#node;
    const made = await make();
    const { tip, contentType, body, isImmutable } = made;
    const known = made.basis ?? tip;
    if (known === undefined || body.length > LONGEST_BYTES) return made;
    this.#replies.setIfAskedBefore(question, () => {
      const own = ownCopy(body);
      const basis = 'isSame' in known ? known : new StateBasis(known, this.#reader);
      return {
        // A reply that is right for more than one state is of the state at which it is given.
        reply: { contentType, body: own, isImmutable, route, tip: 'isSame' in known ? undefined : known },
        basis,
        pruned,
        byteLength: question.length + own.length + basis.byteLength
      };
    });
    return made;
  }
}

/** One state of the index. */
class StateBasis implements Basis {
  readonly byteLength = 0;
  /** Identifies the state: no two states share a tip object. */
  readonly #tip: HeaderRecord;
  readonly #reader: IndexReader;

  constructor(tip: HeaderRecord, reader: IndexReader) {
    this.#tip = tip;
    this.#reader = reader;
  }

  isSame(): boolean {
    return this.#tip === this.#reader.read(({ tip }) => tip);
  }
}
