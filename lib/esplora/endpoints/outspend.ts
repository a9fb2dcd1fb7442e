// Which transactions spend the outputs of a transaction.

import { runInSlices } from '../../turns/slices';
import { writeOutspend } from '../../views/esplora/coins';
import { JsonWriter } from '../../views/json-writer';
import { noTxids, tooManyTxids, transactionNotFound } from '../errors';
import { findHash, jsonReply, readHash, readNumber, replyAt, replyFrom } from '../reply';
import type { Spend, Spends } from '../../answers/transactions/spends';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

const MOST_INDEX = 0xffff_ffff;

/** Transactions in one request. */
const MOST_TXIDS = 50;

const SPENDS_PER_SLICE = 64;

export function outspendRoutes(context: EsploraContext): Route[] {
  const { spends } = context;
  return [
    { method: 'GET', path: '/tx/:txid/outspend/:index', endpoint: outspendEndpoint(context, spends), isHeavy: true },
    { method: 'GET', path: '/tx/:txid/outspends', endpoint: outspendsEndpoint(spends), isHeavy: true },
    { method: 'GET', path: '/txs/outspends', endpoint: outspendsOfManyEndpoint(spends), isHeavy: true }
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

function* writeLists(writer: JsonWriter, lists: readonly (readonly Spend[] | undefined)[]): Generator<void, void> {
  for (const [i, list] of lists.entries()) {
    writer.ascii(i === 0 ? '[' : ',');
    yield* writeOutspends(writer, list ?? []);
  }
  writer.ascii(']');
}

function* writeOutspends(writer: JsonWriter, list: readonly Spend[]): Generator<void, void> {
  writer.ascii('[');
  for (const [i, spend] of list.entries()) {
    if (i > 0) writer.ascii(',');
    writeOutspend(writer, spend);
    if (i % SPENDS_PER_SLICE === SPENDS_PER_SLICE - 1) yield;
  }
  writer.ascii(']');
}
