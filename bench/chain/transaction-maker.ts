// Makes the transactions of the synthetic chain: serialized, with a kind for every input and
// output, amounts that add up, and signatures that are not valid.

import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { ByteWriter } from './byte-writer';
import { dataScript, drawKind, OUTPUT_KINDS, type OutputKind } from './output-kinds';
import type { TransactionShape } from './block-shape';
import type { Coins, SpendableCoin } from './coins';
import type { Slot } from './free-slots';
import type { Random } from './random';

export interface MadeTransaction {
  readonly raw: Buffer;
  readonly txid: Buffer;
  readonly wtxid: Buffer;
  readonly weight: number;
  readonly fee: number;
  /** Its coins, not released yet. */
  readonly coins: readonly Slot[];
}

export interface Output {
  /** Index in OUTPUT_KINDS; undefined: OP_RETURN, or a given script. */
  readonly kind: number | undefined;
  readonly value: number;
  /** A script of somebody with keys, which the maker never spends. Only without a kind. */
  readonly lockingScript?: Buffer;
}

const LARGEST_PAYMENT = 40_000;
const LARGEST_FEE = 9_000;
const DATA_SHARE = 0.03;
const FINAL = 0xffff_ffff;
const REPLACEABLE = 0xffff_fffd;

const kindAt = (place: number): OutputKind => OUTPUT_KINDS[place] as OutputKind; // places come from drawKind

/** A transaction that spends coins; undefined when there are none left. */
export function makeTransaction(shape: TransactionShape, coins: Coins, random: Random): MadeTransaction | undefined {
  const inputs = takeCoins(shape.inputs, coins, random);
  if (inputs.length === 0) return undefined;
  const total = inputs.reduce((sum, { value }) => sum + value, 0);
  const fee = Math.min(random.below(LARGEST_FEE), Math.floor(total / 10));
  const outputs = makeOutputs(shape.outputs, total - fee, random);
  const raw = serialize(inputs, outputs, random);
  return { ...finish(raw, outputs, coins), fee };
}

/** Registers the coins of a serialized transaction. */
export function finish(raw: Buffer, outputs: readonly Output[], coins: Coins): Omit<MadeTransaction, 'fee'> {
  const { txid, wtxid, weight } = scanWholeTransaction(raw);
  coins.addTransaction(txid);
  const slots = outputs.flatMap(({ kind, value }, index) => (kind === undefined ? [] : [coins.add(index, kind, value)]));
  return { raw, txid, wtxid, weight, coins: slots };
}

/** Picks change to pay with, and the other inputs by age. */
function takeCoins(count: number, coins: Coins, random: Random): SpendableCoin[] {
  const taken: SpendableCoin[] = [];
  for (let i = 0; i < count; i++) {
    const coin = i === 0 ? coins.takeChange(random) : coins.takeByAge(random);
    if (coin !== undefined) taken.push(coin);
  }
  return taken;
}

/** Payments, and the rest as the last output. */
function makeOutputs(count: number, total: number, random: Random): Output[] {
  const outputs: Output[] = [];
  if (random.unit() < DATA_SHARE) outputs.push({ kind: undefined, value: 0 });
  let left = total;
  for (let i = 1; i < count; i++) {
    const value = Math.min(random.below(LARGEST_PAYMENT), Math.floor(left / count));
    outputs.push({ kind: drawKind(random), value });
    left -= value;
  }
  return [...outputs, { kind: drawKind(random), value: left }];
}

function serialize(inputs: readonly SpendableCoin[], outputs: readonly Output[], random: Random): Buffer {
  const hasWitness = inputs.some(({ kind }) => kindAt(kind).witness !== undefined);
  const writer = new ByteWriter(1_024).i32(2);
  if (hasWitness) writer.u8(0).u8(1);
  writer.compactSize(inputs.length);
  for (const { txid, index, kind } of inputs)
    writer
      .bytes(txid)
      .u32(index)
      .varBytes(kindAt(kind).scriptSig(random))
      .u32(random.below(2) === 0 ? FINAL : REPLACEABLE);
  writeOutputs(writer, outputs, random);
  if (hasWitness)
    for (const { kind } of inputs) {
      const { witness } = kindAt(kind);
      if (witness === undefined) writer.u8(0);
      else witness(writer, random);
    }
  return writer.u32(0).toBuffer();
}

export function writeOutputs(writer: ByteWriter, outputs: readonly Output[], random: Random): void {
  writer.compactSize(outputs.length);
  for (const { kind, value, lockingScript } of outputs)
    writer.u64(value).varBytes(kind === undefined ? (lockingScript ?? dataScript(random)) : kindAt(kind).lockingScript(random));
}
