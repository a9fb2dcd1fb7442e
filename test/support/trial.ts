// Hostile clients beside an honest one: what they do is judged by what happens to the node and to the honest client's answers.

import { expect } from 'chai';
import { Canary, MeteredNode } from './metered';
import type { Measured, MeteredFacts } from './metered-node';

/** One turn of the event loop reads as much as 64 kB from every connection. Includes compiling code, and collecting garbage. */
const MOST_HELD_MS = 250;

const TRIALS = 3;

/** Caches, within their bounds, may grow. */
const MOST_KEPT_BYTES = 48_000_000;

/** How often the memory that is kept is measured. */
const MOST_ROUNDS = 20;

/** Everything that has bounds of its own together: unfinished messages, and replies that nobody reads. */
const MOST_USED_BYTES = 300_000_000;

/** What hostile clients do. */
export interface Attack {
  readonly name: string;
  /** Resolves when it stands; what it resolves to ends it. */
  readonly begin: (facts: MeteredFacts) => Promise<() => void>;
}

export class Trial {
  readonly #node: MeteredNode;
  readonly #canary: Canary;

  private constructor(node: MeteredNode, canary: Canary) {
    this.#node = node;
    this.#canary = canary;
  }

  /** `settings`: options of the node by their names in the configuration file. */
  static async open(settings: Readonly<Record<string, unknown>>): Promise<Trial> {
    const node = await MeteredNode.open(settings);
    return new Trial(node, await Canary.of(node));
  }

  get facts(): MeteredFacts {
    return this.#node.facts;
  }

  /** Fails if an attack holds the event loop, uses or keeps memory, or changes an answer that the honest client gets. */
  async judge(attacks: readonly Attack[]): Promise<void> {
    await this.#node.measure();
    const { bytes: before } = await this.#node.measure();
    for (const { name, begin } of attacks) {
      let held = Infinity;
      // A busy machine makes everything slow now and then.
      for (let trial = 0; trial < TRIALS && held >= MOST_HELD_MS; trial++) {
        const end = await begin(this.facts);
        await this.#canary.sings();
        const during = await this.#node.measure();
        end();
        const { heldMs, bytes } = await this.#afterwards(before);
        expect(this.#canary.wrong, name).to.deep.equal([]);
        expect(during.bytes - before, `${name}: bytes used meanwhile`).to.be.below(MOST_USED_BYTES);
        expect(bytes - before, `${name}: bytes kept`).to.be.below(MOST_KEPT_BYTES);
        held = Math.min(held, Math.max(heldMs, during.heldMs));
      }
      expect(held, `${name}: ms for which the event loop was held`).to.be.below(MOST_HELD_MS);
    }
  }

  /** Memory of clients that have left is released soon, not at once. */
  async #afterwards(before: number): Promise<Measured> {
    for (let heldMs = 0, round = 1; ; round++) {
      await this.#canary.sings();
      const measured = await this.#node.measure();
      heldMs = Math.max(heldMs, measured.heldMs);
      if (measured.bytes - before < MOST_KEPT_BYTES || round === MOST_ROUNDS) return { ...measured, heldMs };
    }
  }

  async close(): Promise<void> {
    await this.#canary.close();
    await this.#node.close();
  }
}
