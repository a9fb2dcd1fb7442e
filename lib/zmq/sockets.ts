// The sockets of ZeroMQ, and the messages on them: topic, body, and the sequence number, which counts for each topic and address. The
// package is loaded only when something is published.

import { messageOf } from '../system/error-text';
import { NotPublishedError } from './errors';
import type { Publisher } from 'zeromq';
import type { ZmqNotifier, Topic } from './topics';

/** What a subscriber sends are the prefixes of topics that it wants. */
const MOST_RECEIVED_BYTES = 256;

interface Channel {
  readonly socket: Publisher;
  /** Of the next message. */
  number: number;
}

export class Sockets {
  readonly #channels = new Map<Topic, Channel[]>();
  readonly #sockets = new Map<string, Publisher>();

  /** `notifiers`: in the order of the topics; those with the same address share a socket, which the first one sets up. @throws NotPublishedError */
  async open(notifiers: readonly ZmqNotifier[]): Promise<void> {
    for (const notifier of notifiers) {
      const { topic, address } = notifier;
      let socket = this.#sockets.get(address);
      if (socket === undefined) {
        socket = await newSocket(notifier);
        this.#sockets.set(address, socket);
        await bind(socket, notifier);
      }
      const channels = this.#channels.get(topic);
      if (channels === undefined) this.#channels.set(topic, [{ socket, number: 0 }]);
      else channels.push({ socket, number: 0 });
    }
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  has(topic: Topic): boolean {
    return this.#channels.has(topic);
  }

  /** A subscriber that has too many messages waiting misses this one. The bytes must not change afterwards. */
  async send(topic: Topic, body: Buffer): Promise<void> {
    for (const channel of this.#channels.get(topic) ?? []) {
      const number = Buffer.alloc(4);
      number.writeUInt32LE(channel.number);
      channel.number = (channel.number + 1) >>> 0;
      await channel.socket.send([topic, body, number]);
    }
  }
}

/** @throws NotPublishedError */
async function newSocket({ topic, address, hwm }: ZmqNotifier): Promise<Publisher> {
  try {
    const { Publisher } = await import('zeromq');
    return new Publisher({
      sendHighWaterMark: hwm,
      maxMessageSize: MOST_RECEIVED_BYTES,
      tcpKeepalive: 1,
      linger: 0,
      ipv6: address.startsWith('tcp://[')
    });
  } catch (error) {
    throw new NotPublishedError(topic, `needs the package zeromq beside bcoin-rest: ${messageOf(error)}`, { cause: error });
  }
}

/** @throws NotPublishedError */
async function bind(socket: Publisher, { topic, address }: ZmqNotifier): Promise<void> {
  try {
    await socket.bind(address);
  } catch (error) {
    throw new NotPublishedError(topic, `cannot listen on ${address}: ${messageOf(error)}`, { cause: error });
  }
}
