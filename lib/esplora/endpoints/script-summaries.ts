// What each transaction of the chain changed for one or several scripts, as mempool's version of electrs has it: enough for a chart of the
// balance. It is made of the index alone, without the bytes of transactions.

import { confirmationAt, positionOf } from '../../answers/transactions/transactions';
import { unlessGone } from '../../answers/scripts/totals';
import { inPath, inQuery, json, type Operation } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { ASKED_HASH } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { SUMMARY, writeSummary } from '../../views/esplora/summary';
import { JsonWriter } from '../../views/json-writer';
import { cursorNotFound } from '../errors';
import { findHash, findNumber, jsonReply, replyFrom } from '../reply';
import { operationOf, scriptIn } from './script';
import { hashesIn, listBody, listedKinds, listErrors } from './script-histories';
import { rowAfter } from './script-history';
import type { IndexSnapshot } from '../../index/types';
import type { RowChange, ScriptSnapshot } from '../../scripts/types';
import type { EsploraContext, EsploraRequest, Route } from '../endpoint';

/** Transactions in one reply: mempool's default. */
const MOST_SUMMARIES = 5_000;

const SUMMARIES_PER_SLICE = 64;
const SUMMARY_LENGTH = 160;

/** Where mempool's interface has its paths; Esplora's are not below anything. */
const PLACES = [
  { below: '', suffix: '' },
  { below: '/v1', suffix: 'OfMempool' }
] as const;

const LAST = inPath('last', 'The last transaction of the page before.', ASKED_HASH);

const PARAMETERS = [
  inQuery('max_txs', 'The most transactions.', { type: 'integer', minimum: 0, maximum: MOST_SUMMARIES }),
  inQuery('after_txid', 'The last transaction of the page before, if the path does not have it.', ASKED_HASH)
];

const ANSWER = json('From the newest transaction down.', { ...listOf(SUMMARY), maxItems: MOST_SUMMARIES });

const NO_CURSOR = { 422: 'Neither the chain nor the pool has the transaction after which the page should begin.' };

const OPERATION: Operation = {
  id: 'Summary',
  summary: `What each transaction of the chain changed for a script, ${MOST_SUMMARIES} at most.`,
  parameters: PARAMETERS,
  answer: ANSWER,
  errors: NO_CURSOR
};

export function summaryRoutes(context: EsploraContext): Route[] {
  return PLACES.flatMap(({ below, suffix }) =>
    [false, true].flatMap((isAfter) => {
      const [behind, id] = [isAfter ? '/:last' : '', `${OPERATION.id}${isAfter ? 'After' : ''}${suffix}`];
      const parameters = [...(isAfter ? [LAST] : []), ...PARAMETERS];
      return [
        ...(['address', 'scripthash'] as const).map((kind): Route => {
          const scriptOf = scriptIn(kind, context);
          return {
            method: 'GET',
            path: `${below}/${kind}/:script/txs/summary${behind}`,
            endpoint: (request) => summaries([scriptOf(request)], request, context),
            isHeavy: true,
            operation: operationOf(kind, { ...OPERATION, id, parameters })
          };
        }),
        ...listedKinds(context).map(({ path, noun, name, read }): Route => ({
          method: 'POST',
          path: `${below}${path}/txs/summary${behind}`,
          endpoint: (request) => summaries(hashesIn(request.body, read), request, context),
          isHeavy: true,
          operation: {
            id: `post${name}${id}`,
            summary: `What each transaction of the chain changed for several ${noun} together, ${MOST_SUMMARIES} at most.`,
            parameters,
            body: listBody(noun),
            answer: ANSWER,
            errors: { ...listErrors(noun), ...NO_CURSOR }
          }
        }))
      ];
    })
  );
}

/** The page is empty if the history does not have the cursor. `hashes`: SHA-256 of the scripts, each once. */
function summaries(
  hashes: readonly Buffer[],
  request: EsploraRequest,
  { scripts, pool, bases }: EsploraContext
): ReturnType<Route['endpoint']> {
  const asked = request.optional('last') ?? request.query('after_txid') ?? '';
  const limit = Math.min(findNumber(request.query('max_txs') ?? '') ?? MOST_SUMMARIES, MOST_SUMMARIES);
  return scripts.read(async (snapshot) => {
    const { index } = snapshot;
    const cursor = findHash(asked);
    if (cursor !== undefined && positionOf(cursor, index) === undefined && pool.get(cursor) === undefined) throw cursorNotFound();
    const [only] = hashes;
    const basesNow = bases.at(snapshot);
    const changes = await changesBehind(cursor, hashes, limit, snapshot, request);
    const reply = jsonReply(await runInSlices(summariesText(changes ?? [], index), request));
    // The place of a cursor that is another script's may change whatever this script does.
    return replyFrom(reply, changes === undefined || only === undefined || hashes.length > 1 ? undefined : basesNow.ofRows(only));
  });
}

/** The changes older than the cursor's, which is looked up in this snapshot; undefined if the scripts' histories do not have it. */
async function changesBehind(
  cursor: Buffer | undefined,
  hashes: readonly Buffer[],
  limit: number,
  snapshot: ScriptSnapshot,
  request: EsploraRequest
): Promise<readonly RowChange[] | undefined> {
  const goOn = unlessGone(request);
  if (cursor === undefined) return snapshot.changes(hashes, { limit, goOn });
  const position = positionOf(cursor, snapshot.index);
  if (position === undefined) return undefined;
  const [first, ...changes] = await snapshot.changes(hashes, { beyond: rowAfter(position), limit: limit + 1, goOn });
  return first?.txid.equals(cursor) === true ? changes : undefined;
}

function* summariesText(changes: readonly RowChange[], index: IndexSnapshot): Generator<void, Buffer> {
  const writer = new JsonWriter(changes.length * SUMMARY_LENGTH + 2);
  let [height, time] = [-1, 0];
  writer.ascii('[');
  for (const [i, change] of changes.entries()) {
    if (change.position.height !== height) {
      height = change.position.height;
      ({ time } = confirmationAt(height, index));
    }
    if (i > 0) writer.ascii(',');
    writeSummary(writer, change, time);
    if (i % SUMMARIES_PER_SLICE === SUMMARIES_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
  return writer.toBuffer();
}
