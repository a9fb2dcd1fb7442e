// Tells the fleet how far a reader is: once a second, and whenever somebody waits for it.

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { encodeState, type ReaderState } from './announcement';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Subjects } from '../log/subjects';

const EVERY_MS = 1_000;

export interface AnnouncerParts {
  readonly subjects: Pick<Subjects, 'reader'>;
  /** undefined while there is none. */
  readonly connection: () => NatsConnection | undefined;
  readonly state: () => ReaderState;
}

export class Announcer {
  /** Of this process: the machine's name and some random digits. */
  readonly id = `${hostname().replaceAll(/[^\w-]/g, '_')}-${randomBytes(3).toString('hex')}`;
  readonly #parts: AnnouncerParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  open(): void {
    this.#timer = setInterval(() => {
      this.tell();
    }, EVERY_MS);
  }

  /** Tells the state now; nothing without a connection. */
  tell(): void {
    const { subjects, connection, state } = this.#parts;
    const known = connection();
    if (known === undefined || known.isClosed()) return;
    known.publish(subjects.reader(this.id), encodeState(state()));
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
