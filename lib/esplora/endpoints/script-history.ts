// The transactions of a script, page by page: those of the pool in the order of entering, those of the chain from the newest down.

import { positionOf } from '../../answers/transactions/transactions';
import { inPath, inQuery, json } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { ASKED_HASH } from '../../describe/values';
import { ESPLORA_TRANSACTION } from '../../views/esplora/transaction';
import { MAX_TRANSACTIONS } from '../../index/records/position';
import { cursorNotFound } from '../errors';
import { findHash, findNumber, joinedReply, jsonReply, replyAt, replyFrom } from '../reply';
import type { IndexSnapshot, Position } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { RowTransaction, ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext, EsploraRequest } from '../endpoint';
import type { ScriptAnswer, ScriptOperation } from './script-answer';

/** Transactions in one reply, unless the request asks for another number. */
export const OF_POOL = 50;
const OF_CHAIN = 25;

/** The most transactions in one reply, of pool and chain together. */
export const MOST_ASKED = 100;

export const TRANSACTIONS = json('The transactions.', { ...listOf(ESPLORA_TRANSACTION), maxItems: MOST_ASKED });

/** The transaction after which a page begins; without one it begins with the first. */
interface Cursor {
  readonly cursor: Buffer | undefined;
  /** undefined: it is in the pool. */
  readonly position: Position | undefined;
}

const MOST = inQuery('max_txs', 'The most transactions.', { type: 'integer', minimum: 0, maximum: MOST_ASKED });

export const MIXED_PAGE: ScriptOperation = {
  id: 'Transactions',
  summary: `The transactions of a script: of the pool in the order of entering (${OF_POOL}), then of the chain from the newest down (${OF_CHAIN}).`,
  parameters: [MOST, inQuery('after_txid', 'The last transaction of the page before.', ASKED_HASH)],
  answer: TRANSACTIONS,
  errors: { 422: 'Neither the chain nor the pool has the transaction after which the page should begin.' }
};

export const CHAIN_PAGE: ScriptOperation = {
  id: 'ChainTransactions',
  summary: `The newest transactions of a script in the chain (${OF_CHAIN}).`,
  parameters: [MOST],
  answer: TRANSACTIONS
};

export const CHAIN_PAGE_AFTER: ScriptOperation = {
  id: 'ChainTransactionsAfter',
  summary: `The transactions of a script in the chain before one (${OF_CHAIN}).`,
  parameters: [inPath('last', 'The last transaction of the page before.', ASKED_HASH), MOST],
  answer: TRANSACTIONS
};

export const POOL_PAGE: ScriptOperation = {
  id: 'MempoolTransactions',
  summary: `The transactions of a script in the pool, in the order of entering (${OF_POOL}).`,
  parameters: [MOST],
  answer: TRANSACTIONS
};

/** From the pool first, then from the chain: `max_txs` of both together, after `after_txid`, which may be in either. */
export function mixedPage({ pool, transactions, node }: EsploraContext): ScriptAnswer {
  return async ({ hash, snapshot, pooled, bases }, request) => {
    const { index } = snapshot;
    const most = readMost(request);
    const { cursor, position } = readCursor(request, index, pool);
    const inPool = position === undefined ? behind(cursor, await pooled.transactions()) : [];
    const ofPool = (inPool ?? []).slice(0, most ?? OF_POOL);
    const limit = most === undefined ? OF_CHAIN : most - ofPool.length;
    const rows = inPool && (await rowsBehind(position && cursor, hash, snapshot, limit));
    const texts = await Promise.all([
      ...ofPool.map((transaction) => transactions.unconfirmed(transaction, request)),
      transactions.confirmed(rows ?? [], index, request)
    ]);
    // The place of a cursor that is another script's may change whatever this script does.
    const isOfScript = inPool !== undefined && rows !== undefined && !node.pruned;
    return replyFrom(await joinedReply(texts.flat(), request), isOfScript ? bases.ofScript(hash) : undefined);
  };
}

/** The page is empty if the history does not have the cursor. */
export function chainPage({ transactions, node }: EsploraContext): ScriptAnswer {
  return async ({ hash, snapshot, bases }, request) => {
    const { index } = snapshot;
    const cursor = findHash(request.optional('last') ?? '');
    const rows = await rowsBehind(cursor, hash, snapshot, readMost(request) ?? OF_CHAIN);
    if (rows === undefined) return replyAt(jsonReply('[]'), index.tip, undefined);
    const reply = await joinedReply(await transactions.confirmed(rows, index, request), request);
    return replyFrom(reply, node.pruned ? undefined : bases.ofRows(hash));
  };
}

/** Those of the pool alone. */
export function poolPage({ transactions }: EsploraContext): ScriptAnswer {
  return async ({ hash, pooled, bases }, request) => {
    const page = (await pooled.transactions()).slice(0, readMost(request) ?? OF_POOL);
    const texts = await Promise.all(page.map((transaction) => transactions.unconfirmed(transaction, request)));
    const reply = await joinedReply(texts, request);
    return replyFrom(reply, bases.ofScript(hash));
  };
}

/** `max_txs`; ignored if it is not a number. */
export function readMost(request: EsploraRequest): number | undefined {
  const asked = findNumber(request.query('max_txs') ?? '');
  return asked === undefined ? undefined : Math.min(asked, MOST_ASKED);
}

/** `after_txid`, and its position if it is in the chain. @throws HttpError 422 when neither chain nor pool has it */
export function readCursor(request: EsploraRequest, index: IndexSnapshot, pool: EsploraContext['pool']): Cursor {
  const cursor = findHash(request.query('after_txid') ?? '');
  const position = cursor && positionOf(cursor, index);
  if (cursor !== undefined && position === undefined && pool.get(cursor) === undefined) throw cursorNotFound();
  return { cursor, position };
}

/** The transactions after the cursor; undefined if it is not in the list. */
export function behind(cursor: Buffer | undefined, list: readonly PooledTransaction[]): readonly PooledTransaction[] | undefined {
  if (cursor === undefined) return list;
  const at = list.findIndex(({ txid }) => txid.equals(cursor));
  return at < 0 ? undefined : list.slice(at + 1);
}

/** The rows older than the cursor's, which is looked up in this snapshot; undefined if the script's history does not have it. */
async function rowsBehind(
  cursor: Buffer | undefined,
  script: Buffer,
  snapshot: ScriptSnapshot,
  limit: number
): Promise<RowTransaction[] | undefined> {
  if (cursor === undefined) return snapshot.history(script, { limit });
  const position = positionOf(cursor, snapshot.index);
  if (position === undefined) return undefined;
  const [first, ...rows] = await snapshot.history(script, { beyond: rowAfter(position), limit: limit + 1 });
  return first?.txid.equals(cursor) === true ? rows : undefined;
}

/** The position after one: a page below it begins with the row at the one. */
export const rowAfter = ({ height, index }: Position): Position =>
  index + 1 < MAX_TRANSACTIONS ? { height, index: index + 1 } : { height: height + 1, index: 0 };
