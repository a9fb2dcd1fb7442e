// What the transactions of a block add up to (getblockstats of Bitcoin Core). Amounts are satoshis, fee rates satoshis for each virtual byte,
// rounded down.

import { VALUE_LENGTH, WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import { isUnspendable } from '../bitcoin/script';
import { described, listOf, named, object, type Schema } from '../describe/schema';
import { BLOCK_HASH, BYTES, COUNT, HEIGHT, INTEGER, SATOSHIS, TIME, WEIGHT } from '../describe/values';
import type { ScannedBlock } from '../bitcoin/block';
import type { ScannedTransaction } from '../bitcoin/transaction';

/** An output that the block spends. */
interface SpentValue {
  readonly value: number;
  readonly script: Buffer;
}

export interface BlockStatsContext {
  /** In the order of the inputs, without the coinbase's. */
  readonly spent: readonly SpentValue[];
  /** Whether the outputs of its coinbase have not changed the number of coins: in the genesis block, and where one was repeated (BIP30). */
  readonly coinbaseMakesNoCoins: boolean;
}

/** Without the fields that the header and its place have. */
export interface BlockSums {
  readonly avgfee: number;
  readonly avgfeerate: number;
  readonly avgtxsize: number;
  readonly feerate_percentiles: readonly number[];
  readonly ins: number;
  readonly maxfee: number;
  readonly maxfeerate: number;
  readonly maxtxsize: number;
  readonly medianfee: number;
  readonly mediantxsize: number;
  readonly minfee: number;
  readonly minfeerate: number;
  readonly mintxsize: number;
  readonly outs: number;
  readonly swtotal_size: number;
  readonly swtotal_weight: number;
  readonly swtxs: number;
  readonly total_out: number;
  readonly total_size: number;
  readonly total_weight: number;
  readonly totalfee: number;
  readonly txs: number;
  readonly utxo_increase: number;
  readonly utxo_size_inc: number;
  readonly utxo_increase_actual: number;
  readonly utxo_size_inc_actual: number;
}

/** What a coin takes in the set of coins beside the output: outpoint and height with the coinbase flag. */
const BYTES_BESIDE_OUTPUT = 40;

/** Where in the weight of all transactions that pay a fee the percentiles are, in the steps of Bitcoin Core. */
const percentileWeights = (total: number): readonly number[] => [total / 10, total / 4, total / 2, (total * 3) / 4, (total * 9) / 10];

/** Transactions between two yields. */
const STEP = 16;

interface Payer {
  readonly fee: number;
  readonly size: number;
  readonly weight: number;
  readonly feeRate: number;
  readonly hasWitness: boolean;
}

/** Yields now and then. */
export function* blockSums({ transactions }: ScannedBlock, { spent, coinbaseMakesNoCoins }: BlockStatsContext): Generator<void, BlockSums> {
  const payers: Payer[] = [];
  let [inputs, outputs, coins, sizeOfAll, sizeOfCoins, totalOut] = [0, 0, 0, 0, 0, 0];
  for (const [i, transaction] of transactions.entries()) {
    let out = 0;
    for (const { value, script } of transaction.outputs) {
      const size = sizeInSet(script.length);
      out += value;
      outputs++;
      sizeOfAll += size;
      if ((i === 0 && coinbaseMakesNoCoins) || isUnspendable(script)) continue;
      coins++;
      sizeOfCoins += size;
    }
    if (i % STEP === STEP - 1) yield;
    if (i === 0) continue;
    let paid = 0;
    for (let left = transaction.inputCount; left > 0; left--, inputs++) {
      const coin = spent[inputs];
      if (coin === undefined) throw new RangeError(`expected the output that input ${inputs} of the block spends`);
      const size = sizeInSet(coin.script.length);
      paid += coin.value;
      sizeOfAll -= size;
      sizeOfCoins -= size;
    }
    totalOut += out;
    payers.push(payerOf(transaction, paid - out));
  }
  yield;
  return {
    ...sumsOf(payers),
    ins: inputs,
    outs: outputs,
    total_out: totalOut,
    txs: transactions.length,
    utxo_increase: outputs - inputs,
    utxo_size_inc: sizeOfAll,
    utxo_increase_actual: coins - inputs,
    utxo_size_inc_actual: sizeOfCoins
  };
}

function sizeInSet(scriptLength: number): number {
  const lengthBytes = scriptLength < 0xfd ? 1 : scriptLength < 0x1_0000 ? 3 : 5;
  return VALUE_LENGTH + lengthBytes + scriptLength + BYTES_BESIDE_OUTPUT;
}

function payerOf({ weight, length, hasWitness }: ScannedTransaction, fee: number): Payer {
  return { fee, size: length, weight, feeRate: Math.floor((fee * WEIGHT_PER_VBYTE) / weight), hasWitness };
}

function sumsOf(payers: readonly Payer[]) {
  const fees = payers.map(({ fee }) => fee).sort((a, b) => a - b);
  const sizes = payers.map(({ size }) => size).sort((a, b) => a - b);
  const byRate = [...payers].sort((a, b) => a.feeRate - b.feeRate);
  const withWitness = payers.filter(({ hasWitness }) => hasWitness);
  const [totalFee, totalSize, totalWeight] = [sum(fees), sum(sizes), sum(payers.map(({ weight }) => weight))];
  const count = Math.max(1, payers.length);
  return {
    avgfee: Math.floor(totalFee / count),
    avgfeerate: totalWeight === 0 ? 0 : Math.floor((totalFee * WEIGHT_PER_VBYTE) / totalWeight),
    avgtxsize: Math.floor(totalSize / count),
    feerate_percentiles: percentilesOf(byRate, totalWeight),
    maxfee: fees.at(-1) ?? 0,
    maxfeerate: byRate.at(-1)?.feeRate ?? 0,
    maxtxsize: sizes.at(-1) ?? 0,
    medianfee: medianOf(fees),
    mediantxsize: medianOf(sizes),
    minfee: fees[0] ?? 0,
    minfeerate: byRate[0]?.feeRate ?? 0,
    mintxsize: sizes[0] ?? 0,
    swtotal_size: sum(withWitness.map(({ size }) => size)),
    swtotal_weight: sum(withWitness.map(({ weight }) => weight)),
    swtxs: withWitness.length,
    total_size: totalSize,
    total_weight: totalWeight,
    totalfee: totalFee
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Rounded down. */
function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 || sorted.length === 0 ? upper : Math.floor(((sorted[middle - 1] as number) + upper) / 2); // not the first
}

function percentilesOf(byRate: readonly Payer[], totalWeight: number): number[] {
  let [weight, next] = [0, 0];
  return percentileWeights(totalWeight).map((wanted) => {
    for (; next < byRate.length && weight < wanted; next++) weight += (byRate[next] as Payer).weight; // below the length
    return byRate[next - 1]?.feeRate ?? 0;
  });
}

const FEE_RATE = described('Satoshis for each virtual byte, rounded down.', SATOSHIS);

/** Of all statistics; a call may ask for some of them. */
export function blockStatsSchema(): Schema {
  return named(
    'BlockStats',
    object(
      {},
      {
        avgfee: SATOSHIS,
        avgfeerate: FEE_RATE,
        avgtxsize: BYTES,
        blockhash: BLOCK_HASH,
        feerate_percentiles: described('At 10, 25, 50, 75 and 90 percent of the weight.', listOf(FEE_RATE)),
        height: HEIGHT,
        ins: described('Inputs, without that of the coinbase.', COUNT),
        maxfee: SATOSHIS,
        maxfeerate: FEE_RATE,
        maxtxsize: BYTES,
        medianfee: SATOSHIS,
        mediantime: TIME,
        mediantxsize: BYTES,
        minfee: SATOSHIS,
        minfeerate: FEE_RATE,
        mintxsize: BYTES,
        outs: COUNT,
        subsidy: SATOSHIS,
        swtotal_size: described('Bytes of transactions with witnesses.', BYTES),
        swtotal_weight: WEIGHT,
        swtxs: COUNT,
        time: TIME,
        total_out: described('Satoshis in outputs, without the coinbase.', SATOSHIS),
        total_size: BYTES,
        total_weight: WEIGHT,
        totalfee: SATOSHIS,
        txs: COUNT,
        utxo_increase: described('Outputs without inputs.', INTEGER),
        utxo_size_inc: described('Bytes by which the coins have grown.', INTEGER),
        utxo_increase_actual: described('As utxo_increase, without outputs that are no coins.', INTEGER),
        utxo_size_inc_actual: described('As utxo_size_inc, without outputs that are no coins.', INTEGER)
      }
    )
  );
}
