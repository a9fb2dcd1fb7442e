// Transactions: their bytes, proofs that they are in the chain, and broadcasting.

import { CallError } from '../../answers/errors';
import { findTransaction, rawTransactionSchema, requireOrdinary, transactionJson } from '../../answers/transactions/raw-transaction';
import {
  decodeTransaction,
  decodeTransactions,
  DEFAULT_SENDING_LIMITS,
  requireNotBurnt,
  type SentPackage,
  type Trials
} from '../../answers/transactions/sending';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { anyOf, described, listOf, named, object, type Schema } from '../../describe/schema';
import { ASKED_HASH, ASKED_HEX, COUNT, FLAG, HASH, HEIGHT, HEX, SATOSHIS, TEXT, TXID, VBYTES } from '../../describe/values';
import { runInSlices } from '../../turns/slices';
import { hexLine } from '../../views/hex';
import { PROFILES } from '../../views/profile';
import { PACKAGE, packageJson } from '../../views/sending';
import { CODES, ElectrumError } from '../errors';
import { badRequest, readCount, readFlag, readHex, readList, readTxid } from './arguments';
import { BROADCAST_POINTS, HASH_POINTS, TRANSACTION_POINTS } from './points';
import type { MerkleTree } from '../../bitcoin/merkle-tree';
import type { ScriptSnapshot } from '../../scripts/types';
import type { ElectrumClient, Method, MethodContext } from '../method';

/** As the call shows a transaction if it is asked for more than its bytes. */
const AS_JSON = { verbosity: 1, isNamed: false };

/** Bytes of a transaction from which on its hex is written in slices. */
const LONG_BYTES = 0x1_0000;

/** Transactions that can be tested together, as by Bitcoin Core. */
const MOST_TESTED = 25;

/** Transactions that are listed as the last ones. */
const MOST_RECENT = 10;

const QUOTE = Buffer.from('"');

const FLAG_OR_NUMBER = { enum: [false, true, 0, 1], default: false } as const;

const PLACE: Schema = { ...COUNT, description: 'The place of the transaction in its block, from 0.' };

const MERKLE = described('The hashes beside the path from the transaction up to the Merkle root.', listOf(HASH));

export function transactionMethods(context: MethodContext): Readonly<Record<string, Method>> {
  const { scripts, trees, sending, broadcast, pool } = context;
  // Wallets read `address`, not `addresses`, so the JSON is the modern edition's even if REST speaks another one.
  const modern = { ...context, profile: PROFILES.modern };

  /** Undefined above the tip, and for the genesis block, whose transaction is in no history. */
  const treeAt = async (height: number, snapshot: ScriptSnapshot, client: ElectrumClient): Promise<MerkleTree | undefined> => {
    const block = height === 0 ? undefined : snapshot.index.headerAt(height);
    if (block === undefined) return undefined;
    return trees.of(block, snapshot, client, (count) => {
      client.charge(count * HASH_POINTS);
    });
  };

  /** @throws ElectrumError when broadcasting is switched off */
  const requireSending = (): void => {
    if (!broadcast) throw badRequest('this server does not broadcast transactions');
  };

  return {
    'blockchain.transaction.get': {
      about: {
        summary: 'A transaction of the chain or the pool.',
        parameters: [ASKED_HASH, { ...FLAG_OR_NUMBER, description: 'false: hex.' }],
        result: anyOf(HEX, rawTransactionSchema(modern.profile.fields))
      },
      parameters: ['tx_hash', 'verbose'],
      required: 1,
      answer: async ([id, verbose = false], client) => {
        const txid = readTxid(id);
        const isVerbose = readFlag(verbose, 'verbose');
        client.charge(TRANSACTION_POINTS);
        try {
          requireOrdinary(txid, context);
          const found = await findTransaction(txid, context, client);
          return isVerbose ? Buffer.concat(await transactionJson(found, AS_JSON, modern, client)) : await hexText(found.raw, client);
        } catch (error) {
          // All Electrum servers show errors of their node in this form.
          throw error instanceof CallError ? ofDaemon(error) : error;
        }
      }
    },
    'blockchain.transaction.get_merkle': {
      about: {
        summary: 'A proof that a transaction is in the block at a height.',
        parameters: [ASKED_HASH, HEIGHT],
        result: named('MerkleProof', object({ block_height: HEIGHT, merkle: MERKLE, pos: PLACE }))
      },
      parameters: ['tx_hash', 'height'],
      required: 2,
      isHeavy: true,
      answer: ([id, at], client) => {
        const [txid, height] = [readTxid(id), readCount(at)];
        return scripts.read(async (snapshot) => {
          const position = snapshot.index.position(txid);
          const tree = position?.block.height === height ? await treeAt(height, snapshot, client) : undefined;
          // The index has only short hashes of txids: on a collision the position is that of another transaction.
          if (position === undefined || tree?.txid(position.index).equals(txid) !== true)
            throw badRequest(`tx ${toDisplayHex(txid)} not in block at height ${grouped(height)}`);
          return `{"block_height":${height},"merkle":${branchText(tree, position.index)},"pos":${position.index}}`;
        });
      }
    },
    'blockchain.transaction.id_from_pos': {
      about: {
        summary: 'The transaction at a place in the block at a height, with a proof if asked for.',
        parameters: [HEIGHT, PLACE, { ...FLAG_OR_NUMBER, description: 'Whether a proof is asked for.' }],
        result: anyOf(TXID, named('ProvenTransaction', object({ tx_hash: TXID, merkle: MERKLE })))
      },
      parameters: ['height', 'tx_pos', 'merkle'],
      required: 2,
      isHeavy: true,
      answer: ([at, pos, merkle = false], client) => {
        const [height, index] = [readCount(at), readCount(pos)];
        const isProof = readFlag(merkle, 'merkle');
        return scripts.read(async (snapshot) => {
          const tree = isProof ? await treeAt(height, snapshot, client) : undefined;
          const txid = height === 0 ? undefined : snapshot.txidAt({ height, index });
          if (txid === undefined) throw badRequest(`no tx at position ${grouped(index)} in block at height ${grouped(height)}`);
          const text = `"${toDisplayHex(txid)}"`;
          return tree === undefined ? text : `{"tx_hash":${text},"merkle":${branchText(tree, index)}}`;
        });
      }
    },
    'blockchain.transaction.broadcast': {
      about: { summary: 'Broadcasts a transaction.', parameters: [ASKED_HEX], result: TXID },
      parameters: ['raw_tx'],
      required: 1,
      answer: async ([raw], client) => {
        const hex = readHex(raw);
        requireSending();
        client.charge(BROADCAST_POINTS);
        try {
          const transaction = decodeTransaction(hex);
          requireNotBurnt(transaction, DEFAULT_SENDING_LIMITS.mostBurnt);
          await sending.send(transaction, DEFAULT_SENDING_LIMITS.mostRate);
          return `"${toDisplayHex(transaction.txid)}"`;
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
          throw badRequest(`the transaction was rejected by network rules.\n\n${error.message}\n[${hex}]`);
        }
      }
    },
    'blockchain.transaction.testmempoolaccept': {
      about: {
        summary: 'Whether the pool would take transactions, which are not broadcast.',
        parameters: [{ ...listOf(ASKED_HEX), maxItems: MOST_TESTED, description: 'The serialized transactions in hex, parents first.' }],
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
        if (hexes.length === 0 || hexes.length > MOST_TESTED) throw badRequest(`between 1 and ${MOST_TESTED} transactions can be tested`);
        client.charge(hexes.length * BROADCAST_POINTS);
        try {
          return testedText(await sending.test(decodeTransactions(hexes, String), DEFAULT_SENDING_LIMITS.mostRate));
        } catch (error) {
          throw error instanceof CallError ? ofDaemon(error) : error;
        }
      }
    },
    'mempool.recent': {
      about: {
        summary: 'The last transactions that entered the pool, the newest first.',
        parameters: [],
        result: {
          ...listOf(named('RecentTransaction', object({ txid: TXID, fee: SATOSHIS, vsize: VBYTES }))),
          maxItems: MOST_RECENT
        }
      },
      parameters: [],
      required: 0,
      answer: () => JSON.stringify(pool.newest(MOST_RECENT).map(({ txid, fee, vsize }) => ({ txid: toDisplayHex(txid), fee, vsize })))
    },
    'blockchain.transaction.broadcast_package': {
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
        requireSending();
        client.charge(hexes.length * BROADCAST_POINTS);
        try {
          const sent = await sending.sendPackage(decodeTransactions(hexes, String), DEFAULT_SENDING_LIMITS);
          return isVerbose ? packageJson(sent.message, sent.list, sent.replaced) : shortResult(sent);
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
          throw badRequest(`the tx package was rejected by network rules.\n\n${error.message}.`);
        }
      }
    }
  };
}

async function hexText(raw: Buffer, client: ElectrumClient): Promise<string | Buffer> {
  if (raw.length <= LONG_BYTES) return `"${raw.toString('hex')}"`;
  const line = await runInSlices(hexLine(raw), client);
  return Buffer.concat([QUOTE, line.subarray(0, -1), QUOTE]);
}

const ofDaemon = ({ code, message }: CallError): ElectrumError =>
  new ElectrumError(CODES.daemon, `daemon error: DaemonError({'code': ${code}, 'message': '${message}'})`);

/** `reason`: the most that is known. */
function testedText({ fault, list }: Trials): string {
  return JSON.stringify(
    list.map(({ transaction: { txid, wtxid }, trial }) => {
      const reason = fault ?? (trial.type === 'refused' ? (trial.details ?? trial.reason) : undefined);
      return {
        ...{ txid: toDisplayHex(txid), wtxid: toDisplayHex(wtxid) },
        ...(trial.type !== 'unsaid' && { allowed: trial.type === 'taken' }),
        ...(reason !== undefined && { reason })
      };
    })
  );
}

const branchText = (tree: MerkleTree, index: number): string => JSON.stringify(tree.branch(index).map(toDisplayHex));

/** With commas between groups of three digits. */
const grouped = (number: number): string => number.toLocaleString('en-US');

function shortResult({ message, list }: SentPackage): string {
  // A package that has a transaction twice has one result for both, as in JSON.
  const results = new Map(list.map((item) => [keyOf(item.transaction.wtxid), item]));
  const errors = [...results.values()].flatMap(({ transaction: { txid }, sent }) =>
    'error' in sent ? [{ txid: toDisplayHex(txid), error: sent.error }] : []
  );
  return JSON.stringify({ success: message === 'success', ...(errors.length > 0 && { errors }) });
}
