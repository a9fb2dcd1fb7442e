// Hostile clients beside an honest one: what they do is judged by what happens to the node and to the honest client's answers.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { compiledProgram } from '../support/process/compiled';
import { ask } from '../support/client/http';
import { LineClient } from '../support/client/line-client';
import type { Measured, MeteredFacts, MeteredReply } from '../support/programs/metered-node';

/** A node in a process of its own (metered-node.ts). */
class MeteredNode {
  readonly #child: ChildProcess;
  /** Rejects when the process ends. */
  readonly #ended: Promise<never>;

  private constructor(
    child: ChildProcess,
    ended: Promise<never>,
    readonly facts: MeteredFacts
  ) {
    this.#child = child;
    this.#ended = ended;
  }

  /** `settings`: options of the node by their names in the configuration file. */
  static async open(settings: Readonly<Record<string, unknown>> = {}): Promise<MeteredNode> {
    const child = fork(compiledProgram('metered-node'), [JSON.stringify(settings)]);
    const ended = endOf(child);
    ended.catch(() => undefined);
    const [reply] = (await Promise.race([once(child, 'message'), ended])) as [MeteredReply];
    if (!('facts' in reply)) throw new Error('expected the node to say what it holds');
    return new MeteredNode(child, ended, reply.facts);
  }

  /** What happened since the last call. */
  async measure(): Promise<Measured> {
    this.#child.send('measure');
    const [reply] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [MeteredReply];
    if (!('measured' in reply)) throw new Error('expected a measurement');
    return reply.measured;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

async function endOf(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`the node's process ended with ${String(code)}`);
}

/** What a server with a full queue says, for clients to try again. */
const REFUSAL = 'Work queue depth exceeded';

/** Between two rounds of questions. */
const PAUSE_MS = 25;

/** An honest client of three interfaces, which asks the same questions all the time and compares the answers. */
class Canary {
  /** Answers that were not those of the beginning, nor refusals. */
  readonly wrong: string[] = [];
  /** Right answers so far. */
  answers = 0;
  readonly #facts: MeteredFacts;
  readonly #client: LineClient;
  #expected: readonly string[] = [];
  #isClosed = false;
  #singing: Promise<void> = Promise.resolve();

  private constructor(facts: MeteredFacts, client: LineClient) {
    this.#facts = facts;
    this.#client = client;
  }

  static async of({ facts }: MeteredNode): Promise<Canary> {
    const canary = new Canary(facts, await LineClient.connect(facts.electrum));
    canary.#expected = await canary.#round();
    canary.#singing = canary.#sing();
    return canary;
  }

  /** Resolves when all questions have been asked and answered once more. */
  async sings(): Promise<void> {
    const before = this.answers;
    while (!this.#isClosed && this.answers < before + 2 * this.#expected.length) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#singing;
    this.#client.socket.destroy();
  }

  async #sing(): Promise<void> {
    while (!this.#isClosed) {
      const answers = await this.#round().catch((error: unknown) => [String(error)]);
      for (const [i, answer] of answers.entries()) {
        if (answer === this.#expected[i]) this.answers++;
        else if (answer.trim() !== REFUSAL) this.wrong.push(answer.slice(0, 300));
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #round(): Promise<string[]> {
    const { http, txid, blockHash, electrumHash, scripthash } = this.#facts;
    const bodies = [`/rest/tx/${txid}.hex`, `/rest/headers/1/${blockHash}.hex`, `/api/scripthash/${scripthash}`].map(async (path) =>
      (await ask(http, { path })).body.toString()
    );
    const balance = this.#client.ask('blockchain.scripthash.get_balance', [electrumHash]);
    return [...(await Promise.all(bodies)), JSON.stringify(await balance)];
  }
}

/**
 * One turn of the event loop reads as much as 64 kB from every connection. Includes compiling code, and collecting garbage, and a processor
 * whose other half is busy.
 */
const MOST_HELD_MS = 500;

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
  /** Resolves when it stands; what it resolves to ends it. Undefined: it is over, and nothing of it stands. */
  readonly begin: (facts: MeteredFacts) => Promise<(() => void) | undefined>;
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
        const during = end && (await this.#meanwhile(name, before));
        end?.();
        const { heldMs, bytes } = await this.#afterwards(before);
        expect(this.#canary.wrong, name).to.deep.equal([]);
        expect(bytes - before, `${name}: bytes kept`).to.be.below(MOST_KEPT_BYTES);
        held = Math.min(held, Math.max(heldMs, during?.heldMs ?? 0));
      }
      expect(held, `${name}: ms for which the event loop was held`).to.be.below(MOST_HELD_MS);
    }
  }

  async #meanwhile(name: string, before: number): Promise<Measured> {
    await this.#canary.sings();
    const measured = await this.#node.measure();
    expect(measured.bytes - before, `${name}: bytes used meanwhile`).to.be.below(MOST_USED_BYTES);
    return measured;
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
