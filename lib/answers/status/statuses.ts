// The status of a script: SHA-256 of its history as a text, `txid:height:` for each transaction in the protocol's order. For scripts that
// were asked for lately, the state of the hash after the confirmed part is cached: after a new block only the block's rows are hashed, and
// after a change of the pool nothing is read from the index.

import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { keyOf } from '../../bitcoin/hash';
import { TextWriter, type Allocate } from '../../bitcoin/text-writer';
import { TXID_LENGTH } from '../../bitcoin/transaction';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { heightIn, indexIn, packed } from '../../scripts/records/positions';
import { NO_CLIENT } from '../../turns/client';
import { COLON } from '../../views/json-writer';
import { TextHash } from './text-hash';
import { ROWS_PER_PAGE, type ScriptHistory } from './history';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types/chain';
import type { RowTransaction, RowTransactions, ScriptSnapshot } from '../../scripts/types';
import type { CacheUse } from '../../server/cache/answer-cache';
import type { PooledEntry } from '../scripts/pooled-script';

/** Bytes of the cache, and of an entry besides its text. */
const MOST_KEPT_BYTES = 10_000_000;
const ENTRY_BYTES = 256;

/** Transactions of the pool that are hashed in one turn: about a tenth of a millisecond. */
const AT_ONCE = 512;

/** Bytes of an entry: a txid in hex, a height, two colons. */
const ENTRY_LENGTH = 64 + 10 + 2;

/** For the text of a page: new memory for each would have V8 mark its heap more often. */
const scratch = Buffer.allocUnsafeSlow(ROWS_PER_PAGE * ENTRY_LENGTH);

const scratchOrMore: Allocate = (length) => (length > scratch.length ? Buffer.allocUnsafeSlow(length) : scratch);

/** From this block version on a coinbase contains its height (BIP34), so no other block has the same coinbase. */
const FIRST_BIP34_VERSION = 2;

export interface Status {
  /** 32 bytes as a latin1 string; empty for a script without transactions. */
  readonly text: string;
  /** Transactions that were read to find it. */
  readonly work: number;
}

/** All rows of a script in blocks after `since`, up to the tip of the state. */
export interface NewRows {
  readonly since: BlockPoint;
  /** Whether the script had no rows up to `since`. */
  readonly wasEmpty: boolean;
  readonly rows: readonly RowTransaction[];
}

/** The hash of the history up to a block. */
interface Confirmed {
  readonly hash: TextHash;
  readonly block: BlockPoint;
}

interface Kept extends Confirmed {
  /** Of the snapshot in which it was made. */
  readonly stamp: number;
}

/** With the number of transactions that were added to the cached hash. */
interface Continued extends Confirmed {
  readonly added: number;
}

export class Statuses {
  readonly use: CacheUse = { hits: 0, misses: 0 };
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ hash }) => ENTRY_BYTES + hash.bytes
  });

  /** Bytes that are cached. */
  get byteLength(): number {
    return this.#kept.calculatedSize;
  }

  /**
   * The status at the moment of the history; a promise only if it takes more than one turn. `newRows`: if known, saves reading the rows.
   * @throws HistoryTooLongError, ScriptsUnavailableError
   */
  of(history: ScriptHistory, most: number, newRows: NewRows | undefined): Status | Promise<Status> {
    if (!history.pooled.isEmpty) return this.#withPool(history, most, newRows);
    const confirmed = this.#confirmed(history, most, newRows);
    return confirmed instanceof Promise ? confirmed.then(statusOf) : statusOf(confirmed);
  }

  async #withPool(history: ScriptHistory, most: number, newRows: NewRows | undefined): Promise<Status> {
    const confirmed = await this.#confirmed(history, most, newRows);
    const pooled = await history.unconfirmed(NO_CLIENT);
    if (pooled.length === 0) return statusOf(confirmed);
    const all = await plusPooled(confirmed.hash, pooled);
    return { text: all.digest(), work: confirmed.added + pooled.length };
  }

  #confirmed(history: ScriptHistory, most: number, newRows: NewRows | undefined): Continued | Promise<Continued> {
    const { script, snapshot } = history;
    const key = keyOf(script);
    const kept = this.#kept.get(key);
    // The cached hash is right if no block has changed the history since.
    if (kept !== undefined && snapshot.hasSameRows(script, kept.stamp)) {
      this.use.hits++;
      return this.#keep(key, snapshot, { hash: kept.hash, block: snapshot.index.tip, added: 0 });
    }
    this.use.misses++;
    const found = upToTip(kept, history, most, newRows);
    return found instanceof Promise ? found.then((confirmed) => this.#keep(key, snapshot, confirmed)) : this.#keep(key, snapshot, found);
  }

  /** `key`: of the script. */
  #keep(key: string, { stamp }: ScriptSnapshot, confirmed: Continued): Continued {
    const { hash, block } = confirmed;
    if (!hash.isEmpty) this.#kept.set(key, { hash, block, stamp });
    return confirmed;
  }
}

const statusOf = ({ hash, added }: Continued): Status => ({ text: hash.isEmpty ? '' : hash.digest(), work: added });

/** The hash of the history, continued from `kept` if that is possible; a promise only if it takes more than one turn. */
function upToTip(
  kept: Confirmed | undefined,
  history: ScriptHistory,
  most: number,
  newRows: NewRows | undefined
): Continued | Promise<Continued> {
  const { index } = history.snapshot;
  const { tip } = index;
  const known = kept ?? (newRows?.wasEmpty === true ? { hash: TextHash.EMPTY, block: newRows.since } : undefined);
  if (known?.block.hash.equals(tip.hash) === true) return { ...known, added: 0 };
  // If not, its block was disconnected in a reorganization, or this is an older state.
  if (known === undefined || index.heightOf(known.block.hash) === undefined) return begun(history, tip, most);
  return continued(known, history, most, newRows).then((found) => (found === false ? begun(history, tip, most) : found));
}

function begun(history: ScriptHistory, { hash: blockHash, height }: HeaderRecord, most: number): Continued | Promise<Continued> {
  let [hash, added] = [TextHash.EMPTY, 0];
  const walking = history.confirmed(most, NO_CLIENT, (page) => {
    hash = hash.plus(pageText(page));
    added += page.positions.length;
  });
  const done = (): Continued => ({ hash, block: { hash: blockHash, height }, added });
  return walking instanceof Promise ? walking.then(done) : done();
}

/** Gives the transactions after the block of the cached hash to `take`: those that came with the blocks, if they begin at that block, or from the index. */
async function above(
  { block }: Confirmed,
  history: ScriptHistory,
  most: number,
  newRows: NewRows | undefined,
  take: (page: RowTransactions) => boolean
): Promise<void> {
  if (newRows?.since.hash.equals(block.hash) === true) take(columnsOf(newRows.rows));
  else await history.confirmed(most, NO_CLIENT, take, { height: block.height, index: MAX_TRANSACTIONS - 1 });
}

/** False if there is a coinbase from before BIP34: its txid may equal an earlier one's, which then no longer counts. */
async function continued(kept: Confirmed, history: ScriptHistory, most: number, newRows: NewRows | undefined): Promise<Continued | false> {
  const { index } = history.snapshot;
  const { hash: blockHash, height } = index.tip;
  let [hash, added, isGood] = [kept.hash, 0, true];
  await above(kept, history, most, newRows, (page) => {
    isGood = !page.positions.some((position) => indexIn(position) === 0 && versionAt(heightIn(position), index) < FIRST_BIP34_VERSION);
    hash = hash.plus(pageText(page));
    added += page.positions.length;
    return isGood;
  });
  return isGood && { hash, block: { hash: blockHash, height }, added };
}

function versionAt(height: number, index: IndexSnapshot): number {
  return index.headerAt(height)?.header.readInt32LE(0) ?? 0;
}

/** The text of a page, valid until the next one is made: a fifth of a millisecond for a thousand transactions. */
function pageText({ positions, txids }: RowTransactions): Buffer {
  const text = new TextWriter(scratch.length, scratchOrMore);
  for (let i = 0; i < positions.length; i++) writeEntry(text, txids, i * TXID_LENGTH, heightIn(positions[i] as number)); // within the list
  return text.toBuffer();
}

function writeEntry(text: TextWriter, txid: Buffer, start: number, height: number): void {
  text.displayHex(txid, start);
  text.char(COLON);
  text.integer(height);
  text.char(COLON);
}

const columnsOf = (rows: readonly RowTransaction[]): RowTransactions => ({
  positions: rows.map(({ position: { height, index } }) => packed(height, index)),
  txids: Buffer.concat(rows.map(({ txid }) => txid))
});

async function plusPooled(before: TextHash, entries: readonly PooledEntry[]): Promise<TextHash> {
  let hash = before;
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    if (from > 0) await setImmediate();
    const some = entries.slice(from, from + AT_ONCE);
    const text = new TextWriter(some.length * ENTRY_LENGTH);
    for (const { transaction, height } of some) writeEntry(text, transaction.txid, 0, height);
    hash = hash.plus(text.toBuffer());
  }
  return hash;
}
