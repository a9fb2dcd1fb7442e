// Coins of a taproot output in a node's chain or pool, and transactions that spend them, rightly or not.

import { scanWholeTransaction, type SpentOutput } from '../../lib/bitcoin/transaction';
import { SignedInput } from '../../lib/taproot/signature-hash';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { signed, type PaidOutput } from '../support/chain/signed';
import { TaprootKey, TaprootOutput } from '../support/chain/taproot-key';
import { serialized, spendOf, withInput, type MadeTransaction } from './made-transaction';
import { script } from './script-text';
import type { HostTransaction } from '../../lib/node/host';

const KEY = TaprootKey.of('key');
const OUTPUT = new TaprootOutput(KEY, { script: script(KEY.publicKey, 'OP_CHECKSIG') });

/** What each coin is worth. */
const PAID = 10_000;

export interface TaprootCoin extends SpentOutput {
  readonly outpoint: Buffer;
}

/** Pays a coinbase of the ring to the taproot output, several times; the rest is the fee. */
export function payment(
  coinbase: HostTransaction,
  ring: HostKeyRing,
  count: number
): { readonly transaction: HostTransaction; readonly coins: TaprootCoin[] } {
  const outputs = Array.from({ length: count }, (): PaidOutput => [OUTPUT.script, PAID]);
  const transaction = signed(ring, [coinbase], outputs);
  return { transaction, coins: outputs.map((_, index) => coinOf(transaction, index)) };
}

/** An output to the taproot output. */
export function coinOf(transaction: HostTransaction, index: number): TaprootCoin {
  const { txid, outputs } = scanWholeTransaction(transaction.toRaw());
  const { value, script: locking } = outputs[index] ?? { value: 0, script: Buffer.alloc(0) };
  const number = Buffer.alloc(4);
  number.writeUInt32LE(index);
  return { value, script: locking, outpoint: Buffer.concat([txid, number]) };
}

/** The witness of an input; `sign` signs it for the key path, or for a leaf. */
type Witness = (sign: (key: TaprootKey, leaf?: Buffer) => Buffer) => readonly Buffer[];

/** Pays all coins to the taproot output again, but for the fee. */
function spending(coins: readonly TaprootCoin[], fee: number, witness: Witness): HostTransaction {
  let transaction: MadeTransaction = {
    version: 2,
    locktime: 0,
    inputs: coins.map(({ outpoint }) => ({ outpoint, script: Buffer.alloc(0), sequence: 0xffff_ffff, witness: [] })),
    outputs: [{ value: coins.reduce((sum, { value }) => sum + value, 0) - fee, script: OUTPUT.script }]
  };
  for (const input of coins.keys()) {
    const sign = (key: TaprootKey, leaf?: Buffer): Buffer =>
      key.sign(new SignedInput(spendOf(transaction, coins), input, undefined, leaf).signatureHash(0, 0xffff_ffff) as Buffer); // a type that is defined
    transaction = withInput(transaction, input, { witness: witness(sign) });
  }
  return bcoin.TX.fromRaw(serialized(transaction));
}

const FEE = 500;

export const byKey = (coins: readonly TaprootCoin[], fee = FEE): HostTransaction => spending(coins, fee, (sign) => [sign(OUTPUT.key)]);

export function byScript(coins: readonly TaprootCoin[], fee = FEE): HostTransaction {
  const { script: code, control, hash } = OUTPUT.leaf(0);
  return spending(coins, fee, (sign) => [sign(KEY, hash), code, control]);
}

/** With a signature that is none. */
export const wrongly = (coins: readonly TaprootCoin[], fee = FEE): HostTransaction => spending(coins, fee, () => [Buffer.alloc(64, 1)]);
