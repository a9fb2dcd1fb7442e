// The pool's contents as text. Each text is written once per change of the pool, and only the entries that the change concerns are
// written again. There is one text of each form, of unbounded size, outside the cache for answers.

import { PoolContents } from './contents';
import { mempoolInfoJson } from '../../views/pool-info';
import { NO_CLIENT } from '../../turns/client';
import { runInSlices } from '../../turns/slices';
import type { PoolEntry, PoolSource } from '../../node/types/pool';
import type { NodeSource } from '../../node/types/source';
import type { Gate } from '../../server/work/gate';
import type { ProfileFields } from '../../views/profile';

/** Entries by txid, txids alone, or txids with the number of changes that the pool has seen. */
export type PoolForm = 'entries' | 'txids' | 'sequence';

/** A relative of a transaction in the pool. */
export interface PoolRelative {
  readonly txid: Buffer;
  readonly text: Buffer;
}

/** A state of the pool, as far as texts show it, and its texts. */
interface PoolState {
  readonly revision: number;
  readonly feeFingerprint: number;
  readonly texts: Map<PoolForm, Promise<Buffer>>;
}

/** A text that is wanted, or another one that has to be written before. */
type Begun = { readonly text: Promise<Buffer> } | { readonly writing: Promise<unknown> };

export class PoolTexts {
  readonly #node: Pick<NodeSource, 'withChainLock'>;
  readonly #pool: PoolSource;
  readonly #fields: ProfileFields;
  readonly #gate: Pick<Gate, 'requireOpen'>;
  #contents: PoolContents;
  #latest: PoolState | undefined;
  /** The state that the contents are at; undefined while they are being updated. */
  #shown: PoolState | undefined;
  /** The text that is being written, if any. */
  #writing: Promise<unknown> | undefined;

  constructor(node: Pick<NodeSource, 'pool' | 'withChainLock'>, fields: ProfileFields, gate: Pick<Gate, 'requireOpen'>) {
    this.#node = node;
    this.#pool = node.pool;
    this.#fields = fields;
    this.#gate = gate;
    this.#contents = new PoolContents(fields);
  }

  /** Of the texts of all entries. */
  get byteLength(): number {
    return this.#contents.byteLength;
  }

  /** The summary of the pool and a line feed. */
  info(): Buffer {
    return mempoolInfoJson(this.#pool.info(), this.#fields, this.#contents.isBestOrder);
  }

  /**
   * The current pool and a line feed. The number of changes is shown only while no block is being connected or disconnected: over ZeroMQ a
   * reorganization is one change of the pool (lib/zmq/steps.ts). @throws HttpError 503
   */
  async text(form: PoolForm): Promise<Buffer> {
    for (;;) {
      const known = this.#state().texts.get(form);
      if (known !== undefined) return known;
      const begin = (): Begun => this.#begin(form);
      const begun = form === 'sequence' ? await this.#node.withChainLock(begin) : begin();
      if ('text' in begun) return begun.text;
      await this.#settled(begun.writing);
    }
  }

  #begin(form: PoolForm): Begun {
    if (this.#writing !== undefined) return { writing: this.#writing };
    const state = this.#state();
    return { text: state.texts.get(form) ?? this.#make(form, state) };
  }

  /** The JSON of one entry, without its txid; undefined when the pool does not have the transaction. @throws HttpError 503 */
  entry(txid: Buffer): Promise<Buffer | undefined> {
    return this.#of(txid, (entry) => this.#contents.entryText(entry));
  }

  /**
   * The ancestors or the descendants of a transaction in the pool, each with its JSON as of `entry`; undefined as there. @throws HttpError 503
   */
  relatives(txid: Buffer, direction: 'parents' | 'children'): Promise<readonly PoolRelative[] | undefined> {
    return this.#of(txid, (entry) =>
      this.#contents.relativesOf(entry, direction).map((one) => ({ txid: one.txid, text: this.#contents.entryText(one) }))
    );
  }

  /** What `use` makes of an entry while the contents are up to date. */
  async #of<T>(txid: Buffer, use: (entry: PoolEntry) => T): Promise<T | undefined> {
    for (;;) {
      const state = this.#state();
      const entry = this.#pool.entry(txid);
      if (entry === undefined) return undefined;
      if (this.#shown === state) return use(entry);
      // Writing any text brings the contents up to date.
      await (this.#writing === undefined ? this.#write(this.#contents.update(this.#pool.entries()), state) : this.#settled(this.#writing));
    }
  }

  #state(): PoolState {
    const { revision } = this.#pool;
    const feeFingerprint = this.#pool.feeFingerprint();
    if (this.#latest?.revision !== revision || this.#latest.feeFingerprint !== feeFingerprint)
      this.#latest = { revision, feeFingerprint, texts: new Map() };
    return this.#latest;
  }

  #make(form: PoolForm, state: PoolState): Promise<Buffer> {
    const entries = this.#pool.entries();
    const sequence = form === 'sequence' ? this.#pool.sequence : undefined;
    const view = form === 'entries' ? this.#contents.json(entries) : this.#contents.txids(entries, sequence);
    const text = this.#write(view, state);
    state.texts.set(form, text);
    text.catch(() => state.texts.delete(form));
    return text;
  }

  /** The text being written may be of an older state: requests that come meanwhile wait and share the next one. */
  async #settled(writing: Promise<unknown>): Promise<void> {
    await writing.catch(() => undefined);
    this.#gate.requireOpen();
  }

  async #write<T>(view: Generator<void, T>, state: PoolState): Promise<T> {
    const writing = runInSlices(view, NO_CLIENT);
    this.#shown = undefined;
    this.#writing = writing;
    try {
      const written = await writing;
      this.#shown = state;
      return written;
    } catch (error) {
      // The contents may be half of one state and half of another.
      this.#contents = new PoolContents(this.#fields);
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}
