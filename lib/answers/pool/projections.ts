// The next blocks as the pool has them: computed once for each change of the pool or of a modified fee, however many clients look at them.

import { ProjectedBlocks, type Projection } from '../../pool/projection/projected-blocks';
import { PoolView, type ViewedPool } from './pool-view';
import type { PoolSource } from '../../node/types/pool';
import type { ScriptPool } from '../../pool/by-script/script-pool';

/** How old the projection of a large pool may be. */
const PROJECTION_MS = 1_500;

export interface PoolProjection extends Projection {
  /** `poolRevision` of the pool, as the projection has it. */
  readonly revision: number;
}

export class PoolProjections {
  readonly #blocks: ProjectedBlocks;
  readonly #pool: FeeSensitivePool;
  readonly #view: PoolView<PoolProjection>;

  constructor(source: Pick<PoolSource, 'entries' | 'feeFingerprint'>, pool: Pick<ScriptPool, 'revision' | 'size' | 'get'>) {
    const blocks = (this.#blocks = new ProjectedBlocks((txid) => pool.get(txid)));
    const watched = (this.#pool = new FeeSensitivePool(source, pool));
    this.#view = new PoolView(
      watched,
      function* () {
        const { revision } = watched;
        return { ...(yield* blocks.update(source.entries())), revision };
      },
      { lateMs: PROJECTION_MS }
    );
  }

  /** Transactions that are remembered. */
  get size(): number {
    return this.#blocks.size;
  }

  /** Of the pool as it is now: another one if its next blocks may be others. */
  get poolRevision(): number {
    return this.#pool.revision;
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

/** The pool, with a revision that also tells when a transaction is prioritised: its modified fee changes, and nothing else does. */
class FeeSensitivePool implements ViewedPool {
  readonly #source: Pick<PoolSource, 'feeFingerprint'>;
  readonly #pool: ViewedPool;
  #seen: { readonly pool: number; readonly fees: number } | undefined;
  #revision = 0;

  constructor(source: Pick<PoolSource, 'feeFingerprint'>, pool: ViewedPool) {
    this.#source = source;
    this.#pool = pool;
  }

  get size(): number {
    return this.#pool.size;
  }

  get revision(): number {
    const seen = { pool: this.#pool.revision, fees: this.#source.feeFingerprint() };
    if (this.#seen?.pool !== seen.pool || this.#seen.fees !== seen.fees) this.#revision++;
    this.#seen = seen;
    return this.#revision;
  }
}
