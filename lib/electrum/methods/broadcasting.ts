// Transactions that clients broadcast, or only want to have tested.

import { CallError } from '../../answers/errors';
import { decodeTransaction, decodeTransactions, requireNotBurnt, requirePackageSize } from '../../answers/transactions/decoding';
import { DEFAULT_SENDING_LIMITS, type SentPackage, type TriedTransactions } from '../../answers/transactions/sending';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { anyOf, described, listOf, named, object } from '../../describe/schema';
import { ASKED_HEX, FLAG, HASH, TEXT, TXID } from '../../describe/values';
import { LIMITS } from '../../policy/limits';
import { PACKAGE, packageJson } from '../../views/sending';
import { ofDaemon } from '../errors';
import { badRequest, FLAG_OR_NUMBER, readFlag, readHex, readList } from './arguments';
import { BROADCAST_POINTS } from './points';
import type { Method, MethodContext } from '../method';

export function broadcastingMethods(context: MethodContext): Readonly<Record<string, Method>> {
  return {
    'blockchain.transaction.broadcast': broadcast(context),
    'blockchain.transaction.testmempoolaccept': testMempoolAccept(context),
    'blockchain.transaction.broadcast_package': broadcastPackage(context)
  };
}

function broadcast(context: MethodContext): Method {
  return {
    about: { summary: 'Broadcasts a transaction.', parameters: [ASKED_HEX], result: TXID },
    parameters: ['raw_tx'],
    required: 1,
    answer: async ([raw], client) => {
      const hex = readHex(raw);
      requireBroadcast(context);
      client.charge(BROADCAST_POINTS);
      try {
        const transaction = decodeTransaction(hex);
        requireNotBurnt(transaction, DEFAULT_SENDING_LIMITS.mostBurnt);
        await context.sending.send(transaction, DEFAULT_SENDING_LIMITS.mostRate);
        return `"${toDisplayHex(transaction.txid)}"`;
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        throw badRequest(`the transaction was rejected by network rules.\n\n${error.message}\n[${hex}]`);
      }
    }
  };
}

function testMempoolAccept({ sending }: MethodContext): Method {
  return {
    about: {
      summary: 'Whether the pool would take transactions, which are not broadcast.',
      parameters: [
        { ...listOf(ASKED_HEX), maxItems: LIMITS.mostInPackage, description: 'The serialized transactions in hex, parents first.' }
      ],
      result: listOf(
        named(
          'TestedTransaction',
          object(
            { txid: TXID, wtxid: described('The hash with the witness.', HASH) },
            { allowed: described('Absent if it is not known.', FLAG), reason: described('Why not.', TEXT) }
          )
        )
      )
    },
    parameters: ['raw_txs'],
    required: 1,
    isHeavy: true,
    answer: async ([list], client) => {
      const hexes = readList(list).map(readHex);
      if (hexes.length === 0 || hexes.length > LIMITS.mostInPackage)
        throw badRequest(`between 1 and ${LIMITS.mostInPackage} transactions can be tested`);
      client.charge(hexes.length * BROADCAST_POINTS);
      try {
        return testedText(await sending.test(await decodeTransactions(hexes, String), DEFAULT_SENDING_LIMITS.mostRate));
      } catch (error) {
        throw error instanceof CallError ? ofDaemon(error) : error;
      }
    }
  };
}

function broadcastPackage(context: MethodContext): Method {
  return {
    about: {
      summary: 'Broadcasts transactions that depend on each other.',
      parameters: [
        { ...listOf(ASKED_HEX), description: 'The serialized transactions in hex, parents first.' },
        { ...FLAG_OR_NUMBER, description: 'Whether the result says what became of each.' }
      ],
      result: anyOf(
        named(
          'BroadcastPackage',
          object({ success: FLAG }, { errors: listOf(named('PackageError', object({ txid: TXID, error: TEXT }))) })
        ),
        PACKAGE
      )
    },
    parameters: ['raw_txs', 'verbose'],
    required: 1,
    since: '1.6',
    isHeavy: true,
    answer: async ([list, verbose = false], client) => {
      const hexes = readList(list).map(readHex);
      const isVerbose = readFlag(verbose, 'verbose');
      requireBroadcast(context);
      client.charge(hexes.length * BROADCAST_POINTS);
      try {
        requirePackageSize(hexes);
        const sent = await context.sending.sendPackage(await decodeTransactions(hexes, String), DEFAULT_SENDING_LIMITS);
        return isVerbose ? packageJson(sent.message, sent.list, sent.replaced) : shortResult(sent);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        throw badRequest(`the tx package was rejected by network rules.\n\n${error.message}.`);
      }
    }
  };
}

/** @throws ElectrumError when broadcasting is switched off */
function requireBroadcast({ broadcast }: MethodContext): void {
  if (!broadcast) throw badRequest('this server does not broadcast transactions');
}

/** `reason`: the most that is known. */
function testedText({ fault, list }: TriedTransactions): string {
  return JSON.stringify(
    list.map(({ transaction: { txid, wtxid }, trial }) => {
      const reason = fault ?? (trial.type === 'refused' ? (trial.details ?? trial.reason) : undefined);
      return {
        txid: toDisplayHex(txid),
        wtxid: toDisplayHex(wtxid),
        ...(trial.type !== 'unsaid' && { allowed: trial.type === 'taken' }),
        ...(reason !== undefined && { reason })
      };
    })
  );
}

function shortResult({ message, list }: SentPackage): string {
  // A package that has a transaction twice has one result for both, as in JSON.
  const results = new Map(list.map((item) => [keyOf(item.transaction.wtxid), item]));
  const errors = [...results.values()].flatMap(({ transaction: { txid }, sent }) =>
    'error' in sent ? [{ txid: toDisplayHex(txid), error: sent.error }] : []
  );
  return JSON.stringify({ success: message === 'success', ...(errors.length > 0 && { errors }) });
}
