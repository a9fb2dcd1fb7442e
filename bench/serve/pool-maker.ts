// Transactions for the pool: spends of coinbases that the chain pays to known scripts, and
// spends of these, so that entries depend on each other. They have the sizes of signed
// transactions, but any node accepts them without verifying a signature: each start fills a pool.

import { createHash } from 'node:crypto';
import { hash256 } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { ByteWriter } from '../chain/byte-writer';
import { Random } from '../chain/random';

/** Number of first blocks that pay to `ownScript`, in 100 outputs each. */
export const OWNED_BLOCKS = 40;

export interface OwnCoin {
  readonly txid: Buffer;
  readonly index: number;
  readonly value: number;
  readonly isWitness: boolean;
}

/** Share of the transactions that spend from another one of the pool. */
const CHILD_SHARE = 0.35;
const SEED = 11;
const SIGNATURE_BYTES = 71;

/** Drops a key together with the bytes that replace its signature: <33 bytes> OP_2DROP OP_1. */
const SPENDABLE = Buffer.concat([Buffer.from([33, 2]), Buffer.alloc(32, 9), Buffer.from([0x6d, 0x51])]);

const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
const SCRIPT_HASH = Buffer.concat([
  Buffer.from([0xa9, 20]),
  createHash('ripemd160').update(sha256(SPENDABLE)).digest(),
  Buffer.from([0x87])
]);
const WITNESS_SCRIPT_HASH = Buffer.concat([Buffer.from([0x00, 32]), sha256(SPENDABLE)]);

/** P2WSH or P2SH. */
export const ownScript = (isWitness: boolean): Buffer => (isWitness ? WITNESS_SCRIPT_HASH : SCRIPT_HASH);

/** Serialized, each after those that it spends from. */
export function makePool(coins: readonly OwnCoin[], count: number): Buffer[] {
  const random = new Random(SEED);
  const fresh = [...coins];
  const change: OwnCoin[] = [];
  return Array.from({ length: count }, () => {
    const coin = random.unit() < CHILD_SHARE ? (change.splice(random.below(change.length), 1)[0] ?? fresh.pop()) : fresh.pop();
    if (coin === undefined) throw new Error('expected a coin to spend, got none');
    const { raw, rest } = pay(coin, random);
    change.push(rest);
    return raw;
  });
}

/** One or two payments to others after the change. */
function pay(coin: OwnCoin, random: Random): { readonly raw: Buffer; readonly rest: OwnCoin } {
  const payments = Array.from({ length: 1 + random.below(2) }, () => 20_000 + random.below(100_000));
  const fee = 2_000 + random.below(30_000);
  const value = payments.reduce((left, payment) => left - payment, coin.value - fee);
  const isWitness = random.below(2) === 0;
  const raw = serialize(coin, random, (writer) => {
    writer
      .compactSize(1 + payments.length)
      .u64(value)
      .varBytes(ownScript(isWitness));
    for (const payment of payments) writer.u64(payment).varBytes(Buffer.concat([Buffer.from([0x00, 20]), random.bytes(20)]));
  });
  return { raw, rest: { txid: scanWholeTransaction(raw).txid, index: 0, value, isWitness } };
}

function serialize({ txid, index, isWitness }: OwnCoin, random: Random, outputs: (writer: ByteWriter) => void): Buffer {
  const signature = Buffer.concat([hash256(txid), random.bytes(SIGNATURE_BYTES - 32)]);
  const writer = new ByteWriter(512).i32(2);
  if (isWitness) writer.u8(0).u8(1);
  writer.compactSize(1).bytes(txid).u32(index);
  if (isWitness) writer.varBytes(Buffer.alloc(0));
  else writer.varBytes(Buffer.concat([Buffer.from([signature.length]), signature, Buffer.from([SPENDABLE.length]), SPENDABLE]));
  writer.u32(0xffff_fffe);
  outputs(writer);
  if (isWitness) writer.u8(2).varBytes(signature).varBytes(SPENDABLE);
  return writer.u32(0).toBuffer();
}
