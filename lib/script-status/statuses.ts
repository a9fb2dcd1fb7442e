// The status of a script: SHA-256 of its history as a text, `txid:height:` for each transaction in the protocol's order. The state of the hash
// behind the confirmed part is kept for scripts that were asked for lately, so that a new block costs what it brought, and the pool costs
// no look into the index.

import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { toDisplayHex } from '../bitcoin/hash';
import { MAX_TRANSACTIONS } from '../index/records/position';
import { TextHash } from './text-hash';
import type { HeaderRecord, IndexSnapshot } from '../index/types';
import type { BlockPoint } from '../node/types';
import type { Waiting } from '../rest/server/work-queue';
import type { RowPlace, ScriptSnapshot } from '../scripts/types';
import type { PooledEntry, ScriptHistory } from './history';

/** Bytes of texts and states of hashes that are kept, and those of an entry beside its text. */
const MOST_KEPT_BYTES = 10_000_000;
const ENTRY_BYTES = 256;

/** Transactions in one turn: about half a millisecond. */
const AT_ONCE = 512;

/** From this version on a coinbase has its height in it (BIP34), and no other block has the same one. */
const FIRST_BIP34_VERSION = 2;

const NOBODY: Waiting = { isGone: false };

export interface Status {
  /** 32 characters, one a byte; none for a script without transactions. */
  readonly text: string;
  /** `waits`: a transaction among them spends an output that is not confirmed. */
  readonly pool: 'none' | 'some' | 'waits';
  /** Transactions that were gone through to find it. */
  readonly work: number;
}

/** All rows of a script above a block, up to the tip of the state that is looked at. */
export interface Brought {
  readonly since: BlockPoint;
  /** Whether there are none up to that block. */
  readonly wasEmpty: boolean;
  readonly rows: readonly RowPlace[];
}

type Pages = Iterable<readonly RowPlace[]> | AsyncIterable<readonly RowPlace[]>;

/** What is confirmed up to a block. */
interface Confirmed {
  readonly hash: TextHash;
  readonly block: BlockPoint;
}

/** With the number of transactions that were added to what was known before. */
interface Continued extends Confirmed {
  readonly added: number;
}

export class Statuses {
  readonly #kept = new LRUCache<string, Confirmed>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ hash }) => ENTRY_BYTES + hash.bytes
  });

  /**
   * At the moment of the history. `key`: the script's SHA-256, one character a byte. `brought`: where that is known, which saves reading.
   * @throws HistoryTooLongError, ScriptsUnavailableError
   */
  async of(key: string, history: ScriptHistory, snapshot: ScriptSnapshot, most: number, brought?: Brought): Promise<Status> {
    const { hash, added } = await this.#confirmed(key, history, snapshot, most, brought);
    const pooled = await history.unconfirmed(NOBODY);
    if (pooled.length === 0) return { text: hash.isEmpty ? '' : hash.digest(), pool: 'none', work: added };
    const all = await plus(hash, pooled, ({ transaction, height }: PooledEntry) => entryText(transaction.txid, height));
    // Those that wait come last.
    return { text: all.digest(), pool: pooled.at(-1)?.height === -1 ? 'waits' : 'some', work: added + pooled.length };
  }

  async #confirmed(key: string, history: ScriptHistory, { index }: ScriptSnapshot, most: number, brought?: Brought): Promise<Continued> {
    const kept = this.#kept.get(key) ?? (brought?.wasEmpty === true ? { hash: TextHash.EMPTY, block: brought.since } : undefined);
    const { tip } = index;
    if (kept?.block.hash.equals(tip.hash) === true) return { ...kept, added: 0 };
    // A reorganization took its block out; or this is a state of before.
    const isGood = kept !== undefined && index.heightOf(kept.block.hash) !== undefined;
    const confirmed =
      (isGood && (await continued(kept, pagesAbove(kept, history, most, brought), index))) || (await begun(history, tip, most));
    const { hash, block } = confirmed;
    if (!hash.isEmpty) this.#kept.set(key, { hash, block });
    return confirmed;
  }
}

async function begun(history: ScriptHistory, { hash: blockHash, height }: HeaderRecord, most: number): Promise<Continued> {
  let [hash, added] = [TextHash.EMPTY, 0];
  for await (const rows of history.confirmed(most, NOBODY)) {
    hash = await plus(hash, rows, rowText);
    added += rows.length;
  }
  return { hash, block: { hash: blockHash, height }, added };
}

/** Rows above the block of what is kept: those that are known when they are of that block, or as they are read. */
function pagesAbove({ block }: Confirmed, history: ScriptHistory, most: number, brought: Brought | undefined): Pages {
  if (brought?.since.hash.equals(block.hash) === true) return [brought.rows];
  return history.confirmed(most, NOBODY, { height: block.height, index: MAX_TRANSACTIONS - 1 });
}

/** False when a coinbase came whose txid may stand further up already, where it does not count any more. */
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

const rowText = ({ txid, position }: RowPlace): string => entryText(txid, position.height);

async function plus<T>(before: TextHash, entries: readonly T[], textOf: (entry: T) => string): Promise<TextHash> {
  let hash = before;
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    if (start > 0) await setImmediate();
    const some = entries.slice(start, start + AT_ONCE);
    hash = hash.plus(some.map(textOf).join(''));
  }
  return hash;
}
