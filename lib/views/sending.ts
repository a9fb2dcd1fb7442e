// The results of testmempoolaccept and submitpackage (rpc/mempool.cpp of Bitcoin Core).

import { WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import { JsonWriter } from './json-writer';
import { anyOf, described, listOf, mapOf, named, object, type Schema } from '../describe/schema';
import { COINS, CORE_FEE_RATE, HASH, TEXT, TXID, VBYTES } from '../describe/values';

export interface SentTransaction {
  readonly txid: Buffer;
  readonly wtxid: Buffer;
}

/** Satoshis; virtual bytes of the weight that counts in the pool; weight as in a block. */
interface Measures {
  readonly fee: number;
  readonly size: number;
  readonly weight: number;
}

/** `unsaid`: another transaction of the list was refused. */
export type Trial =
  | ({ readonly type: 'taken' } & Measures)
  | { readonly type: 'refused'; readonly reason: string; readonly details: string | undefined }
  | { readonly type: 'unsaid' };

/** The transactions that were judged by their fees and virtual bytes together. */
interface Effective {
  readonly fee: number;
  readonly size: number;
  readonly wtxids: readonly Buffer[];
}

/** What became of a transaction of a package; `effective`: undefined for one that was in the pool before. */
export type Sent =
  { readonly error: string } | { readonly otherWtxid: Buffer } | ({ readonly effective: Effective | undefined } & Measures);

/** `fault`: why the transactions do not form a package. */
export function trialsJson(
  trials: readonly { readonly transaction: SentTransaction; readonly trial: Trial }[],
  fault: string | undefined
): Buffer {
  const writer = new JsonWriter();
  writer.ascii('[');
  for (const [i, { transaction, trial }] of trials.entries()) {
    writer.hashField(i === 0 ? '{"txid":' : ',{"txid":', transaction.txid);
    writer.hashField(',"wtxid":', transaction.wtxid);
    if (fault !== undefined) {
      writer.ascii(',"package-error":');
      writer.string(fault);
    }
    if (trial.type === 'taken') {
      writer.ascii(',"allowed":true');
      writeMeasures(writer, trial, { ...trial, wtxids: [transaction.wtxid] });
    } else if (trial.type === 'refused') {
      writer.ascii(',"allowed":false,"reject-reason":');
      writer.string(trial.reason);
      if (trial.details !== undefined) {
        writer.ascii(',"reject-details":');
        writer.string(trial.details);
      }
    }
    writer.ascii('}');
  }
  writer.ascii(']');
  return writer.toBuffer();
}

/** `replaced`: txids of transactions that have left the pool. */
export function packageJson(
  message: string,
  list: readonly { readonly transaction: SentTransaction; readonly sent: Sent }[],
  replaced: readonly Buffer[]
): Buffer {
  const writer = new JsonWriter();
  writer.ascii('{"package_msg":');
  writer.string(message);
  writer.ascii(',"tx-results":{');
  for (const [i, { transaction, sent }] of list.entries()) {
    if (i > 0) writer.ascii(',');
    writer.hashString(transaction.wtxid);
    writer.hashField(':{"txid":', transaction.txid);
    if ('error' in sent) {
      writer.ascii(',"error":');
      writer.string(sent.error);
    } else if ('otherWtxid' in sent) writer.hashField(',"other-wtxid":', sent.otherWtxid);
    else writeMeasures(writer, sent, sent.effective);
    writer.ascii('}');
  }
  writer.ascii('},"replaced-transactions":[');
  writeHashes(writer, replaced);
  writer.ascii(']}');
  return writer.toBuffer();
}

function writeMeasures(writer: JsonWriter, { fee, size, weight }: Measures, effective: Effective | undefined): void {
  writer.integerField(',"vsize_adjusted":', size);
  writer.integerField(',"vsize":', size);
  writer.integerField(',"vsize_bip141":', Math.ceil(weight / WEIGHT_PER_VBYTE));
  writer.amountField(',"fees":{"base":', fee);
  if (effective !== undefined) {
    writer.amountField(',"effective-feerate":', Math.floor((effective.fee * 1_000) / effective.size));
    writer.ascii(',"effective-includes":[');
    writeHashes(writer, effective.wtxids);
    writer.ascii(']');
  }
  writer.ascii('}');
}

function writeHashes(writer: JsonWriter, hashes: readonly Buffer[]): void {
  for (const [i, hash] of hashes.entries()) {
    if (i > 0) writer.ascii(',');
    writer.hashString(hash);
  }
}

const WTXID = described('The hash with the witness.', HASH);

const INCLUDES = described('The transactions that were judged together, by wtxid.', listOf(WTXID));

const MEASURES = {
  vsize_adjusted: described('Virtual bytes that count in the pool.', VBYTES),
  vsize: described('As vsize_adjusted.', VBYTES),
  vsize_bip141: VBYTES
};

/** What `trialsJson` writes. */
export const TRIALS: Schema = listOf(
  named(
    'Trial',
    anyOf(
      object(
        {
          txid: TXID,
          wtxid: WTXID,
          allowed: { const: true, description: 'It would enter the pool.' },
          ...MEASURES,
          fees: object({ base: COINS, 'effective-feerate': CORE_FEE_RATE, 'effective-includes': INCLUDES })
        },
        { 'package-error': TEXT }
      ),
      object(
        { txid: TXID, wtxid: WTXID, allowed: { const: false }, 'reject-reason': TEXT },
        { 'package-error': TEXT, 'reject-details': TEXT }
      ),
      described(
        'Of a transaction that was not tried, because of another one.',
        object({ txid: TXID, wtxid: WTXID }, { 'package-error': TEXT })
      )
    )
  )
);

/** What `packageJson` writes. */
export const PACKAGE: Schema = named(
  'SentPackage',
  object({
    package_msg: described('`success`, or why not all transactions are in the pool.', TEXT),
    'tx-results': described(
      'By wtxid.',
      mapOf(
        WTXID,
        named(
          'PackageResult',
          anyOf(
            object({ txid: TXID, error: TEXT }),
            object({ txid: TXID, 'other-wtxid': described('The pool has it with another witness.', WTXID) }),
            object({
              txid: TXID,
              ...MEASURES,
              fees: object({ base: COINS }, { 'effective-feerate': CORE_FEE_RATE, 'effective-includes': INCLUDES })
            })
          )
        )
      )
    ),
    'replaced-transactions': described('Transactions that have left the pool.', listOf(TXID))
  })
);
