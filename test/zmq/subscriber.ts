// A subscriber of zeromq's own.

import { setTimeout } from 'node:timers/promises';
import { Subscriber } from 'zeromq';
import { until } from '../support/expectations/until';

export interface Message {
  readonly topic: string;
  /** Of the message. */
  readonly number: number;
  readonly body: Buffer;
}

/** Between the handshake and when the publisher has read the subscription, which it does not say. */
const SUBSCRIBED_MS = 100;

/** Subscribes to topics that begin so, and resolves when the publisher should know. */
export async function subscribeTo(address: string, socket: Subscriber, prefixes: readonly string[] = ['']): Promise<void> {
  const greeted = new Promise((resolve) => {
    socket.events.on('handshake', resolve);
  });
  socket.subscribe(...prefixes);
  socket.connect(address);
  await greeted;
  await setTimeout(SUBSCRIBED_MS);
}

export class TestSubscriber {
  readonly messages: Message[] = [];
  readonly #socket = new Subscriber({ linger: 0, receiveHighWaterMark: 0 });
  #reading: Promise<void> = Promise.resolve();

  /** `prefixes`: of the topics that it gets. */
  static async open(address: string, prefixes: readonly string[] = ['']): Promise<TestSubscriber> {
    const subscriber = new TestSubscriber();
    await subscribeTo(address, subscriber.#socket, prefixes);
    subscriber.#reading = subscriber.#read();
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
