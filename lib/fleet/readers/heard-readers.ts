// The readers of a fleet, by what they tell about themselves.

import { Subject, type Observable } from 'rxjs';
import { MalformedMessageError } from '../messages/errors';
import { Listener, type Listening } from '../log/listener';
import { decodeState, type ReaderState } from './announcement';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Subjects } from '../log/subjects';

/** A reader that has said nothing for this long is not counted any more. */
const SILENT_MS = 3_000;

/** Readers that are remembered. */
const MOST_READERS = 1_000;

export interface HeardReader {
  readonly id: string;
  readonly state: ReaderState;
  /** By the clock of `performance`. */
  readonly heardAt: number;
}

export class HeardReaders {
  /** Emits whenever one has told of itself. */
  readonly heard$: Observable<void>;
  readonly #heard = new Subject<void>();
  readonly #subjects: Pick<Subjects, 'readers'>;
  readonly #readers = new Map<string, HeardReader>();
  #listening: Listening | undefined;

  constructor(subjects: Pick<Subjects, 'readers'>) {
    this.#subjects = subjects;
    this.heard$ = this.#heard.asObservable();
  }

  /** Listens on a connection, in the place of the one before. */
  listen(connection: NatsConnection): void {
    this.#listening?.close();
    this.#listening = new Listener(connection).listen(this.#subjects.readers, ({ subject, data }) => {
      this.#note(subject, data);
    });
  }

  /** Those that were heard lately. */
  get present(): HeardReader[] {
    const since = performance.now() - SILENT_MS;
    for (const [id, { heardAt }] of this.#readers) if (heardAt < since) this.#readers.delete(id);
    return [...this.#readers.values()];
  }

  #note(subject: string, data: Uint8Array): void {
    const id = subject.slice(subject.lastIndexOf('.') + 1);
    if (!this.#readers.has(id) && this.#readers.size >= MOST_READERS && this.present.length >= MOST_READERS) return;
    try {
      this.#readers.set(id, { id, state: decodeState(data), heardAt: performance.now() });
    } catch (error) {
      // Somebody else may write there as well.
      if (error instanceof MalformedMessageError) return;
      throw error;
    }
    this.#heard.next();
  }
}
