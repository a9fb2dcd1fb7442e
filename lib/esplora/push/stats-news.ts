// Tells listeners the pool's size and recommended fees: every two seconds if the pool has changed, as mempool does.

import { recommendedFees } from '../../answers/pool/recommended-fees';
import { tell, type Listener } from '../../answers/status/listener';
import { mempoolInfoJson } from '../../pool/info';
import { objectOf, type Field } from './messages';
import type { EsploraContext } from '../endpoint';

const EVERY_MS = 2_000;

export interface StatsListener extends Listener {
  statsNews(message: Buffer): void;
}

export class StatsNews {
  readonly #context: Pick<EsploraContext, 'node' | 'pool' | 'fees'>;
  readonly #listeners = new Set<StatsListener>();
  #told = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: Pick<EsploraContext, 'node' | 'pool' | 'fees'>) {
    this.#context = context;
  }

  /** Adds a listener for changes. */
  add(listener: StatsListener): void {
    this.#listeners.add(listener);
    if (this.#timer !== undefined) return;
    this.#told = this.#context.pool.revision;
    // If it fails, the next pass tells the change.
    this.#timer = setInterval(() => void this.tellChanges().catch(() => undefined), EVERY_MS).unref();
  }

  delete(listener: StatsListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async fields(): Promise<Field[]> {
    const { node, fees } = this.#context;
    const info = node.pool.info();
    const recommended = recommendedFees(await fees.estimates(), info);
    return [
      ['mempoolInfo', mempoolInfoJson(info, { chunks: false, fullRbf: false }, false).toString().trimEnd()],
      ['fees', JSON.stringify(recommended)]
    ];
  }

  /** Tells the listeners if the pool has changed since the last time. */
  async tellChanges(): Promise<void> {
    const { revision } = this.#context.pool;
    if (this.#listeners.size === 0 || revision === this.#told) return;
    const before = this.#told;
    this.#told = revision;
    const fields = await this.fields().catch((error: unknown) => {
      this.#told = before;
      throw error;
    });
    const message = objectOf(fields);
    for (const listener of this.#listeners)
      tell(listener, (one) => {
        one.statsNews(message);
      });
  }
}
