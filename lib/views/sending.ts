// The results of testmempoolaccept and submitpackage (rpc/mempool.cpp of Bitcoin Core).

import { JsonWriter } from './json-writer';

export interface SentTransaction {
  readonly txid: Buffer;
  readonly wtxid: Buffer;
}

/** Satoshis and virtual bytes. */
export interface FeeAndSize {
  readonly fee: number;
  readonly size: number;
}

/** `unsaid`: another transaction of the list was refused. */
export type Trial =
  | ({ readonly type: 'taken' } & FeeAndSize)
  | { readonly type: 'refused'; readonly reason: string; readonly details: string | undefined }
  | { readonly type: 'unsaid' };

/** What became of a transaction of a package; `otherWtxid`: the pool has it with another witness. */
export type Sent = { readonly error: string } | ({ readonly otherWtxid: Buffer | undefined } & FeeAndSize);

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
    if (fault !== undefined) writer.ascii(`,"package-error":"${fault}"`);
    if (trial.type === 'taken') {
      writer.ascii(`,"allowed":true,"vsize":${trial.size}`);
      writeFees(writer, transaction, trial);
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

export function packageJson(message: string, list: readonly { readonly transaction: SentTransaction; readonly sent: Sent }[]): Buffer {
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
    } else {
      if (sent.otherWtxid !== undefined) writer.hashField(',"other-wtxid":', sent.otherWtxid);
      writer.integerField(',"vsize":', sent.size);
      writeFees(writer, transaction, sent);
    }
    writer.ascii('}');
  }
  writer.ascii('},"replaced-transactions":[]}');
  return writer.toBuffer();
}

function writeFees(writer: JsonWriter, { wtxid }: SentTransaction, { fee, size }: FeeAndSize): void {
  writer.amountField(',"fees":{"base":', fee);
  writer.amountField(',"effective-feerate":', Math.floor((fee * 1_000) / size));
  writer.hashField(',"effective-includes":[', wtxid);
  writer.ascii(']}');
}
