// Notifies listeners of the pool's size and recommended fees: every two seconds if the pool has changed, as mempool does.

import { recommendedFees } from '../../answers/pool/recommended-fees';
import { notify, type Listener } from '../../answers/updates/listener';
import { mempoolInfoJson } from '../../pool/info';
import { objectOf, type Field } from './messages';
import type { EsploraContext } from '../endpoint';

const EVERY_MS = 2_000;

export interface StatsListener extends Listener {
  statsChanged(message: Buffer): void;
}

type StatsContext = Pick<EsploraContext, 'node' | 'pool' | 'fees'>;

export class StatsUpdates {
  readonly #context: StatsContext;
  readonly #listeners = new Set<StatsListener>();
  /** The revision of the pool of which listeners know. */
  #known = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: StatsContext) {
    this.#context = context;
  }

  /** Adds a listener for changes. */
  add(listener: StatsListener): void {
    this.#listeners.add(listener);
    if (this.#timer !== undefined) return;
    this.#known = this.#context.pool.revision;
    // If it fails, the next time may do.
    this.#timer = setInterval(() => void this.#notifyAll().catch(() => undefined), EVERY_MS).unref();
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

  /** If the pool has changed since the last time. */
  async #notifyAll(): Promise<void> {
    const { revision } = this.#context.pool;
    if (this.#listeners.size === 0 || revision === this.#known) return;
    const before = this.#known;
    this.#known = revision;
    const fields = await this.fields().catch((error: unknown) => {
      this.#known = before;
      throw error;
    });
    const message = objectOf(fields);
    for (const listener of this.#listeners)
      notify(listener, (one) => {
        one.statsChanged(message);
      });
  }
}
