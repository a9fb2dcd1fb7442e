// A block as mempool's interface shows it: Esplora's block with `extras`.

import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { writeRustAsm } from '../../bitcoin/rust-asm';
import { described, listOf, named, nullable, object, type PlainSchema, type Schema } from '../../describe/schema';
import { BYTES, COUNT, FEE_RATE, HEX, INTEGER, NUMBER, SATOSHIS, TEXT, TXID, WEIGHT } from '../../describe/values';
import { ESPLORA_BLOCK, writeEsploraBlock, type EsploraBlock } from './block';
import { addressText } from './output';
import { JsonWriter } from '../json-writer';
import type { AddressPrefixes } from '../../bitcoin/address';
import type { ScannedTransaction } from '../../bitcoin/transaction';

/** What `extras` are made of. Amounts are satoshis, rates satoshis per virtual byte. */
export interface BlockExtras {
  readonly coinbase: ScannedTransaction;
  readonly totalFees: number;
  readonly medianFee: number;
  readonly feeRange: readonly number[];
  /** Size and weight of all transactions but the coinbase. */
  readonly size: number;
  readonly transactionsWeight: number;
  readonly inputs: number;
  /** With those of the coinbase. */
  readonly outputs: number;
  readonly outputValue: number;
  readonly segwit: { readonly count: number; readonly size: number; readonly weight: number };
}

/** Mining pools are not identified by what they write into coinbases. */
const UNKNOWN_POOL = { id: 0, name: 'Unknown', slug: 'unknown', minerNames: null };

/** Writes the block with `extras`. */
export function extendedBlockText(block: EsploraBlock, extras: BlockExtras, prefixes: AddressPrefixes): Buffer {
  const writer = new JsonWriter();
  writeEsploraBlock(writer, block);
  const text = writer.toBuffer();
  return Buffer.concat([text.subarray(0, -1), Buffer.from(`,"extras":${JSON.stringify(extrasOf(block, extras, prefixes))}}`)]);
}

function extrasOf(block: EsploraBlock, extras: BlockExtras, prefixes: AddressPrefixes): object {
  const { coinbase, totalFees, transactionsWeight, size, inputs, outputs, segwit } = extras;
  const { transactionCount: count, header, weight } = block;
  const others = count - 1;
  const isGenesis = block.height === 0;
  const [first] = coinbase.outputs;
  const script = (coinbase.inputs[0]?.script ?? Buffer.alloc(0)).toString('hex');
  const addresses = coinbase.outputs.flatMap((output) => addressText(output.script, prefixes) ?? []);
  const reward = rewardOf(coinbase);
  return {
    reward,
    coinbaseRaw: script,
    orphans: [],
    medianFee: extras.medianFee,
    feeRange: extras.feeRange,
    totalFees,
    avgFee: others === 0 ? 0 : Math.floor(totalFees / others),
    avgFeeRate: transactionsWeight === 0 ? 0 : Math.floor((totalFees * WEIGHT_PER_VBYTE) / transactionsWeight),
    utxoSetChange: isGenesis ? 0 : outputs - inputs,
    // The same steps as mempool's, for the same double.
    avgTxSize: Math.round((size / count) * 100) * 0.01,
    totalInputs: inputs,
    totalOutputs: outputs,
    totalOutputAmt: extras.outputValue,
    segwitTotalTxs: segwit.count,
    segwitTotalSize: segwit.size,
    segwitTotalWeight: segwit.weight,
    virtualSize: weight / WEIGHT_PER_VBYTE,
    coinbaseAddress: (first && addressText(first.script, prefixes)) ?? null,
    coinbaseAddresses: [...new Set(addresses)],
    coinbaseSignature: first === undefined ? null : asmText(first.script),
    coinbaseSignatureAscii: Buffer.from(script, 'hex').toString('latin1'),
    header: header.toString('hex'),
    utxoSetSize: null,
    totalInputAmt: null,
    pool: UNKNOWN_POOL,
    matchRate: null,
    expectedFees: null,
    expectedWeight: null,
    firstSeen: null
  };
}

/** Satoshis that the coinbase pays. */
export const rewardOf = ({ outputs }: ScannedTransaction): number => outputs.reduce((sum, { value }) => sum + value, 0);

function asmText(script: Buffer): string {
  const writer = new JsonWriter();
  writeRustAsm(writer, script);
  return writer.toBuffer().toString('latin1');
}

const [NONE, RATE]: [PlainSchema, Schema] = [{ type: 'null' }, FEE_RATE];

/** `BlockExtension` in node-api.interface.ts and mempool.interfaces.ts. */
const EXTRAS = named(
  'BlockExtension',
  object({
    reward: described('Satoshis of the coinbase.', SATOSHIS),
    coinbaseRaw: described('The scriptSig of the coinbase.', HEX),
    orphans: described('Always empty: blocks off the active chain are not shown.', listOf(TEXT)),
    medianFee: RATE,
    feeRange: described('Seven rates, from the lowest to the highest.', listOf(RATE)),
    totalFees: SATOSHIS,
    avgFee: described('Satoshis for each transaction, rounded down.', SATOSHIS),
    avgFeeRate: described('Satoshis for each virtual byte, rounded down.', COUNT),
    utxoSetChange: described('Outputs less inputs.', INTEGER),
    avgTxSize: described('Bytes for each transaction.', NUMBER),
    totalInputs: COUNT,
    totalOutputs: COUNT,
    totalOutputAmt: SATOSHIS,
    segwitTotalTxs: COUNT,
    segwitTotalSize: BYTES,
    segwitTotalWeight: WEIGHT,
    virtualSize: described('A quarter of the weight, not rounded.', NUMBER),
    coinbaseAddress: described('Of the first output.', nullable(TEXT)),
    coinbaseAddresses: listOf(TEXT),
    coinbaseSignature: described('The first script of the coinbase, in words.', nullable(TEXT)),
    coinbaseSignatureAscii: described('The scriptSig of the coinbase, a character for each byte.', TEXT),
    header: HEX,
    utxoSetSize: described('Not known.', NONE),
    totalInputAmt: described('Not known.', NONE),
    pool: described('Always the unknown pool.', object({ id: COUNT, name: TEXT, slug: TEXT, minerNames: NONE })),
    matchRate: described('Not known: blocks are not compared with the pool.', NONE),
    expectedFees: described('Not known.', NONE),
    expectedWeight: described('Not known.', NONE),
    firstSeen: described('Not known.', NONE)
  })
);

/** What `extendedBlockText` writes. */
export const EXTENDED_BLOCK: Schema = named(
  'BlockExtended',
  object({ ...(ESPLORA_BLOCK as { readonly is: PlainSchema }).is.properties, extras: EXTRAS })
);

/** A transaction of a block, as `strippedTransaction` shows it. */
export const STRIPPED_TRANSACTION: Schema = named(
  'TransactionStripped',
  object({
    txid: TXID,
    fee: SATOSHIS,
    vsize: described('A quarter of the weight, not rounded.', NUMBER),
    value: described('Satoshis of all outputs.', SATOSHIS),
    rate: described('Satoshis for each virtual byte, together with those with which a miner takes it.', NUMBER),
    flags: described("mempool's TransactionFlags.", COUNT)
  })
);
