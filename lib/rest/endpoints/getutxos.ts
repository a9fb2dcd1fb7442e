// /rest/getutxos (contract 4.7): which outpoints are unspent, and what they hold. Outpoints
// come in the path or, for bin and hex, in the body.

import { coinsBinary, coinsJson, type CoinsAnswer, type CoinView } from '../../views/coins';
import { emptyRequest, outpointsTwice, parseError, tooManyOutpoints } from '../errors';
import { ALL_FORMATS, replyIn, splitSuffix, type Format, type Reply } from '../format';
import { bytesOfHexBody, outpointsInBody, outpointsInPath, type Outpoint, type Query } from '../outpoints';
import { RecentCoins } from '../cache/recent-coins';
import { StateReplies } from '../cache/replies';
import type { BlockPoint, PoolSource } from '../../node/types';
import type { IndexSnapshot } from '../../index/types';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

/** The height of coins that are not in a block yet (MEMPOOL_HEIGHT, txmempool.h). */
const POOL_HEIGHT = 0x7fff_ffff;

const NOTHING: Query = { checkMempool: false, outpoints: [] };

export function coinsEndpoint({ node, reader, limits, cache }: EndpointContext): Endpoint {
  const prefixes = node.network.addressPrefixes;
  const recent = new RecentCoins(cache);
  const replies = new StateReplies(cache, 'getutxos');

  const answer = (request: RestRequest, snapshot: IndexSnapshot): Reply | Promise<Reply> => {
    const asked = questionOf(request);
    const kept = replies.get(asked, snapshot);
    if (kept !== undefined) return kept;
    const { parameter, format } = splitSuffix(request.path);
    const query = readQuery(parameter, format, request.body);
    const tried = query.outpoints.length;
    const look = (): CoinsAnswer => {
      if (tried > limits.maxOutpoints) throw tooManyOutpoints(limits.maxOutpoints, tried);
      return lookFor(query, (txid, index) => recent.coin(txid, index, snapshot), snapshot.tip, node.pool);
    };
    const reply = replyIn(format, { binary: () => coinsBinary(look()), json: () => coinsJson(look(), prefixes) }, ALL_FORMATS, request);
    // The pool has states of its own.
    return query.checkMempool ? reply : replies.keep(asked, snapshot, reply);
  };

  return (request) => reader.read((snapshot) => answer(request, snapshot));
}

/** All that the reply depends on beside index and pool. */
function questionOf({ path, body }: RestRequest): string {
  return body.length === 0 ? path : `${path} ${body.toString('latin1')}`;
}

/** In the order in which Bitcoin Core checks. @throws RestError 400 */
function readQuery(parameter: string, format: Format | undefined, body: Buffer): Query {
  if (parameter.length <= 1 && body.length === 0) throw emptyRequest();
  const inPath = outpointsInPath(parameter);
  switch (format) {
    case 'json':
      if (inPath === undefined) throw emptyRequest();
      return inPath;
    case 'bin': return combine(inPath, body);
    case 'hex': return combine(inPath, bytesOfHexBody(body));
    case undefined: return NOTHING;
  }
}

/** `body`: undefined when it cannot be read. */
function combine(inPath: Query | undefined, body: Buffer | undefined): Query {
  const isEmpty = body?.length === 0;
  if (inPath !== undefined && isEmpty) return inPath;
  if (inPath !== undefined) throw outpointsTwice();
  if (isEmpty) throw emptyRequest();
  if (body === undefined) throw parseError();
  return outpointsInBody(body);
}

type FindCoin = (txid: Buffer, index: number) => CoinView | undefined;

/** Index and pool in one tick: the answer is of one moment. */
function lookFor({ checkMempool, outpoints }: Query, confirmed: FindCoin, { height, hash }: BlockPoint, pool: PoolSource): CoinsAnswer {
  const find = checkMempool
    ? (outpoint: Outpoint): CoinView | undefined => unspentCoin(outpoint, confirmed, pool)
    : ({ txid, index }: Outpoint): CoinView | undefined => confirmed(txid, index);
  return { height, tipHash: hash, coins: outpoints.map(find) };
}

function unspentCoin({ txid, index }: Outpoint, confirmed: FindCoin, pool: PoolSource): CoinView | undefined {
  if (pool.isSpent(txid, index)) return undefined;
  const coin = confirmed(txid, index);
  if (coin !== undefined) return coin;
  const pooled = pool.coin(txid, index);
  return pooled && { ...pooled, height: POOL_HEIGHT };
}
