// The replies to one message: those to a batch go together.

import { batchReply } from './message';
import type { Outflow } from '../../sockets/outbox';

export interface Replies {
  /** Of replies that wait for others. */
  readonly bytes: number;
  /** undefined: one that nobody waits for. */
  add(reply: Buffer | undefined): void;
}

/** Sends the reply to a message of one request. */
export class SingleReply implements Replies {
  readonly #send: (reply: Buffer) => void;

  constructor(send: (reply: Buffer) => void) {
    this.#send = send;
  }

  get bytes(): number {
    return 0;
  }

  add(reply: Buffer | undefined): void {
    if (reply !== undefined) this.#send(reply);
  }
}

/** Keeps replies until all are there. They count as replies on their way. */
export class Batch implements Replies {
  readonly #outflow: Outflow;
  readonly #finish: (reply: Buffer | undefined) => void;
  readonly #replies: Buffer[] = [];
  #missing: number;
  #bytes = 0;

  /** `finish`: undefined, when nobody waits for anything. */
  constructor(count: number, outflow: Outflow, finish: (reply: Buffer | undefined) => void) {
    this.#missing = count;
    this.#outflow = outflow;
    this.#finish = finish;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(reply: Buffer | undefined): void {
    this.#missing--;
    if (reply !== undefined) {
      this.#replies.push(reply);
      this.#bytes += reply.length;
      this.#outflow.countOthers(reply.length);
    }
    if (this.#missing > 0) return;
    this.#outflow.countOthers(-this.#bytes);
    this.#finish(this.#replies.length === 0 ? undefined : batchReply(this.#replies));
  }
}
