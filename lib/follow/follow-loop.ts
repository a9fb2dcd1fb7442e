// The loop of an index that follows the chain, whichever index it is: it steps towards the chain's tip, rebuilds a damaged index once for
// each reason, and tries one that has failed again after a pause.

import { StoreError } from '../store/errors';
import { errorOf, isBlockFault, isDamage, mayPass, TooDeepError } from './errors';
import { Loop } from './loop';
import type { IndexLogger } from './logger';

/** Pause before an index that has failed is tried again. */
export const FAILURE_PAUSE_MS = 60_000;

/** Pause after an error that passes soon: no event may tell when it has. */
const SOON_MS = 200;

export interface FollowParts {
  readonly onState: (state: { readonly phase: 'loading' } | { readonly phase: 'failed'; readonly message: string }) => void;
  readonly logger: IndexLogger;
  /** Pause before an index that has failed is tried again. */
  readonly failurePauseMs: number;
}

export abstract class FollowLoop extends Loop {
  readonly #parts: FollowParts;
  /** Work that was begun beside the steps. */
  #beside: Promise<void> = Promise.resolve();
  /** The error that was reported, until it is handled. */
  #reported: Error | undefined;
  /** Why the index has failed; undefined while it has not. */
  #failure: Error | undefined;
  /** When an index that has failed is tried again. */
  #retryAt = Infinity;
  /** Since the index was last live: the failure that was logged, and the damage that it was rebuilt for. */
  #logged: string | undefined;
  readonly #rebuiltFor = new Set<string>();

  constructor(parts: FollowParts) {
    super();
    this.#parts = parts;
  }

  /** As `dueIn`, for an index that is sound. */
  protected abstract nextIn(): number;

  /** Brings the index closer to the tip. */
  protected abstract approach(): Promise<void>;

  /** Called as soon as an error is known: nothing may be answered from the index any more, and nothing waits for it. */
  protected abstract suspend(): void;

  /**
   * The damage that an error tells of, for which the index must be rebuilt; undefined if there is none. `isRepeated`: the same error was
   * handled before, and the index was not live since.
   */
  protected abstract damageBehind(error: unknown, isRepeated: boolean): Promise<Error | undefined>;

  /** Empties the index because of damage. @throws NotRebuildableError, without emptying it, if it could not be built again */
  protected abstract rebuild(damage: Error): Promise<void>;

  /** Called before the first step after a write has failed: LevelDB refuses all writes from then on, until it is opened again. */
  protected abstract reopen(): Promise<void>;

  /** How the log begins when the index has failed, e.g. `The index stopped`. */
  protected abstract stopped(): string;

  /** Whether the cause of an error lies elsewhere, and passes without a word within a fraction of a second. */
  protected abstract passesSoon(error: unknown): boolean;

  /** To be called when reading has met damage or a failing store: nothing is answered until that is handled. */
  readonly reportDamage = (error: unknown): void => {
    if (this.#failure !== undefined || this.#reported !== undefined) return;
    this.#reported = errorOf(error);
    this.suspend();
    this.wake();
  };

  /** Waits for the present work. */
  override async close(): Promise<void> {
    await Promise.all([super.close(), this.#beside]);
  }

  /** Whether an error was reported that is not handled yet: the index does not count as level with the chain. */
  protected get isDoubted(): boolean {
    return this.#reported !== undefined;
  }

  /** Does work beside the steps, the next of which waits for it. Its error is reported. Never rejects. */
  protected beside(work: Promise<void>): Promise<void> {
    return (this.#beside = work.catch(this.reportDamage));
  }

  /** To be called when the index has become live: what went wrong before is over. */
  protected recovered(): void {
    this.#logged = undefined;
    this.#rebuiltFor.clear();
  }

  protected dueIn(): number {
    if (this.#failure !== undefined) return isBlockFault(this.#failure) && this.isWoken ? 0 : this.#retryAt - performance.now();
    return this.isDoubted ? 0 : this.nextIn();
  }

  protected async step(): Promise<void> {
    await this.#beside;
    const [reported, failure] = [this.#reported, this.#failure];
    this.#reported = this.#failure = undefined;
    if (reported !== undefined) throw reported;
    if (failure instanceof StoreError) await this.reopen();
    await this.approach();
  }

  /** Rebuilds the index if it is damaged, and stops it otherwise. */
  protected async failed(caught: unknown): Promise<void> {
    this.suspend();
    if (this.passesSoon(caught)) {
      setTimeout(this.wake, SOON_MS).unref();
      return;
    }
    try {
      const damage = await this.damageBehind(caught, errorOf(caught).message === this.#logged);
      this.signal.throwIfAborted();
      if (damage === undefined) throw caught;
      await this.#rebuildOnce(damage);
    } catch (error) {
      if (!this.signal.aborted) this.#fail(errorOf(error));
    }
  }

  /** @throws `damage` if the index was already rebuilt for it, NotRebuildableError */
  async #rebuildOnce(damage: Error): Promise<void> {
    // A second reorganization that is too deep is a new event, and no sign that rebuilding does not help.
    if (this.#rebuiltFor.has(damage.message) && !(damage instanceof TooDeepError)) throw damage;
    this.#parts.onState({ phase: 'loading' });
    await this.rebuild(damage);
    this.#rebuiltFor.add(damage.message);
    // What was reported until now is gone with the old index.
    this.#reported = undefined;
    this.wake();
  }

  #fail(failure: Error): void {
    const { logger, onState, failurePauseMs } = this.#parts;
    this.#failure = failure;
    const { message } = failure;
    this.#retryAt = mayPass(failure) ? performance.now() + failurePauseMs : Infinity;
    // Logged once: the same failure recurs each time the chain moves, and after each pause.
    if (message !== this.#logged) logger.error(`${this.stopped()}: ${message}.`);
    this.#logged = message;
    onState({ phase: 'failed', message });
  }
}

/**
 * The damage that an error tells of, for an index that can always be filled again. `openAgain`: closes and opens the store, which finds lost
 * files: one that has failed may have lost one; undefined: it is not open.
 */
export async function damageFoundBy(openAgain: (() => Promise<void>) | undefined, error: unknown): Promise<Error | undefined> {
  if (isDamage(error)) return isBlockFault(error) ? undefined : error;
  if (!(error instanceof StoreError && error.reason === 'failed') || openAgain === undefined) return undefined;
  try {
    await openAgain();
    return undefined;
  } catch (found) {
    return isDamage(found) ? found : undefined;
  }
}
