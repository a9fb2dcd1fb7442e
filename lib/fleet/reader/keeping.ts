// What the log says of something that a reader keeps on its disk.

import { messageOf } from '../../system/error-text';
import type { IndexLogger } from '../../follow/logger';

export class Keeping {
  readonly #what: string;
  readonly #logger: IndexLogger;
  #isFailing = false;

  /** `what`: begins a sentence. */
  constructor(what: string, logger: IndexLogger) {
    this.#what = what;
    this.#logger = logger;
  }

  /** It could not be written. Said once until it can be: a full disk takes no block after another. */
  readonly failed = (error: unknown): void => {
    if (!this.#isFailing) this.lost(error);
    this.#isFailing = true;
  };

  /** It was written. */
  kept(): void {
    if (this.#isFailing) this.#logger.info(`${this.#what} is kept on the disk again.`);
    this.#isFailing = false;
  }

  /** What was written cannot be read or deleted. */
  readonly lost = (error: unknown): void => {
    this.#logger.warning(`${this.#what} is not kept on the disk: ${messageOf(error)}.`);
  };
}
