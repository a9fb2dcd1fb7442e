// A subscriber of zeromq's own.

import { setTimeout } from 'node:timers/promises';
import { Subscriber } from 'zeromq';
import { until } from '../support/until';

export interface Message {
  readonly topic: string;
  /** Of the message. */
  readonly number: number;
  readonly body: Buffer;
}

/** A publisher does not say when it has a subscription. */
const SUBSCRIBED_MS = 300;

export class TestSubscriber {
  readonly messages: Message[] = [];
  readonly #socket = new Subscriber({ linger: 0, receiveHighWaterMark: 0 });
  #reading: Promise<void> = Promise.resolve();

  /** `prefixes`: of the topics that it gets. */
  static async open(address: string, prefixes: readonly string[] = ['']): Promise<TestSubscriber> {
    const subscriber = new TestSubscriber();
    subscriber.#socket.subscribe(...prefixes);
    subscriber.#socket.connect(address);
    subscriber.#reading = subscriber.#read();
    await setTimeout(SUBSCRIBED_MS);
    return subscriber;
  }

  /** Waits for so many messages. */
  async received(count: number): Promise<readonly Message[]> {
    await until(() => this.messages.length >= count);
    return this.messages;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#reading;
  }

  async #read(): Promise<void> {
    for await (const [topic, body, number] of this.#socket)
      this.messages.push({ topic: String(topic), number: (number as Buffer).readUInt32LE(), body: body as Buffer });
  }
}
