// The next blocks as the pool has them: computed once for each change of the pool, however many clients look at them.

import { ProjectedBlocks, type Projection } from '../../pool/projection/projected-blocks';
import { PoolView } from './pool-view';
import type { PoolSource } from '../../node/types/pool';
import type { ScriptPool } from '../../pool/by-script/script-pool';

/** How old the projection of a large pool may be. */
const PROJECTION_MS = 1_500;

export interface PoolProjection extends Projection {
  /** Of the pool, as the projection has it. */
  readonly revision: number;
}

export class PoolProjections {
  readonly #blocks: ProjectedBlocks;
  readonly #view: PoolView<PoolProjection>;

  constructor(source: Pick<PoolSource, 'entries'>, pool: Pick<ScriptPool, 'revision' | 'size' | 'get'>) {
    const blocks = (this.#blocks = new ProjectedBlocks((txid) => pool.get(txid)));
    this.#view = new PoolView(
      pool,
      function* () {
        const { revision } = pool;
        return { ...(yield* blocks.update(source.entries())), revision };
      },
      { lateMs: PROJECTION_MS }
    );
  }

  /** Transactions that are remembered. */
  get size(): number {
    return this.#blocks.size;
  }

  /** Of the pool, as the projection has it that is given now. */
  get revision(): number {
    return this.#view.revision;
  }

  /** That of a large pool may be somewhat older than the pool. A promise only if it is not known yet. */
  get(): PoolProjection | Promise<PoolProjection> {
    return this.#view.get();
  }
}
