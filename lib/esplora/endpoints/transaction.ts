// A transaction of the active chain or the pool: as JSON, its status, its bytes.

import { confirmationAt, positionOf } from '../../answers/transactions/transactions';
import { bytes, json, text } from '../../describe/open-api';
import { HEX } from '../../describe/values';
import { CONTENT_TYPES } from '../../server/http/reply';
import { runInSlices } from '../../turns/slices';
import { STATUS, writeStatus } from '../../views/esplora/status';
import { ESPLORA_TRANSACTION } from '../../views/esplora/transaction';
import { hexLine } from '../../views/hex';
import { JsonWriter } from '../../views/json-writer';
import { transactionNotFound } from '../errors';
import { NOT_HEX, TXID_IN_PATH, UNKNOWN_TRANSACTION } from '../operations';
import { binaryReply, jsonReply, readHash, replyAt, unkept, type EsploraReply } from '../reply';
import type { Placed } from '../../answers/transactions/placed-transaction';
import type { PooledTransaction } from '../../pool/by-script/pooled-transaction';
import type { ScriptSnapshot } from '../../scripts/types';
import type { Endpoint, EsploraContext, EsploraRequest, Route } from '../endpoint';

/** Make the reply about a transaction. */
interface Forms {
  confirmed(placed: Placed, snapshot: ScriptSnapshot, client: EsploraRequest): Promise<EsploraReply>;
  pooled(transaction: PooledTransaction, client: EsploraRequest): Promise<EsploraReply>;
}

export function transactionRoutes(context: EsploraContext): Route[] {
  const [parameters, errors] = [[TXID_IN_PATH], UNKNOWN_TRANSACTION];
  return [
    {
      method: 'GET',
      path: '/tx/:txid',
      endpoint: transactionEndpoint(context, asJson(context)),
      operation: {
        id: 'getTransaction',
        summary: 'A transaction of the active chain or the pool.',
        parameters,
        errors,
        answer: json('The transaction.', ESPLORA_TRANSACTION)
      }
    },
    {
      method: 'GET',
      path: '/tx/:txid/status',
      endpoint: statusEndpoint(context),
      operation: {
        id: 'getTransactionStatus',
        summary: 'In which block a transaction is.',
        parameters,
        answer: json('The status; an unknown transaction is not confirmed.', STATUS),
        errors: { 400: NOT_HEX }
      }
    },
    {
      method: 'GET',
      path: '/tx/:txid/hex',
      endpoint: transactionEndpoint(context, asHex(context)),
      operation: {
        id: 'getTransactionHex',
        summary: 'A transaction in hex.',
        parameters,
        errors,
        answer: text('The serialized transaction.', HEX)
      }
    },
    {
      method: 'GET',
      path: '/tx/:txid/raw',
      endpoint: transactionEndpoint(context, asBytes(context)),
      operation: {
        id: 'getTransactionRaw',
        summary: 'The bytes of a transaction.',
        parameters,
        errors,
        answer: bytes('The serialized transaction.')
      }
    }
  ];
}

const asJson = ({ transactions }: EsploraContext): Forms => ({
  confirmed: async (placed, { index }, client) => jsonReply((await transactions.confirmed([placed], index, client))[0] as Buffer), // there is one
  pooled: async (transaction, client) => jsonReply(await transactions.unconfirmed(transaction, client))
});

const asHex = ({ transactions }: EsploraContext): Forms => ({
  confirmed: async (placed, { index }, client) => hexReply((await transactions.at(placed, index, client)).raw, client),
  pooled: ({ raw }, client) => hexReply(raw, client)
});

const asBytes = ({ transactions }: EsploraContext): Forms => ({
  confirmed: async (placed, { index }, client) => binaryReply((await transactions.at(placed, index, client)).raw),
  pooled: ({ raw }) => Promise.resolve(binaryReply(raw))
});

function transactionEndpoint({ scripts, bases, pool, node }: EsploraContext, forms: Forms): Endpoint {
  return async (request) => {
    const txid = readHash(request.parameter('txid'));
    return scripts.read(async (snapshot) => {
      // The pool is read in the turn of the snapshot: a transaction that is being confirmed is in at least one of the two.
      const position = positionOf(txid, snapshot.index);
      if (position !== undefined) {
        const of = bases.about(position, snapshot);
        const made = await forms.confirmed({ txid, position }, snapshot, request);
        const reply = replyAt(made, snapshot.index.tip, position.height, of);
        return node.pruned ? unkept(reply) : reply;
      }
      const pooled = pool.get(txid);
      if (pooled === undefined) throw transactionNotFound();
      return forms.pooled(pooled, request);
    });
  };
}

async function hexReply(raw: Buffer, client: EsploraRequest): Promise<EsploraReply> {
  const line = await runInSlices(hexLine(raw), client);
  // Without the line feed.
  return { contentType: CONTENT_TYPES.hex, body: line.subarray(0, -1) };
}

/** An unknown transaction is reported as not confirmed. */
function statusEndpoint({ scripts, bases }: EsploraContext): Endpoint {
  return async (request) => {
    const txid = readHash(request.parameter('txid'));
    return scripts.read((snapshot) => {
      const { index } = snapshot;
      const position = positionOf(txid, index);
      const height = position?.height;
      const writer = new JsonWriter();
      writeStatus(writer, height === undefined ? undefined : confirmationAt(height, index));
      const of = position && bases.about(position, snapshot);
      return Promise.resolve(replyAt(jsonReply(writer.toBuffer()), index.tip, height, of));
    });
  };
}
