// Records of one term on their way into the log: gathered, and written together.

import { randomBytes } from 'node:crypto';
import { encodeRecord, MOST_RECORD_BYTES, TERM_ID_LENGTH } from '../messages/record-codec';
import { kindOf } from '../log/subjects';
import type { LogWriter, Outgoing } from '../log/log-writer';
import type { RecordBody } from '../messages/records';

/** Records and bytes that are gathered before they are written. */
const MOST_RECORDS = 256;
const MOST_BYTES = 1_024 * 1_024;

/** What a message has besides the bytes of its record. */
const MESSAGE_BYTES = 1_024;
/** Bytes of a block in one message, where it does not fit into one. */
const PART_BYTES = 512 * 1_024;

export interface TermWriterOptions {
  readonly term: number;
  /** Name of this one. */
  readonly node: string;
  /** Called after each writing, with the number of records. */
  readonly written: (records: number) => void;
}

export class TermWriter {
  readonly #log: LogWriter;
  readonly #signal: AbortSignal;
  readonly #options: TermWriterOptions;
  readonly #termId = randomBytes(TERM_ID_LENGTH);
  readonly #termStart: number;
  #waiting: Outgoing[] = [];
  #bytes = 0;

  constructor(log: LogWriter, options: TermWriterOptions, signal: AbortSignal) {
    this.#log = log;
    this.#options = options;
    this.#termStart = log.last + 1;
    this.#signal = signal;
  }

  /** Sequence of the last record that is in the log. */
  get written(): number {
    return this.#log.last;
  }

  /** Bytes of the longest record that the servers take. */
  get mostBytes(): number {
    return this.#log.mostBytes - MESSAGE_BYTES;
  }

  /** Puts a record behind the others. Returns the sequence that it will have. @throws RangeError when it is too long; as `LogWriter.append` */
  async add(body: RecordBody): Promise<number> {
    const { term, node } = this.#options;
    const bytes = encodeRecord({ term, termId: this.#termId, termStart: this.#termStart, node, at: Date.now(), body });
    if (bytes.length > this.mostBytes) throw new RangeError(`expected a record of at most ${this.mostBytes} bytes, got ${bytes.length}`);
    if (this.#bytes + bytes.length > MOST_BYTES || this.#waiting.length >= MOST_RECORDS) await this.flush();
    this.#waiting.push({ kind: kindOf(body), bytes });
    this.#bytes += bytes.length;
    return this.#log.last + this.#waiting.length;
  }

  /** Puts a block and its undo record behind the others, whole if the servers take it. Returns the sequence of its first part. */
  async addBlock(hash: Buffer, raw: Buffer, undo: Buffer | undefined): Promise<number> {
    const bytes = undo === undefined ? raw : Buffer.concat([raw, undo]);
    const isWhole = bytes.length <= Math.min(this.mostBytes, MOST_RECORD_BYTES) - MESSAGE_BYTES;
    const length = isWhole ? bytes.length : Math.min(PART_BYTES, this.mostBytes - MESSAGE_BYTES);
    const parts = Math.ceil(bytes.length / length);
    let first = 0;
    for (let part = 0; part < parts; part++) {
      const sequence = await this.add({ type: 'block', hash, part, parts, bytes: bytes.subarray(part * length, (part + 1) * length) });
      if (part === 0) first = sequence;
    }
    return first;
  }

  /** Writes what is gathered. @throws as `LogWriter.append` */
  async flush(): Promise<void> {
    const records = this.#waiting;
    if (records.length === 0) return;
    [this.#waiting, this.#bytes] = [[], 0];
    await this.#log.append(records, this.#signal);
    this.#options.written(records.length);
  }
}
