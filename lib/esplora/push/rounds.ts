// Rounds of messages: what passes tell a client of one block, or of one moment of the pool, is sent together. The last of the notifiers.

import { setImmediate } from 'node:timers/promises';
import { notify, type Listener } from '../../answers/updates/listener';
import type { Notifier } from '../../answers/updates/settled-passes';
import type { ScriptSnapshot } from '../../scripts/types';

/** Members that are notified, or whose rounds end, in one turn of the event loop. */
export const NOTIFIED_IN_TURN = 16;

/** Whoever gathers what it is told, and sends it as one message. */
export interface RoundMember extends Listener {
  /** Whether it wants to know of the pool: after a block its message is not sent before that. */
  readonly awaitsPool: boolean;
  endRound(): void;
}

/** A notifier that may need several passes for what one block changes. */
export interface GradualNotifier {
  /** How many more passes it needs for what waits now. */
  readonly passesLeft: number;
}

export class Rounds<Member extends RoundMember> implements Notifier {
  readonly #gradual: readonly GradualNotifier[];
  readonly #members = new Set<Member>();
  /** The hash of the tip at the last pass. */
  #tip: Buffer | undefined;
  /** How many passes the round under way still takes after this one; undefined: there is none. */
  #passesLeft: number | undefined;
  #awaitsPool = false;

  constructor(gradual: readonly GradualNotifier[]) {
    this.#gradual = gradual;
  }

  /** Clients: each is sent what a round has for it. */
  get size(): number {
    return this.#members.size;
  }

  get members(): ReadonlySet<Member> {
    return this.#members;
  }

  add(member: Member): void {
    this.#members.add(member);
  }

  delete(member: Member): void {
    this.#members.delete(member);
  }

  /** The others have collected already. What comes while a round is under way belongs to the next one, unless it is a block. */
  collect({ index: { tip } }: ScriptSnapshot): () => Promise<void> {
    const left = Math.max(...this.#gradual.map(({ passesLeft }) => passesLeft));
    const isSame = this.#tip?.equals(tip.hash) === true && this.#passesLeft !== undefined;
    this.#tip = tip.hash;
    this.#passesLeft = isSame ? Math.min((this.#passesLeft ?? 0) - 1, left) : left;
    return async () => {
      if ((this.#passesLeft ?? 0) > 0) return;
      this.#passesLeft = undefined;
      await this.#end();
    };
  }

  /** Members that await the pool are left to `poolTold`, which must be called. */
  awaitPool(): void {
    this.#awaitsPool = true;
  }

  /** What members were told of the pool is sent, during a round with what else it brings. */
  async poolTold(): Promise<void> {
    this.#awaitsPool = false;
    await this.#end();
  }

  async #end(): Promise<void> {
    for (const [i, member] of [...this.#members].entries()) {
      // A pass that has begun meanwhile ends the round.
      if (this.#passesLeft !== undefined) return;
      if (this.#awaitsPool && member.awaitsPool) continue;
      notify(member, (one) => {
        one.endRound();
      });
      if (i % NOTIFIED_IN_TURN === NOTIFIED_IN_TURN - 1) await setImmediate();
    }
  }
}
