// /rest/getutxos: which outpoints are unspent, and their outputs. Outpoints come in the path or, for bin and hex, in the body.

import { styleOf, type Answers } from '../../answers/answers';
import { bytes, inPath, text, type PlacedOperation } from '../../describe/open-api';
import { ASKED_HEX } from '../../describe/values';
import { coinsBinary, coinsJson, coinsSchema, type CoinView } from '../../views/coins';
import { emptyRequest, formatNotFound, outpointsTwice, parseError, tooManyOutpoints } from '../errors';
import { ALL_FORMATS, replyIn, splitSuffix } from '../format';
import { inFormats, LINE } from '../operations';
import { bytesOfHexBody, outpointsInBody, outpointsInPath, type Query } from '../outpoints';
import type { IndexSnapshot } from '../../index/types';
import type { PoolSource } from '../../node/types/pool';
import type { Format } from '../../server/http/reply';
import type { ProfileParsing } from '../../views/profile';
import type { Endpoint } from '../endpoint';

/** The height of coins that are not in a block yet (MEMPOOL_HEIGHT, txmempool.h). */
const POOL_HEIGHT = 0x7fff_ffff;

export function coinsEndpoint(answers: Answers): Endpoint {
  const {
    node,
    reader,
    limits,
    profile: { parsing }
  } = answers;
  const style = styleOf(answers);

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

/** What a success has in bin. */
const BYTES =
  'The height (4 bytes, little-endian) and the hash (32 bytes) of the tip, the bitmap after its length, and the unspent outputs after their ' +
  'number: a placeholder (4 bytes), the height (4 bytes; 2147483647 for one of the pool), the value in satoshis (8 bytes), the script after its length.';

export function coinsOperations({ profile: { fields }, limits }: Pick<Answers, 'profile' | 'limits'>): PlacedOperation[] {
  const { maxOutpoints } = limits;
  const refusals = { 400: `There are no outpoints, one is malformed, or there are more than ${maxOutpoints}.` };
  const outpoint = '[0-9a-fA-F]{64}-\\d+';
  const outpoints = inPath(
    'outpoints',
    `Up to ${maxOutpoints} outpoints, each a txid, a dash and the index of the output, with slashes (which are not encoded) between them.`,
    { type: 'string', pattern: `^${outpoint}(/${outpoint}){0,${maxOutpoints - 1}}$` }
  );
  const common = {
    parameters: [outpoints],
    formats: { bin: BYTES, json: { description: 'The unspent outputs.', schema: coinsSchema(fields) } },
    errors: refusals
  };
  const posted = {
    method: 'POST',
    summary: 'Which outputs are unspent, and what they are, with the outpoints in the body.',
    errors: { ...refusals, 413: 'The body is too large.' }
  } as const;
  const form =
    'One byte (1: as the pool leaves the chain; 0: of the chain alone), the number of outpoints (a compact size), ' +
    'and for each the txid (32 bytes, not reversed) and the index (4 bytes, little-endian).';
  return [
    ...inFormats({
      ...common,
      id: 'getUnspent',
      path: '/getutxos/{outpoints}',
      summary: 'Which outputs of the active chain are unspent, and what they are.'
    }),
    ...inFormats({
      ...common,
      id: 'getUnspentWithPool',
      path: '/getutxos/checkmempool/{outpoints}',
      summary: 'Which outputs of chain and pool are unspent, also by the pool, and what they are.'
    }),
    {
      ...posted,
      id: 'postUnspentBin',
      path: '/getutxos.bin',
      body: bytes(form),
      answer: bytes(BYTES)
    },
    {
      ...posted,
      id: 'postUnspentHex',
      path: '/getutxos.hex',
      body: text(`${form} In hex.`, ASKED_HEX),
      answer: text(`${BYTES} In hex, and a line feed.`, LINE)
    }
  ];
}
