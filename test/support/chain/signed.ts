// Transactions that spend coins of a key.

import { bcoin, type HostKeyRing } from '../bcoin/bcoin';
import type { HostTransaction } from '../../../lib/node/host';

/** An output, or output 0 of a transaction. */
export type SpentCoin = HostTransaction | readonly [from: HostTransaction, index: number];

/** `target`: a locking script, or an address of bcoin. */
export type PaidOutput = readonly [target: unknown, sats: number];

export function signed(
  ring: HostKeyRing | readonly HostKeyRing[],
  coins: readonly SpentCoin[],
  outputs: readonly PaidOutput[],
  version = 1
): HostTransaction {
  const transaction = new bcoin.MTX();
  transaction.version = version;
  for (const coin of coins) {
    const [from, index] = Array.isArray(coin) ? (coin as readonly [HostTransaction, number]) : [coin as HostTransaction, 0];
    transaction.addTX(from, index);
  }
  for (const [target, sats] of outputs) transaction.addOutput(Buffer.isBuffer(target) ? bcoin.Script.fromRaw(target) : target, sats);
  transaction.sign(ring);
  return transaction.toTX();
}
