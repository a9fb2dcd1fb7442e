// A node in a process of its own (metered-node.ts), and an honest client of it.

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { compiledProgram } from './compiled';
import { LineClient } from './line-client';
import { ask } from './http';
import type { Measured, MeteredFacts, MeteredReply } from './metered-node';

export class MeteredNode {
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

/** An honest client of three interfaces, which asks the same questions all the time and compares the answers. */
export class Canary {
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
      await new Promise((resolve) => setTimeout(resolve, 1));
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
