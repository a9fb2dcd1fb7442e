// Writes into the log. Each record is fenced: the server takes it only as the one after the last that the writer knows of (compare and set). A
// writer that slept, or was cut off, while another one wrote gets a FencedError, whatever any clock says. Records are on their way together, so
// when another one writes meanwhile, some may come to lie behind its record; readers see that by the term.

import { setTimeout } from 'node:timers/promises';
import { untilAborted } from './abortable';
import { FencedError, LogGoneError, NatsAwayError } from './errors';
import { loadNats } from './nats';
import { natsError } from './stream';
import type { NatsBus } from './connection';
import type { FleetLog } from './log-reader';
import type { RecordKind, Subjects } from './subjects';

/** A record on its way. */
export interface Outgoing {
  readonly kind: RecordKind;
  readonly bytes: Buffer;
}

const ACKNOWLEDGE_MS = 3_000;
const RETRY_MS = 200;
/** Servers that elect a leader take no records for some seconds. */
const STANDSTILL_MS = 5_000;

/** JetStream's error for a record that is not the next one. */
const NOT_NEXT = 10_071;

export class LogWriter {
  readonly #bus: NatsBus;
  readonly #subjects: Subjects;
  readonly #log: FleetLog;
  readonly #standsStill: (error: Error) => void;
  #last: number;

  /**
   * `log`: the writer has read it up to its end. `standsStill`: called when the servers answer, but have not taken a record for a while, once for
   * each.
   */
  constructor(bus: NatsBus, subjects: Subjects, log: FleetLog, standsStill: (error: Error) => void) {
    this.#bus = bus;
    this.#subjects = subjects;
    this.#log = log;
    this.#standsStill = standsStill;
    this.#last = log.last;
  }

  /** Sequence of the last record that is known to be written. */
  get last(): number {
    return this.#last;
  }

  /** Bytes of the longest record that the servers take. */
  get mostBytes(): number {
    return this.#bus.mostBytes();
  }

  /**
   * Writes records one after the other, and resolves once the last one is acknowledged. While NATS is away it goes on trying until the
   * signal. Must not be called again before it has ended.
   * @throws FencedError, LogGoneError, NatsRefusedError; the signal's reason
   */
  async append(records: readonly Outgoing[], signal: AbortSignal): Promise<void> {
    let left = records;
    let isFirstIn = false;
    let failing: { readonly since: number; isTold: boolean } | undefined;
    while (left.length > 0) {
      // The first one alone: the place of a later one may be right after another writer's record, which has fenced this writer off.
      const sent: readonly Outgoing[] = isFirstIn ? left : left.slice(0, 1);
      const published = sent.map((record, i) => this.#publish(record, this.#last + i));
      const outcomes = await untilAborted(Promise.allSettled(published), signal);
      const refused = outcomes.findIndex(({ status }) => status === 'rejected');
      const count = refused < 0 ? sent.length : refused;
      this.#last += count;
      left = left.slice(count);
      const failure = outcomes[refused];
      isFirstIn = failure?.status !== 'rejected';
      if (count > 0) failing = undefined;
      if (failure?.status !== 'rejected') continue;
      const { length } = left;
      const error = await natsError('the log cannot be written', failure.reason);
      left = await this.#afterFailure(left, failure.reason, error, signal);
      if (left.length < length) failing = undefined;
      // The first time it may be the acknowledgement that was lost.
      else if (failing === undefined) failing = { since: performance.now(), isTold: false };
      else {
        if (!failing.isTold && performance.now() - failing.since > STANDSTILL_MS) {
          failing.isTold = true;
          this.#standsStill(error);
        }
        await setTimeout(RETRY_MS, undefined, { signal });
      }
    }
  }

  async #publish({ kind, bytes }: Outgoing, after: number): Promise<void> {
    await this.#bus.jetstream.publish(this.#subjects.record[kind], bytes, { timeout: ACKNOWLEDGE_MS, expect: { lastSequence: after } });
  }

  /** The records that are still to be written: an acknowledgement may have been lost. */
  async #afterFailure(records: readonly Outgoing[], caught: unknown, error: Error, signal: AbortSignal): Promise<readonly Outgoing[]> {
    const { jetstream } = await loadNats();
    const isFence = caught instanceof jetstream.JetStreamApiError && caught.code === NOT_NEXT;
    if (!isFence && !(error instanceof NatsAwayError)) throw error;
    for (;;) {
      try {
        return await untilAborted(this.#withoutWritten(records, isFence), signal);
      } catch (again) {
        // A connection that was closed does not come back.
        if (!(again instanceof NatsAwayError) || this.#bus.connection.isClosed()) throw again;
        await setTimeout(RETRY_MS, undefined, { signal });
      }
    }
  }

  /** Leaves those out that are in the log after all. `isFence`: the server said that something is there. */
  async #withoutWritten(records: readonly Outgoing[], isFence: boolean): Promise<readonly Outgoing[]> {
    for (const [i, { bytes }] of records.entries()) {
      const written = await this.#log.bytes(this.#last + 1);
      if (written === undefined) {
        if (isFence && i === 0) await this.#checkEnd();
        return records.slice(i);
      }
      if (!bytes.equals(written)) throw new FencedError('another node has written into the log');
      this.#last++;
    }
    return [];
  }

  /** The server refused a record as not the next one, but nothing is at its place: the log may be another one, or shorter than it was. */
  async #checkEnd(): Promise<void> {
    const { created, state } = await this.#info();
    if (created !== this.#log.incarnation) throw new LogGoneError('another log is in the place of this one');
    if (state.last_seq !== this.#last) throw new FencedError(`the log ends at record ${state.last_seq}, and not at ${this.#last}`);
  }

  async #info(): Promise<{ readonly created: string; readonly state: { readonly last_seq: number } }> {
    try {
      return await this.#bus.manager.streams.info(this.#subjects.stream);
    } catch (error) {
      throw await natsError('the log cannot be read', error);
    }
  }
}
