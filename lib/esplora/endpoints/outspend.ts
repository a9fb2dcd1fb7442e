// Which transactions spend the outputs of a transaction.

import { inPath, inQuery, json } from '../../describe/open-api';
import { listOf } from '../../describe/schema';
import { COUNT, TEXT } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { OUTSPEND, writeOutspend } from '../../views/esplora/coins';
import { JsonWriter } from '../../views/json-writer';
import { noTxids, tooManyTxids, transactionNotFound } from '../errors';
import { TXID_IN_PATH, UNKNOWN_TRANSACTION } from '../operations';
import { findHash, jsonReply, readHash, readNumber, replyAt, replyFrom } from '../reply';
import type { Outspend, Spends } from '../../answers/transactions/spends';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

const MOST_INDEX = 0xffff_ffff;

/** Transactions in one request. */
const MOST_TXIDS = 50;

const SPENDS_PER_SLICE = 64;

export function outspendRoutes(context: EsploraContext): Route[] {
  const { spends } = context;
  return [
    {
      method: 'GET',
      path: '/tx/:txid/outspend/:index',
      endpoint: outspendEndpoint(context, spends),
      isHeavy: true,
      operation: {
        id: 'getOutspend',
        summary: 'Which transaction spends an output.',
        parameters: [TXID_IN_PATH, inPath('index', 'The index of the output.', { ...COUNT, maximum: MOST_INDEX })],
        answer: json('The spend. An output that does not exist is not spent.', OUTSPEND),
        errors: { 400: 'The txid is not 64 hex digits, or the index is not a number.' }
      }
    },
    {
      method: 'GET',
      path: '/tx/:txid/outspends',
      endpoint: outspendsEndpoint(spends),
      isHeavy: true,
      operation: {
        id: 'getOutspends',
        summary: 'Which transactions spend the outputs of a transaction.',
        parameters: [TXID_IN_PATH],
        answer: json('One for each output.', listOf(OUTSPEND)),
        errors: UNKNOWN_TRANSACTION
      }
    },
    {
      method: 'GET',
      path: '/txs/outspends',
      endpoint: outspendsOfManyEndpoint(spends),
      isHeavy: true,
      operation: {
        id: 'getOutspendsOfMany',
        summary: 'Which transactions spend the outputs of some transactions.',
        parameters: [{ ...inQuery('txids', `Up to ${MOST_TXIDS} txids separated by commas.`, TEXT), isRequired: true }],
        answer: json('A list for each txid; empty for an unknown one.', listOf(listOf(OUTSPEND))),
        errors: { 400: 'There are no txids, or too many.' }
      }
    }
  ];
}

function outspendEndpoint({ scripts }: EsploraContext, spends: Spends): Endpoint {
  return async (request) => {
    const txid = readHash(request.parameter('txid'));
    const n = readNumber(request.parameter('index'), MOST_INDEX);
    return scripts.read(async (snapshot) => {
      const { spend, basis } = await spends.of(txid, n, snapshot, request);
      const writer = new JsonWriter();
      writeOutspend(writer, spend);
      const reply = jsonReply(writer.toBuffer());
      return spend?.status === undefined ? replyFrom(reply, basis) : replyAt(reply, snapshot.index.tip, spend.status.height);
    });
  };
}

function outspendsEndpoint(spends: Spends): Endpoint {
  return async (request) => {
    const found = await spends.ofAll(readHash(request.parameter('txid')), request);
    if (found === undefined) throw transactionNotFound();
    const text = await runInSlices(
      textOf((writer) => writeOutspends(writer, found.spends)),
      request
    );
    return replyFrom(jsonReply(text), found.basis);
  };
}

function outspendsOfManyEndpoint(spends: Spends): Endpoint {
  return async (request) => {
    const texts = request.query('txids')?.split(',') ?? [];
    if (texts.length === 0) throw noTxids();
    if (texts.length > MOST_TXIDS) throw tooManyTxids();
    // As in electrs, what is no txid has the answer of an unknown one.
    const lists = await spends.ofMany(texts.map(findHash), request);
    return jsonReply(
      await runInSlices(
        textOf((writer) => writeLists(writer, lists)),
        request
      )
    );
  };
}

function* textOf(write: (writer: JsonWriter) => Generator<void, void>): Generator<void, Buffer> {
  const writer = new JsonWriter();
  yield* write(writer);
  return writer.toBuffer();
}

function* writeLists(writer: JsonWriter, lists: readonly (readonly Outspend[] | undefined)[]): Generator<void, void> {
  for (const [i, list] of lists.entries()) {
    writer.ascii(i === 0 ? '[' : ',');
    yield* writeOutspends(writer, list ?? []);
  }
  writer.ascii(']');
}

function* writeOutspends(writer: JsonWriter, list: readonly Outspend[]): Generator<void, void> {
  writer.ascii('[');
  for (const [i, spend] of list.entries()) {
    if (i > 0) writer.ascii(',');
    writeOutspend(writer, spend);
    if (i % SPENDS_PER_SLICE === SPENDS_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
}
