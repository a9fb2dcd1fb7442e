// The status of a script: SHA-256 of its history as a text, `txid:height:` for each transaction in the protocol's order. For scripts that
// were asked for lately, the state of the hash after the confirmed part is cached: after a new block only the block's rows are hashed, and
// after a change of the pool nothing is read from the index.

import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { NO_CLIENT } from '../../turns/client';
import { TextHash } from './text-hash';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { BlockPoint } from '../../node/types';
import type { RowTransaction, ScriptSnapshot } from '../../scripts/types';
import type { PooledEntry } from '../scripts/pooled-script';
import type { ScriptHistory } from './history';

/** Bytes of the cache, and of an entry besides its text. */
const MOST_KEPT_BYTES = 10_000_000;
const ENTRY_BYTES = 256;

/** Transactions that are hashed in one turn: about half a millisecond. */
const AT_ONCE = 512;

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

type Pages = Iterable<readonly RowTransaction[]> | AsyncIterable<readonly RowTransaction[]>;

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
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ hash }) => ENTRY_BYTES + hash.bytes
  });

  /**
   * The status at the moment of the history; a promise only if it takes more than one turn. `newRows`: if known, saves reading the rows.
   * @throws HistoryTooLongError, ScriptsUnavailableError
   */
  of(history: ScriptHistory, most: number, newRows?: NewRows): Status | Promise<Status> {
    const known = history.pooled.isEmpty ? this.#known(history) : undefined;
    return known === undefined ? this.#made(history, most, newRows) : { text: known.hash.digest(), work: 0 };
  }

  async #made(history: ScriptHistory, most: number, newRows?: NewRows): Promise<Status> {
    const { hash, added } = this.#known(history) ?? (await this.#confirmed(history, most, newRows));
    const pooled = await history.unconfirmed(NO_CLIENT);
    if (pooled.length === 0) return { text: hash.isEmpty ? '' : hash.digest(), work: added };
    const all = await plus(hash, pooled, ({ transaction, height }: PooledEntry) => entryText(transaction.txid, height));
    return { text: all.digest(), work: added + pooled.length };
  }

  /** The cached hash if it is still right: no block has changed the history since. */
  #known({ script, snapshot }: ScriptHistory): Continued | undefined {
    const kept = this.#kept.get(keyOf(script));
    if (kept === undefined || !snapshot.hasSameRows(script, kept.stamp)) return undefined;
    const { hash } = kept;
    return this.#keep(script, snapshot, { hash, block: snapshot.index.tip, added: 0 });
  }

  async #confirmed(history: ScriptHistory, most: number, newRows?: NewRows): Promise<Continued> {
    const { script, snapshot } = history;
    return this.#keep(script, snapshot, await upToTip(this.#kept.get(keyOf(script)), history, most, newRows));
  }

  #keep(script: Buffer, { stamp }: ScriptSnapshot, confirmed: Continued): Continued {
    const { hash, block } = confirmed;
    if (!hash.isEmpty) this.#kept.set(keyOf(script), { hash, block, stamp });
    return confirmed;
  }
}

/** The hash of the history, continued from `kept` if that is possible. */
async function upToTip(kept: Confirmed | undefined, history: ScriptHistory, most: number, newRows?: NewRows): Promise<Continued> {
  const { index } = history.snapshot;
  const { tip } = index;
  const known = kept ?? (newRows?.wasEmpty === true ? { hash: TextHash.EMPTY, block: newRows.since } : undefined);
  if (known?.block.hash.equals(tip.hash) === true) return { ...known, added: 0 };
  // If not, its block was disconnected in a reorganization, or this is an older state.
  const isGood = known !== undefined && index.heightOf(known.block.hash) !== undefined;
  return (isGood && (await continued(known, pagesAbove(known, history, most, newRows), index))) || (await begun(history, tip, most));
}

async function begun(history: ScriptHistory, { hash: blockHash, height }: HeaderRecord, most: number): Promise<Continued> {
  let [hash, added] = [TextHash.EMPTY, 0];
  for await (const rows of history.confirmed(most, NO_CLIENT)) {
    hash = await plus(hash, rows, rowText);
    added += rows.length;
  }
  return { hash, block: { hash: blockHash, height }, added };
}

/** Rows after the block of the cached hash: those that came with the blocks, if they begin at that block, or else read from the index. */
function pagesAbove({ block }: Confirmed, history: ScriptHistory, most: number, newRows: NewRows | undefined): Pages {
  if (newRows?.since.hash.equals(block.hash) === true) return [newRows.rows];
  return history.confirmed(most, NO_CLIENT, { height: block.height, index: MAX_TRANSACTIONS - 1 });
}

/** False if there is a coinbase from before BIP34: its txid may equal an earlier one's, which then no longer counts. */
async function continued(kept: Confirmed, pages: Pages, index: IndexSnapshot): Promise<Continued | false> {
  const { hash: blockHash, height } = index.tip;
  let [hash, added] = [kept.hash, 0];
  for await (const rows of pages) {
    if (rows.some(({ position }) => position.index === 0 && versionAt(position.height, index) < FIRST_BIP34_VERSION)) return false;
    hash = await plus(hash, rows, rowText);
    added += rows.length;
  }
  return { hash, block: { hash: blockHash, height }, added };
}

function versionAt(height: number, index: IndexSnapshot): number {
  return index.headerAt(height)?.header.readInt32LE(0) ?? 0;
}

const entryText = (txid: Buffer, height: number): string => `${toDisplayHex(txid)}:${height}:`;

const rowText = ({ txid, position }: RowTransaction): string => entryText(txid, position.height);

async function plus<T>(before: TextHash, entries: readonly T[], textOf: (entry: T) => string): Promise<TextHash> {
  let hash = before;
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    if (start > 0) await setImmediate();
    const some = entries.slice(start, start + AT_ONCE);
    hash = hash.plus(some.map(textOf).join(''));
  }
  return hash;
}
