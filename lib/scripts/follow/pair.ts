// Both indexes at one block, as one snapshot for readers (the lockstep pair). The main index moves first; until the index by script is at
// the same block, readers get the previous pair, which is held for them.

import { DamagedIndexError } from '../../index/errors';
import { StoreError } from '../../store/errors';
import { ScriptsUnavailableError } from '../errors';
import { StoredScriptSnapshot } from '../read/script-snapshot';
import type { Position, IndexReader, IndexSnapshot } from '../../index/types';
import type { Store, StoreSnapshot } from '../../store/store';
import type { ScriptReader, ScriptSnapshot } from '../types';

export interface PairParts {
  /** The store of the index by script. */
  readonly store: Pick<Store, 'snapshot'>;
  readonly index: IndexReader;
  /** Called when a reader meets a damaged record of the index by script, or cannot read its store. */
  readonly onTrouble: (error: Error) => void;
}

export class PairReader implements ScriptReader {
  readonly #parts: PairParts;
  #current: Pair | undefined;
  #isOpen = false;

  constructor(parts: PairParts) {
    this.#parts = parts;
  }

  async read<T>(use: (snapshot: ScriptSnapshot) => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new ScriptsUnavailableError('the index by script is not at the block of the index');
    // The tip is another object: the index has moved, or its store was opened again.
    if (this.#current?.index.tip !== this.#parts.index.read(({ tip }) => tip)) this.#take();
    const pair = this.#current;
    if (pair === undefined) throw new ScriptsUnavailableError('the index by script is on its way to the block of the index');
    pair.holders++;
    try {
      return await use(pair.snapshot);
    } catch (error) {
      throw this.#judge(error, pair === this.#current);
    } finally {
      pair.release();
    }
  }

  /**
   * To be called when both indexes are at the same block: readers are then answered from this block. @throws
   * ScriptsUnavailableError, IndexUnavailableError
   */
  renew(): void {
    this.#isOpen = true;
    this.#take();
  }

  /** Refuses readers until `renew` is called. */
  close(): void {
    this.#isOpen = false;
    this.#current?.release();
    this.#current = undefined;
  }

  /** Makes a pair of the current states, unless they are of different blocks: then the previous pair stays. */
  #take(): void {
    const { index, store } = this.#parts;
    const held = hold(index);
    let records: StoreSnapshot | undefined;
    try {
      records = store.snapshot();
      if (StoredScriptSnapshot.tipOf(records)?.hash.equals(held.snapshot.tip.hash) === true) {
        const pair = new Pair(records, judged(held.snapshot, index), held.release);
        this.#current?.release();
        this.#current = pair;
        return;
      }
    } catch (error) {
      records?.close();
      held.release();
      throw this.#judge(error, true);
    }
    records.close();
    held.release();
  }

  /** The error that a reader gets. Trouble with the current pair is reported; for errors of the main index, `judged` has done so. */
  #judge(error: unknown, isCurrent: boolean): unknown {
    if (!(error instanceof DamagedIndexError || error instanceof StoreError)) return error;
    // Work that has outlived its reader, or the store was closed: neither says anything about what is stored.
    if (error instanceof StoreError && error.reason === 'closed')
      return new ScriptsUnavailableError('the index by script is not open', { cause: error });
    if (isCurrent) this.#parts.onTrouble(error);
    return new ScriptsUnavailableError(error.message, { cause: error });
  }
}

interface HeldSnapshot {
  readonly snapshot: IndexSnapshot;
  readonly release: () => void;
}

/** A snapshot of the index until it is released. @throws IndexUnavailableError */
function hold(index: IndexReader): HeldSnapshot {
  const taken: HeldSnapshot[] = [];
  void index.read((snapshot) => new Promise<void>((release) => taken.push({ snapshot, release })));
  return taken[0] as HeldSnapshot; // a reader is called at once
}

class Pair {
  readonly snapshot: ScriptSnapshot;
  /** Number of holders, of whom its creator is the first; both snapshots are released when there are none. */
  holders = 1;
  readonly index: IndexSnapshot;
  readonly #records: StoreSnapshot;
  readonly #release: () => void;

  constructor(records: StoreSnapshot, index: IndexSnapshot, release: () => void) {
    this.index = index;
    this.snapshot = new StoredScriptSnapshot(records, index, (work) => {
      this.holders++;
      return work.finally(() => {
        this.release();
      });
    });
    this.#records = records;
    this.#release = release;
  }

  release(): void {
    if (--this.holders > 0) return;
    this.#records.close();
    this.#release();
  }
}

/**
 * The snapshot, with its errors passed through its reader, which reports damage and turns the error into the one for callers. By itself
 * the reader does so only for errors inside `read`.
 */
function judged(snapshot: IndexSnapshot, index: IndexReader): IndexSnapshot {
  const judge = (error: unknown): never =>
    index.read(() => {
      throw error;
    });
  const guard =
    <A extends unknown[], R>(call: (...values: A) => R) =>
    (...values: A): R => {
      try {
        return call.apply(snapshot, values);
      } catch (error) {
        return judge(error);
      }
    };
  return {
    tip: snapshot.tip,
    backfilling: snapshot.backfilling,
    coin: guard((txid: Buffer, output: number) => snapshot.coin(txid, output)),
    coinsOf: (txid, position) => snapshot.coinsOf(txid, position).catch(judge),
    firstCoinsAt: (positions) => snapshot.firstCoinsAt(positions).catch(judge),
    location: guard((txid: Buffer) => snapshot.location(txid)),
    locationAt: guard((position: Position) => snapshot.locationAt(position)),
    position: guard((txid: Buffer) => snapshot.position(txid)),
    heightOf: guard((hash: Buffer) => snapshot.heightOf(hash)),
    headerAt: guard((height: number) => snapshot.headerAt(height)),
    headerRun: guard((height: number, count: number) => snapshot.headerRun(height, count)),
    filterAt: guard((height: number) => snapshot.filterAt(height)),
    filterHeaderAt: guard((height: number) => snapshot.filterHeaderAt(height)),
    staleFilter: guard((hash: Buffer) => snapshot.staleFilter(hash)),
    during: (work) => snapshot.during(work)
  };
}
