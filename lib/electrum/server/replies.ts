// The replies to one message: those to a batch go together.

import { batchReply } from './message';
import type { Outflow } from '../../sockets/outbox';

export interface Replies {
  /** Of replies that wait for others. */
  readonly bytes: number;
  /** `at`: the request's place in the message. undefined: a reply that nobody waits for. */
  add(at: number, reply: Buffer | undefined): void;
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

  add(_: number, reply: Buffer | undefined): void {
    if (reply !== undefined) this.#send(reply);
  }
}

/** Keeps replies until all are there, in the order of the requests: some clients look at nothing else. They count as replies on their way. */
export class Batch implements Replies {
  readonly #outflow: Outflow;
  readonly #finish: (reply: Buffer | undefined) => void;
  readonly #replies: (Buffer | undefined)[];
  #missing: number;
  #bytes = 0;

  /** `finish`: undefined, when nobody waits for anything. */
  constructor(count: number, outflow: Outflow, finish: (reply: Buffer | undefined) => void) {
    this.#missing = count;
    this.#replies = Array<undefined>(count).fill(undefined);
    this.#outflow = outflow;
    this.#finish = finish;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(at: number, reply: Buffer | undefined): void {
    this.#missing--;
    if (reply !== undefined) {
      this.#replies[at] = reply;
      this.#bytes += reply.length;
      this.#outflow.countOthers(reply.length);
    }
    if (this.#missing > 0) return;
    this.#outflow.countOthers(-this.#bytes);
    const replies = this.#replies.filter((one) => one !== undefined);
    this.#finish(replies.length === 0 ? undefined : batchReply(replies));
  }
}
