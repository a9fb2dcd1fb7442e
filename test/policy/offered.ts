// Transactions and coins for the rules, put together from parts.

import { scanTransaction } from '../../lib/bitcoin/transaction';
import { Candidate, Offered, type SpentCoin } from '../../lib/policy/transaction';
import { serialized, type MadeInput, type MadeTransaction } from '../taproot/made-transaction';

export const P2WPKH = Buffer.from(`0014${'ab'.repeat(20)}`, 'hex');

/** `number`: makes its outpoint unlike that of others. */
export function input(number: number, script: Buffer = Buffer.alloc(0)): MadeInput {
  const outpoint = Buffer.alloc(36, 7);
  outpoint.writeUInt32LE(number);
  return { outpoint, script, sequence: 0xffff_ffff, witness: [] };
}

export const offered = (parts: Partial<MadeTransaction>): Offered =>
  new Offered(
    scanTransaction(serialized({ version: 2, locktime: 0, inputs: [input(0)], outputs: [{ value: 10_000, script: P2WPKH }], ...parts }))
  );

export function candidate(parts: Partial<MadeTransaction>, coins: readonly Partial<SpentCoin>[] = [{}]): Candidate {
  return new Candidate(
    offered(parts),
    coins.map((coin) => ({ value: 20_000, script: P2WPKH, height: 1, isCoinbase: false, ...coin }))
  );
}
