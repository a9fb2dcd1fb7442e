// /rest/getutxos: which outpoints are unspent, and their outputs. Outpoints come in the path or, for bin and hex, in the body.

import { styleOf, type Answers } from '../../answers/answers';
import { coinsBinary, coinsJson, type CoinView } from '../../views/coins';
import { emptyRequest, formatNotFound, outpointsTwice, parseError, tooManyOutpoints } from '../errors';
import { ALL_FORMATS, replyIn, splitSuffix } from '../format';
import { bytesOfHexBody, outpointsInBody, outpointsInPath, type Query } from '../outpoints';
import type { IndexSnapshot } from '../../index/types';
import type { PoolSource } from '../../node/types';
import type { Format } from '../../server/http/reply';
import type { ProfileParsing } from '../../views/profile';
import type { Endpoint } from '../endpoint';

/** The height of coins that are not in a block yet (MEMPOOL_HEIGHT, txmempool.h). */
const POOL_HEIGHT = 0x7fff_ffff;

export function coinsEndpoint(context: Answers): Endpoint {
  const {
    node,
    reader,
    limits,
    profile: { parsing }
  } = context;
  const style = styleOf(context);

  return async (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const { checkMempool, outpoints } = readQuery(parameter, format, request.body, parsing);
    if (outpoints.length > limits.maxOutpoints) throw tooManyOutpoints(limits.maxOutpoints, outpoints.length);
    // Index and pool are read in one tick, so that the answer is of one moment.
    const found = reader.read((snapshot) => ({
      tip: snapshot.tip,
      coins: outpoints.map(({ txid, index }) => (checkMempool ? unspentCoin(txid, index, snapshot, node.pool) : snapshot.coin(txid, index)))
    }));
    const forms = { binary: () => coinsBinary(found), json: () => coinsJson(found, style) };
    // A reply that depends on the pool does not hold for a state of the index.
    return await replyIn(format, forms, ALL_FORMATS, request, checkMempool ? undefined : found.tip);
  };
}

/** In the order in which Bitcoin Core checks. @throws HttpError 400, 404 */
function readQuery(parameter: string, format: Format | undefined, body: Buffer, parsing: ProfileParsing): Query {
  if (parameter.length <= 1 && body.length === 0) throw emptyRequest();
  const inPath = outpointsInPath(parameter, parsing);
  switch (format) {
    case 'json':
      if (inPath === undefined) throw emptyRequest();
      return inPath;
    case 'bin':
      return combine(inPath, body);
    case 'hex':
      return combine(inPath, bytesOfHexBody(body));
    case undefined:
      throw formatNotFound(ALL_FORMATS);
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

function unspentCoin(txid: Buffer, index: number, snapshot: IndexSnapshot, pool: PoolSource): CoinView | undefined {
  if (pool.isSpent(txid, index)) return undefined;
  const coin = snapshot.coin(txid, index);
  if (coin !== undefined) return coin;
  const pooled = pool.coin(txid, index);
  return pooled && { ...pooled, height: POOL_HEIGHT };
}
