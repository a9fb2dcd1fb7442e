// What a transaction changed for scripts, as mempool's electrs shows it.

import { described, named, object, type Schema } from '../../describe/schema';
import { COUNT, HEIGHT, SATOSHI_CHANGE, TIME, TXID } from '../../describe/values';
import { OBJECT_END, type JsonWriter } from '../json-writer';
import type { RowChange } from '../../scripts/types';

/** Writes `{txid, height, value, time, tx_position}`. `time`: of the block's header. */
export function writeSummary(writer: JsonWriter, { txid, position, value }: RowChange, time: number): void {
  writer.hashField('{"txid":', txid);
  writer.integerField(',"height":', position.height);
  writer.ascii(`,"value":${value}`);
  writer.integerField(',"time":', time);
  writer.integerField(',"tx_position":', position.index);
  writer.char(OBJECT_END);
}

/** What `writeSummary` writes: `AddressTxSummary` in electrs.interface.ts. */
export const SUMMARY: Schema = named(
  'TransactionSummary',
  object({
    txid: TXID,
    height: HEIGHT,
    value: described('What is paid to the scripts less what is spent from them.', SATOSHI_CHANGE),
    time: described('Of the header of its block.', TIME),
    tx_position: described('The place of the transaction in its block, from 0.', COUNT)
  })
);
