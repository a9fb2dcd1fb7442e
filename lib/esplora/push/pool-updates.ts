// Notifies listeners of the pool, its next blocks, and where in them their transactions are: every two seconds if the pool has changed, as
// mempool does, and after each block.

import { setImmediate } from 'node:timers/promises';
import { notify } from '../../answers/updates/listener';
import { difficultyFields, poolFields, projectedFields, type StateContext } from '../mempool/state';
import { ProjectedPlaces } from './projected-places';
import { ProjectedLists } from './projected-lists';
import { NOTIFIED_IN_TURN, type RoundMember, type Rounds } from './rounds';
import type { Notifier, SettledPasses } from '../../answers/updates/settled-passes';
import type { Projection } from '../../pool/projection/projected-blocks';
import type { BlockPoint } from '../../node/types/chain';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Field } from '../messages';

const EVERY_MS = 2_000;

/** A client, which listens while it awaits the pool. */
export interface PoolListener extends RoundMember {
  /** `texts`: of the blocks that `trackedBlock` names. */
  poolChanged(update: PoolUpdate): void;
  /** The number of the projected block into which it looks. */
  readonly trackedBlock: number | undefined;
}

export interface PoolUpdate {
  readonly places: ProjectedPlaces;
  readonly stats: readonly Field[];
  readonly projected: readonly Field[];
  /** What has changed in the blocks into which listeners look, by the number of the block: JSON. */
  readonly blocks: ReadonlyMap<number, Buffer>;
}

export class PoolUpdates implements Notifier {
  readonly #context: StateContext;
  readonly #rounds: Rounds<PoolListener>;
  /** The projection of which listeners know. */
  #lists: ProjectedLists | undefined;
  /** The revision of the pool that all listeners know, or will as they begin: the projection of a large pool may be older than the pool. */
  #known = -1;
  #timer: NodeJS.Timeout | undefined;
  #tip: BlockPoint | undefined;
  /** What is due with the next update because of a block. */
  #difficulty: readonly Field[] = [];
  #isDue = false;
  #updating = false;

  constructor(context: StateContext, rounds: Rounds<PoolListener>, passes: SettledPasses) {
    this.#context = context;
    this.#rounds = rounds;
    passes.add(this);
  }

  /** Clients, whether they listen or not. */
  get size(): number {
    return this.#rounds.size;
  }

  /** From now on it has a part in rounds, too. */
  add(member: PoolListener): void {
    this.#rounds.add(member);
    if (this.#timer !== undefined) return;
    this.#beginAnew();
    this.#tip = this.#context.node.tip();
    this.#timer = setInterval(() => {
      this.#look();
    }, EVERY_MS).unref();
  }

  delete(member: PoolListener): void {
    this.#rounds.delete(member);
    if (this.#rounds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#lists = undefined;
  }

  /** The projection of which listeners know; further changes are told from it on. */
  async lists(): Promise<ProjectedLists> {
    const projection = this.#lists === undefined ? await this.#context.projections.get() : undefined;
    return (this.#lists ??= new ProjectedLists(projection as Projection)); // one of the two is there
  }

  collect({ index }: ScriptSnapshot): () => Promise<void> {
    const { tip } = index;
    const isMoved = this.#tip?.hash.equals(tip.hash) === false;
    this.#tip = tip;
    if (isMoved) this.#difficulty = difficultyFields(this.#context, index);
    return () => {
      // Nobody else has to wait for the projection.
      if (isMoved && this.#listeners.length > 0) {
        this.#rounds.awaitPool();
        this.#update();
      }
      return Promise.resolve();
    };
  }

  #look(): void {
    if (this.#context.projections.poolRevision === this.#known) return;
    if (this.#listeners.length > 0) this.#update();
    else this.#beginAnew();
  }

  /** Nobody listens: who begins to is answered from the present projection, or a later one. */
  #beginAnew(): void {
    this.#known = this.#context.projections.revision;
    this.#lists = undefined;
  }

  #update(): void {
    this.#isDue = true;
    if (!this.#updating) void this.#updateAll();
  }

  /** Never rejects. What fails is tried again when the pool changes, or with the next block. */
  async #updateAll(): Promise<void> {
    this.#updating = true;
    while (this.#isDue) {
      this.#isDue = false;
      await this.#updateOnce().catch(() => undefined);
      await this.#rounds.poolTold();
    }
    this.#updating = false;
  }

  async #updateOnce(): Promise<void> {
    const context = this.#context;
    const difficulty = this.#difficulty;
    const projection = await context.projections.get();
    const lists = this.#lists?.projection === projection ? this.#lists : new ProjectedLists(projection, this.#lists);
    const isNew = lists !== this.#lists;
    const [stats, projected] = [await poolFields(context), await projectedFields(context)];
    const blocks = new Map<number, Buffer>();
    // Until every block is there into which somebody looks by now.
    for (let next = this.#missing(blocks, isNew); next !== undefined; next = this.#missing(blocks, isNew))
      blocks.set(next, await lists.change(next));
    this.#lists = lists;
    this.#known = projection.revision;
    if (this.#difficulty === difficulty) this.#difficulty = [];
    const places = new ProjectedPlaces(projection);
    for (const [i, listener] of this.#listeners.entries()) {
      notify(listener, (one) => {
        one.poolChanged({ places, stats: [...stats, ...difficulty], projected, blocks });
      });
      if (i % NOTIFIED_IN_TURN === NOTIFIED_IN_TURN - 1) await setImmediate();
    }
  }

  get #listeners(): PoolListener[] {
    return [...this.#rounds.members].filter(({ awaitsPool }) => awaitsPool);
  }

  #missing(blocks: ReadonlyMap<number, Buffer>, isNew: boolean): number | undefined {
    const tracked = isNew ? [...this.#rounds.members].flatMap(({ trackedBlock }) => trackedBlock ?? []) : [];
    return tracked.find((block) => !blocks.has(block));
  }
}
