// What answers about scripts were made from, for keeping them: rows of scripts in the index, their parts of the pool, blocks of the chain.
// An answer is right until one of these changes; docs/decisions/caches.md says why.

import { keyOf } from '../../bitcoin/hash';
import type { IndexSnapshot, Position } from '../../index/types';
import type { ScriptPool } from '../../pool/by-script/script-pool';
import type { ScriptReader, ScriptSnapshot } from '../../scripts/types';
import type { Basis } from '../../server/http/reply';

/** Scripts that one answer may depend on: each is looked up whenever the answer is given. */
const MOST_SCRIPTS = 32;

/** The memory of a script's key; of the rest. */
const SCRIPT_BYTES = 64;
const BASIS_BYTES = 256;

/** What answers read: both indexes, and the pool. */
interface Readers {
  readonly scripts: ScriptReader;
  readonly pool: Pick<ScriptPool, 'revision' | 'isSamePart'>;
}

/** A moment of both indexes and the pool. */
interface Moment {
  readonly stamp: number;
  readonly revision: number;
}

/** What an answer depends on. A script is its SHA-256. */
interface Dependence {
  /** Scripts whose rows it depends on. */
  readonly rows: readonly Buffer[];
  /** Scripts whose parts of the pool it depends on. */
  readonly pooled?: readonly Buffer[];
  /** The height of a block that must be in the chain, and with it all below. */
  readonly height?: number;
}

/** The same for keeping: latin1 strings, because a small Buffer would keep a larger one in memory. */
interface KeptDependence {
  readonly rows: readonly string[];
  readonly pooled: readonly string[];
  readonly block: { readonly height: number; readonly key: string | undefined } | undefined;
}

export class Bases {
  readonly #readers: Readers;

  constructor(readers: Readers) {
    this.#readers = readers;
  }

  /** Those of answers that are made from this snapshot. To be called in the turn in which it was taken. */
  at({ stamp, index }: ScriptSnapshot): BasesAt {
    return new BasesAt(this.#readers, { stamp, revision: this.#readers.pool.revision }, index);
  }

  /** As `at`, for answers that depend on the place of a transaction. Undefined if another one may take its place. */
  about(place: Position, snapshot: ScriptSnapshot): BasesAt | undefined {
    return mayBeReplaced(place) ? undefined : this.at(snapshot);
  }
}

/** Whether another transaction with its txid may come, at another place and with its outputs unspent: only of a coinbase, before BIP30. */
export const mayBeReplaced = ({ index }: Position): boolean => index === 0;

/** What answers of one moment were made from. A script is its SHA-256. */
export class BasesAt {
  readonly #readers: Readers;
  readonly #moment: Moment;
  readonly #index: IndexSnapshot;

  constructor(readers: Readers, moment: Moment, index: IndexSnapshot) {
    this.#readers = readers;
    this.#moment = moment;
    this.#index = index;
  }

  /** The block at a height up to the tip. */
  ofBlock(height: number): Basis {
    return this.#of({ rows: [], height });
  }

  /** A script's transactions in the chain. */
  ofRows(script: Buffer): Basis {
    return this.#of({ rows: [script] });
  }

  /** A script's transactions in chain and pool. */
  ofScript(script: Buffer): Basis {
    return this.#of({ rows: [script], pooled: [script] });
  }

  /**
   * Which transactions spend outputs. `height`: of the highest block that has the outputs or spends some of them. `unspent`: scripts of
   * those that no block spends. Undefined for too many scripts.
   */
  ofSpends(height: number, unspent: readonly Buffer[]): Basis | undefined {
    return unspent.length > MOST_SCRIPTS ? undefined : this.#of({ rows: unspent, pooled: unspent, height });
  }

  #of({ rows, pooled = [], height }: Dependence): Basis {
    const block = height === undefined ? undefined : { height, key: keyAt(height, this.#index) };
    return new ScriptsBasis(this.#readers, this.#moment, { rows: rows.map(keyOf), pooled: pooled.map(keyOf), block });
  }
}

class ScriptsBasis implements Basis {
  readonly #readers: Readers;
  readonly #moment: Moment;
  readonly #dependence: KeptDependence;

  constructor(readers: Readers, moment: Moment, dependence: KeptDependence) {
    this.#readers = readers;
    this.#moment = moment;
    this.#dependence = dependence;
  }

  get byteLength(): number {
    const { rows, pooled } = this.#dependence;
    return BASIS_BYTES + (rows.length + pooled.length) * SCRIPT_BYTES;
  }

  isSame(): boolean {
    const { scripts, pool } = this.#readers;
    const { stamp, revision } = this.#moment;
    const { rows, pooled, block } = this.#dependence;
    return scripts.read(
      (snapshot) =>
        (block === undefined || keyAt(block.height, snapshot.index) === block.key) &&
        pooled.every((script) => pool.isSamePart(script, revision)) &&
        rows.every((script) => snapshot.hasSameRows(Buffer.from(script, 'latin1'), stamp))
    );
  }
}

/** The hash of the block at a height as a latin1 string; undefined above the tip. */
function keyAt(height: number, index: IndexSnapshot): string | undefined {
  const run = index.headerRun(height, 1);
  return run && keyOf(run.lastHash);
}
