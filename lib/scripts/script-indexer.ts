// The index by script of the node's chain: opens it beside the main index, reports its state, answers from it, closes it. No damage to
// it keeps the node or the main index from starting.

import { FAILURE_PAUSE_MS } from '../follow/follow-loop';
import { scrubAgainAndAgain } from '../follow/scrub';
import { LoggedState } from '../follow/logged-state';
import { PairReader } from './follow/pair';
import { ScriptSync, type Filling } from './follow/script-sync';
import { stateText } from './progress';
import { StoreError } from '../store/errors';
import { ScriptWatch } from './write/script-watch';
import { ScriptWriter } from './write/script-writer';
import type { Observable } from 'rxjs';
import type { IndexLogger } from '../follow/logger';
import type { ChainIndex } from '../index/types';
import type { NodeSource } from '../node/types/source';
import type { Store } from '../store/store';
import type { ScriptReader, ScriptsState, WatchedScripts } from './types';

export interface ScriptIndexerOptions {
  readonly store: Store;
  readonly index: ChainIndex;
  readonly node: NodeSource;
  readonly logger: IndexLogger;
  /** How many blocks can be undone without asking the node. */
  readonly undoDepth: number;
  /** For a store on disk; undefined for one in memory. */
  readonly filling: Filling | undefined;
  /** How long one pass over the files of the open store takes (lib/follow/scrub.ts); 0: no passes. */
  readonly scrubMs: number;
  /** Pause before an index that has failed is tried again; a minute unless given. */
  readonly failurePauseMs?: number;
}

export class ScriptIndexer {
  /** Answers while the state is `live`. */
  readonly reader: ScriptReader;
  readonly watched: WatchedScripts;
  /** Replays the current state to a new subscriber. */
  readonly state$: Observable<ScriptsState>;
  readonly #options: ScriptIndexerOptions;
  readonly #state: LoggedState<ScriptsState>;
  readonly #sync: ScriptSync;
  readonly #abort = new AbortController();
  #scrubbing: Promise<void> = Promise.resolve();
  #scrubbed: number | undefined;
  readonly #writer: ScriptWriter;

  constructor(options: ScriptIndexerOptions) {
    this.#options = options;
    const { store, index, node } = options;
    this.#state = new LoggedState<ScriptsState>({ phase: 'loading' }, stateText, options.logger);
    this.state$ = this.#state.state$;
    const watch = new ScriptWatch();
    this.watched = watch;
    const writer = (this.#writer = new ScriptWriter({
      store,
      genesisHash: node.network.genesisHash,
      undoDepth: options.undoDepth,
      watch
    }));
    const reader = new PairReader({
      store,
      writer,
      index: index.reader,
      onDamage: (error) => {
        this.#sync.reportDamage(error);
      }
    });
    this.reader = reader;
    this.#sync = new ScriptSync({ failurePauseMs: FAILURE_PAUSE_MS, ...options, writer, reader, onState: this.#state.say });
  }

  get state(): ScriptsState {
    return this.#state.now;
  }

  /** The share of the files that the scrub has read in this pass; undefined between passes. */
  get scrubbed(): number | undefined {
    return this.#scrubbed;
  }

  /** Blocks whose numbers of transactions are in memory. */
  get numberedBlocks(): number {
    return this.#writer.txids?.blocks ?? 0;
  }

  /** Bytes of the filter of scripts with rows in records of their own. */
  get looseBytes(): number {
    return this.#writer.loose?.byteLength ?? 0;
  }

  /** Starts to catch up with the main index, without waiting for the end of it; then follows it. */
  open(): void {
    const { store, logger, scrubMs: passMs, index, filling } = this.#options;
    index.addFollower(this.#sync);
    this.#sync.start();
    const { signal } = this.#abort;
    // Most tables are checked while the index is in use: a check before that would take minutes.
    if (filling !== undefined)
      this.#scrubbing = scrubAgainAndAgain({
        store,
        name: 'the index by script',
        wasChecked: false,
        logger,
        passMs,
        onDamage: this.#sync.reportDamage,
        onPart: (share) => {
          this.#scrubbed = share;
        },
        signal
      });
  }

  /**
   * Waits for the current write. To be called before the main index is closed. A store that cannot even be closed does not keep the node
   * from stopping.
   */
  async close(): Promise<void> {
    const { store, logger } = this.#options;
    this.#abort.abort();
    await this.#sync.close();
    await this.#scrubbing;
    try {
      await store.close();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      logger.error(`The index by script was not closed cleanly: ${error.message}.`);
    }
    this.#state.end({ phase: 'closed' });
  }
}
