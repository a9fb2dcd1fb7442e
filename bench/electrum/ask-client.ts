// A client in a separate process, so that it shares no event loop with a server: sends prepared requests over many connections, and knows
// of replies only where they end and whether they are errors.

import { fork, type ChildProcess } from 'node:child_process';
import { extname, join } from 'node:path';
import { childReply } from '../clients/child-reply';

export interface Request {
  /** What is sent. */
  readonly text: string;
  /** Number of replies to it. */
  readonly replies: number;
}

/** Lines of the Electrum protocol after `server.version`, each request on a connection of its own (`session`), or HTTP. */
export type Way = 'line' | 'session' | 'http';

export interface AskOrder {
  readonly port: number;
  readonly way: Way;
  /** Asked in turn, again from the first one after the last. */
  readonly requests: readonly Request[];
  /** Total number of requests. */
  readonly amount: number;
  readonly connections: number;
  /** Requests without a reply on each connection, at most. */
  readonly outstanding: number;
  /** Whether the replies are wanted. */
  readonly isShown?: boolean;
}

export interface Asked {
  /** Replies with an error. */
  readonly refused: number;
  /** Length of the last reply. */
  readonly bytes: number;
  /** The replies as text in order of their arrival, if they are wanted. */
  readonly replies: readonly string[];
}

/** What the process says: that its connections are open, or how it went. */
export type AskMessage = 'ready' | { readonly asked: Asked } | { readonly failed: string };

export class AskProcess {
  readonly #child: ChildProcess = fork(join(__dirname, `ask-process${extname(__filename)}`), { serialization: 'advanced' });

  /**
   * `onReady`: called when all connections are open, right before the first request.
   * @throws Error when a connection ends or a reply does not come
   */
  async ask(order: AskOrder, onReady: () => void = () => undefined): Promise<Asked> {
    await this.#say(order);
    onReady();
    const said = await this.#say('go');
    if (said === 'ready') throw new Error('expected replies, the client is ready again');
    return said.asked;
  }

  async #say(order: AskOrder | 'go'): Promise<Exclude<AskMessage, { readonly failed: string }>> {
    const said = (await childReply(this.#child, order)) as AskMessage;
    if (said !== 'ready' && 'failed' in said) throw new Error(said.failed);
    return said;
  }

  close(): void {
    this.#child.kill();
  }
}
