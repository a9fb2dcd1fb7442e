// What the pool's contents look like: each text is written once per change of the pool, and of its entries only those that the change
// concerns. There is one text of each form, as large as the pool makes it, beside the cache for answers.

import { PoolContents } from '../../views/mempool';
import { runInSlices } from '../server/slices';
import type { PoolSource } from '../../node/types';
import type { ProfileFields } from '../../profile/profile';
import type { Gate } from '../server/gate';

/** Entries by txid, txids alone, or those with the number of changes that the pool has seen. */
export type PoolForm = 'entries' | 'txids' | 'sequence';

/** The texts of a state of the pool, as far as they show it. */
interface PoolState {
  readonly revision: number;
  readonly feeFingerprint: number;
  readonly texts: Map<PoolForm, Promise<Buffer>>;
}

/** Others wait for the same text: it is finished even if the first who asked has left. */
const FOR_EVERYBODY = { isGone: false };

export class PoolTexts {
  readonly #pool: PoolSource;
  readonly #fields: ProfileFields;
  readonly #gate: Pick<Gate, 'requireOpen'>;
  #contents: PoolContents;
  #latest: PoolState | undefined;
  /** That which the contents are of, unless they are being brought to another. */
  #shown: PoolState | undefined;
  /** What is being written, if anything is. */
  #writing: Promise<unknown> | undefined;

  constructor(pool: PoolSource, fields: ProfileFields, gate: Pick<Gate, 'requireOpen'>) {
    this.#pool = pool;
    this.#fields = fields;
    this.#gate = gate;
    this.#contents = new PoolContents(fields);
  }

  /** Whether the pool was last shown in the best order that there is. */
  get isBestOrder(): boolean {
    return this.#contents.isBestOrder;
  }

  /** The pool of now, and a line feed. @throws RestError 503 */
  async text(form: PoolForm): Promise<Buffer> {
    for (;;) {
      const state = this.#state();
      const known = state.texts.get(form);
      if (known !== undefined) return known;
      if (this.#writing === undefined) return this.#make(form, state);
      await this.#settled(this.#writing);
    }
  }

  /** What the pool shows of a transaction, without its txid; undefined: the pool does not have it. @throws RestError 503 */
  async entry(txid: Buffer): Promise<Buffer | undefined> {
    for (;;) {
      const state = this.#state();
      const entry = this.#pool.entry(txid);
      if (entry === undefined) return undefined;
      if (this.#shown === state) return this.#contents.entryText(entry);
      // Anything that is written brings the contents to the state of now.
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
    // Bitcoin Core's number is that of the next change, the first of which has 1.
    const sequence = form === 'sequence' ? state.revision + 1 : undefined;
    const view = form === 'entries' ? this.#contents.json(entries) : this.#contents.txids(entries, sequence);
    const text = this.#write(view, state);
    state.texts.set(form, text);
    text.catch(() => state.texts.delete(form));
    return text;
  }

  /** What is being written may be of an older state: those who come meanwhile share the text after it. */
  async #settled(writing: Promise<unknown>): Promise<void> {
    await writing.catch(() => undefined);
    this.#gate.requireOpen();
  }

  async #write<T>(view: Generator<void, T>, state: PoolState): Promise<T> {
    const writing = runInSlices(view, FOR_EVERYBODY);
    this.#shown = undefined;
    this.#writing = writing;
    try {
      const written = await writing;
      this.#shown = state;
      return written;
    } catch (error) {
      // They may be half of one state and half of another.
      this.#contents = new PoolContents(this.#fields);
      throw error;
    } finally {
      this.#writing = undefined;
    }
  }
}
