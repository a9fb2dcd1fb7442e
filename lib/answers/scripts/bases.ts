// What answers about scripts were made from, for keeping them: rows of scripts in the index, their parts of the pool, blocks of the chain.
// An answer is right until one of these changes; docs/decisions/caches.md says why.

import { keyOf } from '../../bitcoin/hash';
import type { IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types';
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
  /** A block that must be in the chain, and with it all below. */
  readonly block?: BlockPoint;
}

export class Bases {
  readonly #readers: Readers;

  constructor(readers: Readers) {
    this.#readers = readers;
  }

  /** Those of answers that are made from this snapshot. To be called in the turn in which it was taken. */
  at({ stamp }: ScriptSnapshot): BasesAt {
    return new BasesAt(this.#readers, { stamp, revision: this.#readers.pool.revision });
  }
}

/** What answers of one moment were made from. A script is its SHA-256. */
export class BasesAt {
  readonly #readers: Readers;
  readonly #moment: Moment;

  constructor(readers: Readers, moment: Moment) {
    this.#readers = readers;
    this.#moment = moment;
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
   * Which transactions spend outputs. `block`: the highest block that has the outputs or spends some of them. `unspent`: scripts of those
   * that no block spends. Undefined for too many scripts.
   */
  ofSpends(block: BlockPoint, unspent: readonly Buffer[]): Basis | undefined {
    return unspent.length > MOST_SCRIPTS ? undefined : this.#of({ rows: unspent, pooled: unspent, block });
  }

  #of(dependence: Dependence): Basis {
    return new ScriptsBasis(this.#readers, this.#moment, dependence);
  }
}

class ScriptsBasis implements Basis {
  readonly byteLength: number;
  readonly #readers: Readers;
  readonly #moment: Moment;
  /** Latin1 strings: a small Buffer would keep a larger one in memory. */
  readonly #rows: readonly string[];
  readonly #pooled: readonly string[];
  readonly #block: { readonly height: number; readonly key: string } | undefined;

  constructor(readers: Readers, moment: Moment, { rows, pooled = [], block }: Dependence) {
    this.#readers = readers;
    this.#moment = moment;
    this.#rows = rows.map(keyOf);
    this.#pooled = pooled.map(keyOf);
    this.#block = block && { height: block.height, key: keyOf(block.hash) };
    this.byteLength = BASIS_BYTES + (rows.length + pooled.length) * SCRIPT_BYTES;
  }

  isSame(): boolean {
    const { scripts, pool } = this.#readers;
    const { stamp, revision } = this.#moment;
    return scripts.read(
      (snapshot) =>
        (this.#block === undefined || isInChain(this.#block, snapshot.index)) &&
        this.#pooled.every((script) => pool.isSamePart(script, revision)) &&
        this.#rows.every((script) => snapshot.hasSameRows(Buffer.from(script, 'latin1'), stamp))
    );
  }
}

function isInChain({ height, key }: { readonly height: number; readonly key: string }, index: IndexSnapshot): boolean {
  const run = index.headerRun(height, 1);
  return run !== undefined && keyOf(run.lastHash) === key;
}
