// The transactions of several scripts in one list, as mempool's version of electrs has them.

import { keyOf } from '../../bitcoin/hash';
import { inQuery, json, type Content } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { ASKED_HASH, TEXT } from '../../describe/values';
import { noScriptList, tooManyScripts } from '../errors';
import { joinedReply, jsonReply } from '../reply';
import { behind, MOST_ASKED, OF_POOL, readCursor, readMost, TRANSACTIONS } from './script-history';
import { addressHash, readScriptHash } from './script-name';
import { stringsIn } from './string-list';
import type { Position } from '../../index/types';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { RowTransaction, ScriptSnapshot } from '../../scripts/types';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

/** Scripts in one request. */
const MOST_SCRIPTS = 100;

/** How requests name several scripts. `read`: throws HttpError 400. */
export interface ListedKind {
  readonly path: '/addresses' | '/scripthashes';
  /** In the ids of operations. */
  readonly name: string;
  readonly noun: string;
  readonly read: (text: string) => Buffer;
}

export const listedKinds = ({ node }: Pick<EsploraContext, 'node'>): readonly ListedKind[] => [
  { path: '/addresses', name: 'Addresses', noun: 'addresses', read: addressHash(node.network) },
  { path: '/scripthashes', name: 'ScriptHashes', noun: 'script hashes', read: readScriptHash }
];

export const listBody = (noun: string): Content => json(`The ${noun}.`, { ...listOf(TEXT), maxItems: MOST_SCRIPTS });

export const listErrors = (noun: string): Readonly<Record<number, string>> => ({
  400: `The body is no list of up to ${MOST_SCRIPTS} ${noun} of this network.`,
  408: 'The body did not come in time.',
  413: 'The body is too large.',
  415: 'The body has a Content-Encoding.'
});

export function scriptHistoryRoutes(context: EsploraContext): Route[] {
  return listedKinds(context).map(({ path, name, noun, read }) => ({
    method: 'POST',
    path: `${path}/txs`,
    endpoint: historiesEndpoint(context, read),
    isHeavy: true,
    operation: {
      id: `post${name}Transactions`,
      summary: `The transactions of several ${noun}: of the pool, then of the chain from the newest down, ${OF_POOL} together.`,
      parameters: [
        inQuery('max_txs', 'The most transactions.', { type: 'integer', minimum: 0, maximum: MOST_ASKED }),
        inQuery('after_txid', 'The last transaction of the page before.', ASKED_HASH)
      ],
      body: listBody(noun),
      answer: TRANSACTIONS,
      errors: {
        ...listErrors(noun),
        422: 'Neither the chain nor the pool has the transaction after which the page should begin.'
      }
    }
  }));
}

function historiesEndpoint({ scripts, pool, pooled, transactions }: EsploraContext, read: (text: string) => Buffer): Endpoint {
  return async (request) => {
    const hashes = hashesIn(request.body, read);
    return scripts.read(async (snapshot) => {
      const { index } = snapshot;
      const parts = hashes.map((hash) => pooled.at(hash, snapshot));
      const most = readMost(request) ?? OF_POOL;
      const { cursor, position } = readCursor(request, index, pool);
      const inPool: PooledTransaction[] = [];
      if (position === undefined) for (const part of parts) inPool.push(...(await part.transactions()));
      const left = position === undefined ? behind(cursor, unique(inPool)) : [];
      // The cursor is a transaction of the pool that has to do with other scripts.
      if (left === undefined) return jsonReply('[]');
      const ofPool = left.slice(0, most);
      // As many in all as fit, so that no page leaves out the rest of the pool.
      const limit = most - ofPool.length;
      // Before any text is begun: nobody would hear of one that fails while these are awaited, and Node ends the process over it.
      const rows = await newestRows(hashes, position, limit, snapshot);
      const texts = await Promise.all([
        ...ofPool.map((transaction) => transactions.unconfirmed(transaction, request)),
        transactions.confirmed(rows, index, request)
      ]);
      return joinedReply(texts.flat(), request);
    });
  };
}

/** The newest of all scripts, below a position. */
async function newestRows(
  hashes: readonly Buffer[],
  beyond: Position | undefined,
  limit: number,
  snapshot: ScriptSnapshot
): Promise<readonly RowTransaction[]> {
  let rows: readonly RowTransaction[] = [];
  for (const hash of hashes) {
    const more = await snapshot.history(hash, { limit, ...(beyond !== undefined && { beyond }) });
    const all = unique([...rows, ...more]);
    rows = all.sort((a, b) => b.position.height - a.position.height || b.position.index - a.position.index).slice(0, limit);
  }
  return rows;
}

/** Each transaction once. */
const unique = <T extends { readonly txid: Buffer }>(list: readonly T[]): T[] => [
  ...new Map(list.map((one) => [keyOf(one.txid), one])).values()
];

/** SHA-256 of the scripts that a body names, each once, although an address may be written in several ways. @throws HttpError 400 */
export function hashesIn(body: Buffer, read: ListedKind['read']): Buffer[] {
  const list = stringsIn(body, MOST_SCRIPTS, { none: noScriptList, tooMany: tooManyScripts });
  return [...new Map(list.map(read).map((hash) => [keyOf(hash), hash])).values()];
}
