// Histories as JSON. The text of the chain's part is cached, and right until a block changes rows of the script; the part of the pool, which
// is in memory, is written each time.

import { RowCache } from '../../answers/scripts/row-cache';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { HistoryTooLongError } from '../../scripts/errors';
import { heightIn } from '../../scripts/records/positions';
import { ownCopy } from '../../system/own-copy';
import { runInSlices } from '../../turns/slices';
import { ROWS_PER_PAGE, type ScriptHistory, type TakeTransactions } from '../../answers/status/history';
import { ARRAY_END, ARRAY_START, COMMA, JsonWriter } from '../../views/json-writer';
import { ROW_POINTS } from './points';
import type { AnswerCache } from '../../server/cache/answer-cache';
import type { PooledEntry } from '../../answers/scripts/pooled-script';
import type { WalkedPage } from '../../scripts/types';
import type { ElectrumClient, Result } from '../method';

/** Items of a list that are written in one slice. */
export const ITEMS_PER_SLICE = 64;
/** The memory for an item. */
export const ITEM_LENGTH = 140;

/** The memory for a transaction of the chain. */
const ROW_LENGTH = 100;

/** For the text of a page. New memory for each would have V8 mark its whole heap for every few thousand texts. */
const scratch = Buffer.allocUnsafeSlow(ROWS_PER_PAGE * ROW_LENGTH + 2);

/** Shorter texts are strings, of which many are sent by one call. */
const LONG_TEXT = 16_384;

/** Texts of more rows are cached at once, others when they are asked for a second time. */
const MANY_ROWS = 256;

/** From a height on; undefined: without an end. */
interface Heights {
  readonly from: number;
  readonly to: number | undefined;
}

/** The chain's part of a history. */
interface ChainText {
  readonly rows: number;
  /** A list, with its brackets; ASCII. */
  readonly text: Result;
}

export class HistoryTexts {
  readonly #cached: RowCache<ChainText & { readonly text: Buffer }>;
  readonly #most: number;

  /** `most`: transactions in one history. */
  constructor(cache: AnswerCache, most: number) {
    this.#cached = new RowCache(cache, 'history-text', ({ text }) => text.length);
    this.#most = most;
  }

  /** The whole history. @throws HistoryTooLongError */
  of(history: ScriptHistory, client: ElectrumClient): Result | Promise<Result> {
    const { script, snapshot, pooled } = history;
    const known = this.#cached.get(script, snapshot);
    if (!pooled.isEmpty) return this.#withPool(history, known, client);
    if (known !== undefined) {
      client.charge(known.rows * ROW_POINTS);
      return known.text;
    }
    const made = this.#chainText(history, this.#most, client);
    return made instanceof Promise ? made.then(({ text }) => text) : made.text;
  }

  /**
   * The chain's part from a height on, and the pool's; `to`: only below this height, and nothing of the pool.
   * @throws HistoryTooLongError
   */
  async between(history: ScriptHistory, { from, to = Infinity }: Heights, client: ElectrumClient): Promise<Result> {
    const entries = to === Infinity ? await this.#entries(history, client) : [];
    const writer = new JsonWriter();
    let count = entries.length;
    writer.ascii('[');
    const take: TakeTransactions = ({ positions, txids }) => {
      const end = positions.findIndex((position) => heightIn(position) >= to);
      const wanted = end < 0 ? positions.length : end;
      if ((count += wanted) > this.#most) throw HistoryTooLongError.beyond(this.#most);
      client.charge(wanted * ROW_POINTS);
      writeRows(writer, positions.slice(0, wanted), txids);
      return end < 0;
    };
    // Clients name heights that no block can have, nor any position.
    if (from <= history.snapshot.index.tip.height)
      await history.confirmed(Infinity, client, take, from === 0 ? undefined : { height: from - 1, index: MAX_TRANSACTIONS - 1 });
    await runInSlices(writeEntries(writer, entries), client);
    writer.ascii(']');
    return writer.toBuffer();
  }

  /** The pool's part alone. @throws HistoryTooLongError */
  async ofPool(history: ScriptHistory, client: ElectrumClient): Promise<Result> {
    const entries = await this.#entries(history, client);
    if (entries.length > this.#most) throw HistoryTooLongError.beyond(this.#most);
    const writer = new JsonWriter(entries.length * ITEM_LENGTH + 2);
    writer.ascii('[');
    await runInSlices(writeEntries(writer, entries), client);
    writer.ascii(']');
    return writer.toBuffer();
  }

  async #withPool(history: ScriptHistory, known: ChainText | undefined, client: ElectrumClient): Promise<Result> {
    const entries = await this.#entries(history, client);
    const most = this.#most - entries.length;
    if (most < 0) throw HistoryTooLongError.beyond(this.#most);
    if (known !== undefined) client.charge(known.rows * ROW_POINTS);
    const { rows, text } = known ?? (await this.#chainText(history, most, client));
    if (rows > most) throw HistoryTooLongError.beyond(most);
    if (entries.length === 0) return text;
    const writer = new JsonWriter(text.length + entries.length * ITEM_LENGTH);
    if (typeof text === 'string') writer.ascii(text.slice(0, -1));
    else writer.bytes(text, 0, text.length - 1);
    await runInSlices(writeEntries(writer, entries), client);
    writer.ascii(']');
    return writer.toBuffer();
  }

  /** Of the pool; charges for them. */
  async #entries(history: ScriptHistory, client: ElectrumClient): Promise<PooledEntry[]> {
    const entries = await history.unconfirmed(client);
    client.charge(entries.length * ROW_POINTS);
    return entries;
  }

  #chainText(history: ScriptHistory, most: number, client: ElectrumClient): ChainText | Promise<ChainText> {
    let rows = 0;
    const parts: Result[] = [];
    const walking = history.confirmed(most, client, (page) => {
      const { length } = page.positions;
      client.charge(length * ROW_POINTS);
      parts.push(pageText(page, parts.length === 0, rows > 0));
      rows += length;
    });
    const written = (): ChainText => {
      const text = joined(parts);
      const cached = (): ChainText & { readonly text: Buffer } => ({
        rows,
        text: typeof text === 'string' ? ownCopy(Buffer.from(text)) : text
      });
      const { script, snapshot } = history;
      if (rows > MANY_ROWS) this.#cached.set(script, snapshot.stamp, cached());
      else this.#cached.setIfAskedBefore(script, snapshot.stamp, cached);
      return { rows, text };
    };
    return walking instanceof Promise ? walking.then(written) : written();
  }
}

/** A page of a list, with the list's brackets where it begins and ends. `follows`: there are rows before it. */
function pageText({ positions, txids, isLast }: WalkedPage, isFirst: boolean, follows: boolean): Result {
  const writer = new JsonWriter(scratch.length, () => scratch);
  if (isFirst) writer.char(ARRAY_START);
  if (follows && positions.length > 0) writer.char(COMMA);
  writeRows(writer, positions, txids);
  if (isLast) writer.char(ARRAY_END);
  const text = writer.toBuffer();
  return text.length < LONG_TEXT ? text.toString('latin1') : ownCopy(text);
}

const joined = (parts: readonly Result[]): Result =>
  parts.length === 1 ? (parts[0] as Result) : Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))); // one part

/** Items of transactions of the chain. */
function writeRows(writer: JsonWriter, positions: readonly number[], txids: Buffer): void {
  for (let i = 0; i < positions.length; i++) {
    beginItem(writer, txids, heightIn(positions[i] as number), i * TXID_LENGTH); // within the list
    writer.ascii('}');
  }
}

/** Begins an item of a list, after a comma unless it is the first. The txid is in `txids` from `start`. */
export function beginItem(writer: JsonWriter, txids: Buffer, height: number, start = 0): void {
  writer.hashField(writer.length > 1 ? ',{"tx_hash":' : '{"tx_hash":', txids, start);
  writer.integerField(',"height":', height);
}

function* writeEntries(writer: JsonWriter, entries: readonly PooledEntry[]): Generator<void, void> {
  for (const [i, { transaction, height }] of entries.entries()) {
    beginItem(writer, transaction.txid, height);
    writer.integerField(',"fee":', transaction.fee);
    writer.ascii('}');
    if (i % ITEMS_PER_SLICE === ITEMS_PER_SLICE - 1) yield;
  }
}
