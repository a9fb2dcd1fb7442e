// Coins, inputs that spend them, and totals of scripts, as Esplora shows them.

import { STATUS, writeStatus, type EsploraStatus } from './status';
import { COMMA, OBJECT_END, OBJECT_START, type JsonWriter } from '../json-writer';
import { anyOf, described, named, object, type PlainSchema, type Schema } from '../../describe/schema';
import { COUNT, SATOSHIS, TEXT, TXID } from '../../describe/values';
import type { ScriptTotals } from '../../scripts/types';

export interface EsploraCoin {
  /** 32 bytes in wire order. */
  readonly txid: Buffer;
  readonly index: number;
  /** In satoshis. */
  readonly value: number;
  /** Status of the transaction that made it. */
  readonly status: EsploraStatus;
}

/** An input that spends an output. */
export interface EsploraSpend {
  /** 32 bytes in wire order. */
  readonly txid: Buffer;
  readonly input: number;
  readonly status: EsploraStatus;
}

/** The subject of a question, in the words of the client. */
export interface StatsSubject {
  readonly kind: 'address' | 'scripthash';
  readonly text: string;
}

/** Writes `{txid, vout, status, value}`. */
export function writeEsploraCoin(writer: JsonWriter, { txid, index, value, status }: EsploraCoin): void {
  writer.hashField('{"txid":', txid);
  writer.integerField(',"vout":', index);
  writer.ascii(',"status":');
  writeStatus(writer, status);
  writer.integerField(',"value":', value);
  writer.char(OBJECT_END);
}

/** Writes `{spent, txid?, vin?, status?}`. `spend`: undefined for an unspent output. */
export function writeOutspend(writer: JsonWriter, spend: EsploraSpend | undefined): void {
  if (spend === undefined) {
    writer.ascii('{"spent":false}');
    return;
  }
  writer.hashField('{"spent":true,"txid":', spend.txid);
  writer.integerField(',"vin":', spend.input);
  writer.ascii(',"status":');
  writeStatus(writer, spend.status);
  writer.char(OBJECT_END);
}

function writeTotals(writer: JsonWriter, { funded, spent, transactions }: ScriptTotals): void {
  writer.integerField('{"funded_txo_count":', funded.count);
  writer.integerField(',"funded_txo_sum":', funded.value);
  writer.integerField(',"spent_txo_count":', spent.count);
  writer.integerField(',"spent_txo_sum":', spent.value);
  writer.integerField(',"tx_count":', transactions);
  writer.char(OBJECT_END);
}

/** Writes `{address, chain_stats, mempool_stats}` or `{chain_stats, mempool_stats, scripthash}`. */
export function writeStats(writer: JsonWriter, { kind, text }: StatsSubject, chain: ScriptTotals, pool: ScriptTotals): void {
  writer.char(OBJECT_START);
  if (kind === 'address') {
    writer.ascii('"address":');
    writer.string(text);
    writer.char(COMMA);
  }
  writer.ascii('"chain_stats":');
  writeTotals(writer, chain);
  writer.ascii(',"mempool_stats":');
  writeTotals(writer, pool);
  if (kind === 'scripthash') {
    writer.ascii(',"scripthash":');
    writer.string(text);
  }
  writer.char(OBJECT_END);
}

/** What `writeEsploraCoin` writes. */
export const COIN: Schema = named(
  'Coin',
  object({ txid: TXID, vout: described('The index of the output.', COUNT), status: STATUS, value: SATOSHIS })
);

/** What `writeOutspend` writes. */
export const OUTSPEND: Schema = named(
  'Outspend',
  anyOf(
    object({ spent: { const: false } }),
    object({
      spent: { const: true },
      txid: described('The transaction that spends it.', TXID),
      vin: described('The index of its input.', COUNT),
      status: STATUS
    })
  )
);

const TOTALS = named(
  'Totals',
  object({
    funded_txo_count: described('Outputs that pay to the script.', COUNT),
    funded_txo_sum: SATOSHIS,
    spent_txo_count: described('Outputs of the script that are spent.', COUNT),
    spent_txo_sum: SATOSHIS,
    tx_count: COUNT
  })
);

/** What `writeStats` writes. */
export function statsSchema(kind: StatsSubject['kind']): PlainSchema {
  const subject = { [kind]: described('As in the request.', TEXT) };
  const [chain, pool] = [described('In the chain.', TOTALS), described('In the pool.', TOTALS)];
  return object({ ...subject, chain_stats: chain, mempool_stats: pool });
}
