// The transactions of chain A's final chain and pool, each with the outputs that it spends and its block, computed from their bytes alone.

import { scanBlock } from '../../../lib/bitcoin/block';
import { timeOf } from '../../../lib/bitcoin/header';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { scanWholeTransaction, type ScannedTransaction, type SpentOutput } from '../../../lib/bitcoin/transaction';
import { chainAActiveBlocks, chainAPool } from './chain-a';
import type { EsploraStatus } from '../../../lib/views/esplora/status';

export interface ChainATransaction {
  readonly transaction: ScannedTransaction;
  readonly status: EsploraStatus;
  /** In the order of its inputs; empty for a coinbase. */
  readonly spent: readonly SpentOutput[];
}

function* inOrder(): Generator<Omit<ChainATransaction, 'spent'>> {
  for (const { raw, height } of chainAActiveBlocks()) {
    const { hash, header, transactions } = scanBlock(raw);
    for (const transaction of transactions) yield { transaction, status: { height, hash, time: timeOf(header) } };
  }
  for (const raw of chainAPool()) yield { transaction: scanWholeTransaction(raw), status: undefined };
}

let made: ReadonlyMap<string, ChainATransaction> | undefined;

/** By txid as displayed, in the order of the chain, then of the pool. */
export function chainATransactions(): ReadonlyMap<string, ChainATransaction> {
  if (made !== undefined) return made;
  const transactions = new Map<string, ChainATransaction>();
  const outputs = new Map<string, SpentOutput>();
  for (const { transaction, status } of inOrder()) {
    const txid = toDisplayHex(transaction.txid);
    const spent = (transaction.isCoinbase ? [] : transaction.inputs).map((input) => {
      const outpoint = `${toDisplayHex(input.txid)}:${input.index}`;
      const output = outputs.get(outpoint);
      if (output === undefined) throw new Error(`expected an output of chain A, got ${outpoint}`);
      return output;
    });
    transactions.set(txid, { transaction, status, spent });
    transaction.outputs.forEach(({ value, script }, index) => outputs.set(`${txid}:${index}`, { value, script }));
  }
  return (made = transactions);
}
