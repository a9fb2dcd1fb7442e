// The replies to one message: replies to a batch are sent together.

import { batchReply, lengthOf, type Reply } from './message';
import type { Outflow } from '../../server/sockets/outbox';

export interface Replies {
  /** Bytes of replies that wait for others of their batch. */
  readonly bytes: number;
  /** `at`: the request's place in the message. `reply`: undefined for a notification. */
  add(at: number, reply: Reply | undefined): void;
}

/** Sends the reply to a message of one request. */
export class SingleReply implements Replies {
  readonly #send: (reply: Reply) => void;

  constructor(send: (reply: Reply) => void) {
    this.#send = send;
  }

  get bytes(): number {
    return 0;
  }

  add(_: number, reply: Reply | undefined): void {
    if (reply !== undefined) this.#send(reply);
  }
}

/** Keeps replies until all are ready, in the order of the requests, on which some clients rely. They count as replies on their way. */
export class Batch implements Replies {
  readonly #outflow: Outflow;
  readonly #finish: (reply: Reply | undefined) => void;
  readonly #replies: (Reply | undefined)[];
  #missing: number;
  #bytes = 0;

  /** `finish`: called with undefined if all requests are notifications. */
  constructor(count: number, outflow: Outflow, finish: (reply: Reply | undefined) => void) {
    this.#missing = count;
    this.#replies = Array<undefined>(count).fill(undefined);
    this.#outflow = outflow;
    this.#finish = finish;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(at: number, reply: Reply | undefined): void {
    this.#missing--;
    if (reply !== undefined) {
      const length = lengthOf(reply);
      this.#replies[at] = reply;
      this.#bytes += length;
      this.#outflow.countOthers(length);
    }
    if (this.#missing > 0) return;
    this.#outflow.countOthers(-this.#bytes);
    const replies = this.#replies.filter((one) => one !== undefined);
    this.#finish(replies.length === 0 ? undefined : batchReply(replies));
  }
}
