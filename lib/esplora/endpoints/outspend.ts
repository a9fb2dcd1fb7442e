// Which transactions spend the outputs of a transaction.

import { JsonWriter } from '../../views/json-writer';
import { writeOutspend } from '../../views/esplora/coins';
import { noTxids, tooManyTxids, transactionNotFound } from '../errors';
import { findHash, jsonReply, readHash, readNumber, replyAt } from '../reply';
import { Spends, type Spend } from '../spends';
import type { Endpoint, EsploraContext, Route } from '../endpoint';

const MOST_INDEX = 0xffff_ffff;

/** Transactions in one request. */
const MOST_TXIDS = 50;

export function outspendRoutes(context: EsploraContext): Route[] {
  const spends = new Spends(context);
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
      const spend = await spends.of(txid, n, snapshot, request);
      const writer = new JsonWriter();
      writeOutspend(writer, spend);
      const reply = jsonReply(writer.toBuffer());
      // An output that no block spends may be spent in the pool at any time, so that reply is not cached.
      return spend?.status === undefined ? reply : replyAt(reply, snapshot.index.tip, spend.status.height);
    });
  };
}

function outspendsEndpoint(spends: Spends): Endpoint {
  return async (request) => {
    const list = await spends.ofAll(readHash(request.parameter('txid')), request);
    if (list === undefined) throw transactionNotFound();
    const writer = new JsonWriter();
    writeOutspends(writer, list);
    return jsonReply(writer.toBuffer());
  };
}

function outspendsOfManyEndpoint(spends: Spends): Endpoint {
  return async (request) => {
    const texts = request.query('txids')?.split(',') ?? [];
    if (texts.length === 0) throw noTxids();
    if (texts.length > MOST_TXIDS) throw tooManyTxids();
    const writer = new JsonWriter();
    for (const [i, text] of texts.entries()) {
      writer.ascii(i === 0 ? '[' : ',');
      // As in electrs, what is no txid has the answer of an unknown one.
      const txid = findHash(text);
      writeOutspends(writer, (txid && (await spends.ofAll(txid, request))) ?? []);
    }
    writer.ascii(']');
    return jsonReply(writer.toBuffer());
  };
}

function writeOutspends(writer: JsonWriter, list: readonly Spend[]): void {
  writer.ascii('[');
  for (const [i, spend] of list.entries()) {
    if (i > 0) writer.ascii(',');
    writeOutspend(writer, spend);
  }
  writer.ascii(']');
}
