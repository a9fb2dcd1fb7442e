// The messages that the receiver of one order has yet to take: `<id>.webhooks.json` in the merchant's folder. A message is in the file
// before it is sent, and until the receiver has taken it.

import { randomBytes } from 'node:crypto';
import { ORDER_STATUSES } from '../orders/progress';
import { objectOf, undamaged } from '../orders/record';
import type { OrderStatus } from '../orders/progress';
import type { PaymentStorage } from '../orders/storage';

export interface Message {
  /** Unique, even after the order was forgotten: receivers recognize by it a message that comes twice. */
  readonly id: string;
  readonly createdAt: Date;
  readonly status: OrderStatus;
  readonly body: string;
}

export interface Outbox {
  readonly url: string;
  /** What the last message said. */
  readonly status?: OrderStatus;
  /** The oldest first. */
  readonly waiting: readonly Message[];
}

/** Of one order. The last one makes room for the next: in the end the receiver knows the last status. */
const MOST_WAITING = 32;

/** Bytes. */
const MESSAGE_ID_SIZE = 8;

const ENDING = '.webhooks.json';

/** The outbox with one message more. */
export function withMessage(outbox: Outbox, id: string, message: Omit<Message, 'id'>): Outbox {
  const kept = outbox.waiting.slice(0, MOST_WAITING - 1);
  const messageId = `msg_${id}_${randomBytes(MESSAGE_ID_SIZE).toString('hex')}`;
  return { ...outbox, status: message.status, waiting: [...kept, { id: messageId, ...message }] };
}

/** The outbox without its first message. */
export function withoutFirst(outbox: Outbox): Outbox {
  return { ...outbox, waiting: outbox.waiting.slice(1) };
}

export class OutboxStore {
  readonly #storage: PaymentStorage;

  constructor(storage: PaymentStorage) {
    this.#storage = storage;
  }

  /** Of which orders there are outboxes. */
  async ids(): Promise<string[]> {
    const names = await this.#storage.names();
    return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
  }

  /** @throws DamagedRecordError */
  async read(id: string): Promise<Outbox | undefined> {
    const name = `${id}${ENDING}`;
    const bytes = await this.#storage.read(name);
    return bytes && undamaged(name, bytes, readOutbox);
  }

  async save(id: string, { url, status, waiting }: Outbox): Promise<void> {
    const json = {
      url,
      status,
      waiting: waiting.map((message) => ({ ...message, createdAt: message.createdAt.toISOString() }))
    };
    await this.#storage.write(`${id}${ENDING}`, Buffer.from(`${JSON.stringify(json, undefined, 2)}\n`));
  }

  async remove(id: string): Promise<void> {
    await this.#storage.remove(`${id}${ENDING}`);
  }
}

function readOutbox(json: unknown): Outbox {
  const { url, status, waiting } = objectOf(json);
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('a URL expected');
  if (!Array.isArray(waiting)) throw new Error('a list of messages expected');
  return {
    url,
    ...(status !== undefined && { status: statusOf(status) }),
    waiting: waiting.map(messageOf)
  };
}

function messageOf(value: unknown): Message {
  const { id, createdAt, status, body } = objectOf(value);
  const made = new Date(String(createdAt));
  if (typeof id !== 'string' || typeof body !== 'string' || Number.isNaN(made.getTime())) throw new Error('a message expected');
  return { id, createdAt: made, status: statusOf(status), body };
}

function statusOf(value: unknown): OrderStatus {
  const status = ORDER_STATUSES.find((one) => one === value);
  if (status === undefined) throw new Error('a status of an order expected');
  return status;
}
