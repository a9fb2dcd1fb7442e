// Reads the log.

import { errorOf } from '../../follow/errors';
import { messageOf } from '../../system/error-text';
import { MalformedMessageError, NewerMessageError } from '../messages/errors';
import { decodeRecord } from '../messages/record-codec';
import { ForeignLogError, LogGapError, LogGoneError, LogSilentError, NoOwnRecordError } from './errors';
import { isNotPermitted, loadNats } from './nats';
import { findStream, natsError } from './stream';
import { kindOf, type Subjects } from './subjects';
import type { ConsumerMessages, JsMsg, StreamInfo } from '@nats-io/jetstream';
import type { BlockPoint } from '../../node/types/chain';
import type { ChainRecord, LogRecord } from '../messages/records';
import type { NatsBus } from './connection';

/** A record and its place. */
export interface LoggedRecord {
  readonly sequence: number;
  readonly record: LogRecord;
}

/** Where the chain is. */
export interface ChainWord {
  /** Of the record that says so. */
  readonly sequence: number;
  readonly tip: BlockPoint;
  readonly chainwork: bigint;
  /** Of the leader who said so, and of the record. */
  readonly term: number;
  readonly termId: Buffer;
}

export interface ReadOptions {
  /** Without a record for this long the reading ends with an error. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** How long a pull waits at the server: with the default of 30 s a reader stands still for long when its server is killed. */
const PULL_MS = 2_000;
/** Bytes that may be on their way. */
const PULL_BYTES = 16 * 1_024 * 1_024;
/** After this long the servers forget a reader that does not read. */
const FORGOTTEN_MS = 30_000;
const NANOSECONDS = 1_000_000;

/** `sequence`: of its record. `at`: by the clock of the node, in Unix milliseconds. `version`: of this package on the node. */
export interface LastBeat {
  readonly sequence: number;
  readonly term: number;
  readonly at: number;
  readonly version: string;
  readonly isSynced: boolean;
}

/** Records that are looked at, one by one, behind one that somebody else wrote about the chain: those of an hour or so. */
const MOST_LOOKED_BACK = 20_000;

/** A log as it is when it is opened. */
export class FleetLog {
  readonly #bus: NatsBus;
  readonly #subjects: Subjects;
  readonly #info: StreamInfo;
  #pending = 0;

  /** `info`: from `findStream` or `makeStream`. */
  constructor(bus: NatsBus, subjects: Subjects, info: StreamInfo) {
    this.#bus = bus;
    this.#subjects = subjects;
    this.#info = info;
  }

  /** @throws LogGoneError when there is none; ForeignLogError, NatsAwayError, NatsRefusedError */
  static async open(bus: NatsBus, subjects: Subjects, genesisHash: Buffer): Promise<FleetLog> {
    const info = await findStream(bus, subjects, genesisHash);
    if (info === undefined) throw new LogGoneError(`there is no log ${subjects.stream}: no node feeds it yet`);
    return new FleetLog(bus, subjects, info);
  }

  /** How many records there were behind the one that was read last. */
  get pending(): number {
    return this.#pending;
  }

  /** Differs for each log. */
  get incarnation(): string {
    return this.#info.created;
  }

  /** Sequence of the first record that is still there. */
  get first(): number {
    return this.#info.state.first_seq;
  }

  /** Sequence of the last record; 0: it is empty. */
  get last(): number {
    return this.#info.state.last_seq;
  }

  /** The chain's tip by the log's last record about it; undefined: there is none. @throws ForeignLogError, NewerMessageError, NatsAwayError */
  async lastOfChain(): Promise<ChainWord | undefined> {
    const found = await this.#lastOfChain();
    if (found === undefined) return undefined;
    const { term, termId, body } = found.record;
    return { sequence: found.sequence, term, termId, ...tipAfter(body as ChainRecord) };
  }

  /**
   * As `lastOfChain`, for writers: undefined also where only others have written, since readers begin with the first record that a node writes
   * after them. `onForeign`: called for those.
   */
  async lastOwnOfChain(onForeign: (error: NoOwnRecordError) => void = () => undefined): Promise<ChainWord | undefined> {
    try {
      return await this.lastOfChain();
    } catch (error) {
      if (!(error instanceof NoOwnRecordError)) throw error;
      onForeign(error);
      return undefined;
    }
  }

  /** The leader's last record about itself; undefined: nothing. @throws as `record` */
  async lastBeat(): Promise<LastBeat | undefined> {
    const found = await this.#stored({ last_by_subj: this.#subjects.record.beat });
    if (found?.record.body.type !== 'beat') return undefined;
    const { term, at, body } = found.record;
    return { sequence: found.sequence, term, at, version: body.release, isSynced: body.synced };
  }

  /** How much there is, and on how many servers each record is. */
  get size(): { readonly bytes: number; readonly copies: number } {
    return { bytes: this.#info.state.bytes, copies: this.#info.config.num_replicas };
  }

  /** The bytes of a record, from the server that writes the log; undefined: there is no such record. @throws NatsAwayError, LogGoneError */
  async bytes(sequence: number): Promise<Uint8Array | undefined> {
    return (await this.#message({ seq: sequence }))?.data;
  }

  /**
   * The records from a sequence on, without an end.
   * @throws LogGapError when one is missing; LogSilentError when none comes; ForeignLogError; NewerMessageError for a record that this
   * release cannot read
   */
  async *read(from: number, { silenceMs, signal }: ReadOptions): AsyncGenerator<LoggedRecord, void> {
    const messages = await this.#consume(from);
    const watch = new Watch(messages, silenceMs);
    const stop = (): void => messages.stop();
    signal.addEventListener('abort', stop);
    try {
      let expected = from;
      for await (const message of messages) {
        // Who takes long over a record does not wait for the next one meanwhile.
        watch.pause();
        if (signal.aborted) return;
        if (message.seq !== expected) throw new LogGapError(`record ${expected} of the log is missing: the next one is ${message.seq}`);
        this.#pending = message.info.pending;
        yield { sequence: message.seq, record: this.#checked(message) };
        watch.wait();
        expected++;
      }
      if (!signal.aborted) throw watch.fault ?? new LogSilentError('the log came to an end');
    } catch (error) {
      throw await readError(error);
    } finally {
      signal.removeEventListener('abort', stop);
      watch.pause();
      messages.stop();
    }
  }

  async #consume(from: number): Promise<ConsumerMessages> {
    const { jetstream } = await loadNats();
    try {
      const consumer = await this.#bus.jetstream.consumers.get(this.#subjects.stream, {
        deliver_policy: jetstream.DeliverPolicy.StartSequence,
        opt_start_seq: from,
        inactive_threshold: FORGOTTEN_MS * NANOSECONDS
      });
      return await consumer.consume({ max_bytes: PULL_BYTES, expires: PULL_MS, abort_on_missing_resource: true });
    } catch (error) {
      throw await natsError('the log cannot be read', error);
    }
  }

  /** The newest record about the chain that is one of ours: what somebody else wrote says nothing. */
  async #lastOfChain(): Promise<LoggedRecord | undefined> {
    const subject = this.#subjects.record.chain;
    let message = await this.#message({ last_by_subj: subject });
    let foreign: ForeignLogError | undefined;
    for (let looked = 0; message !== undefined; looked++) {
      if (message.subject === subject) {
        try {
          return { sequence: message.seq, record: this.#checked(message) };
        } catch (error) {
          if (!(error instanceof ForeignLogError)) throw error;
          foreign ??= error;
        }
      }
      if (message.seq > this.first && looked >= MOST_LOOKED_BACK) break;
      message = message.seq > this.first ? await this.#message({ seq: message.seq - 1 }) : undefined;
    }
    if (foreign === undefined) return undefined;
    throw message === undefined ? new NoOwnRecordError(foreign.message, { cause: foreign }) : foreign;
  }

  async #stored(place: { readonly last_by_subj: string }): Promise<LoggedRecord | undefined> {
    const message = await this.#message(place);
    return message && { sequence: message.seq, record: this.#checked(message) };
  }

  async #message(place: { readonly last_by_subj: string } | { readonly seq: number }): Promise<StoredMessage | undefined> {
    try {
      return (await this.#bus.manager.streams.getMessage(this.#subjects.stream, place)) ?? undefined;
    } catch (error) {
      throw await natsError('the log cannot be read', error);
    }
  }

  #checked({ seq, subject, data }: StoredMessage): LogRecord {
    try {
      const record = decodeRecord(data);
      if (this.#subjects.record[kindOf(record.body)] === subject) return record;
    } catch (error) {
      if (!(error instanceof MalformedMessageError) || error instanceof NewerMessageError) throw error;
      throw new ForeignLogError(`record ${seq} of the log ${this.#subjects.stream} was not written by bcoin-rest: ${error.message}`, {
        cause: error
      });
    }
    throw new ForeignLogError(`record ${seq} of the log ${this.#subjects.stream} has another subject than its kind: ${subject}`);
  }
}

type StoredMessage = Pick<JsMsg, 'seq' | 'subject' | 'data'>;

/** What a chain's record says of the tip. */
function tipAfter(body: ChainRecord): Pick<ChainWord, 'tip' | 'chainwork'> {
  const { height, hash, chainwork } = body;
  return body.type === 'disconnect'
    ? { tip: { height: height - 1, hash: body.previous }, chainwork }
    : { tip: { height, hash }, chainwork };
}

/** Ends the reading when nothing comes any more, or when the client is about to go on with another consumer. */
class Watch {
  fault: Error | undefined;
  readonly #messages: ConsumerMessages;
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(messages: ConsumerMessages, silenceMs: number) {
    this.#messages = messages;
    this.#silenceMs = silenceMs;
    this.wait();
    void this.#listen();
  }

  wait(): void {
    this.#timer = setTimeout(() => this.#end(new LogSilentError(`no record came for ${this.#silenceMs / 1_000} s`)), this.#silenceMs);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  async #listen(): Promise<void> {
    // Records were lost on their way, and the client makes its consumer again: it may then be one of another log. Where consumer or log are
    // gone, it ends by itself.
    for await (const { type } of this.#messages.status())
      if (type === 'reset') this.#end(new LogSilentError('records of the log were lost on their way'));
  }

  #end(fault: Error): void {
    this.fault ??= fault;
    this.#messages.stop();
  }
}

async function readError(error: unknown): Promise<Error> {
  if (
    error instanceof LogGapError ||
    error instanceof LogSilentError ||
    error instanceof ForeignLogError ||
    error instanceof MalformedMessageError
  )
    return error;
  const nats = await loadNats();
  const { jetstream } = nats;
  if (isNotPermitted(nats, error)) return await natsError('the log cannot be read on', error);
  if (error instanceof jetstream.JetStreamError || error instanceof jetstream.JetStreamApiError)
    return new LogSilentError(`the log cannot be read on: ${messageOf(error)}`, { cause: error });
  return errorOf(error);
}
