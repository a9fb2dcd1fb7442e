// The JSON of a block, with its transactions or with their txids alone (blockToJSON of
// Bitcoin Core 0.17), written straight from its bytes.

import type { AddressPrefixes } from '../bitcoin/address';
import type { ScannedBlock } from '../bitcoin/block';
import type { Allocate } from '../bitcoin/text-writer';
import { writeHeaderEnd, writeHeaderStart, writeNextHash, type HeaderContext } from './header';
import { JsonWriter } from './json-writer';
import { JSON_BYTES_PER_BYTE, writeTransaction } from './transaction';

export interface BlockContext extends HeaderContext {
  /** -1 off the active chain. */
  readonly confirmations: number;
  /** The block after it on the active chain: 32 bytes in wire order. */
  readonly nextHash?: Buffer | undefined;
  readonly prefixes: AddressPrefixes;
  /** Whether the `hex` of the transactions includes the witness (`rpcserialversion`). */
  readonly hexWithWitness: boolean;
}

const HASH_BYTES_IN_JSON = 67;

/** Writes all up to the transactions. */
function writeStart(writer: JsonWriter, block: ScannedBlock, context: BlockContext): void {
  writer.hashField('{"hash":', block.hash);
  writer.integerField(',"confirmations":', context.confirmations);
  writer.integerField(',"strippedsize":', block.strippedLength);
  writer.integerField(',"size":', block.length);
  writer.integerField(',"weight":', block.strippedLength * 3 + block.length);
  writeHeaderStart(writer, block.header, context);
  writer.ascii(',"tx":[');
}

function writeEnd(writer: JsonWriter, block: ScannedBlock, context: BlockContext): void {
  writer.char(0x5d);
  writeHeaderEnd(writer, block.header, context, block.transactions.length);
  writeNextHash(writer, context.nextHash);
  writer.ascii('}\n');
}

/** The block with its transactions, and a line feed. Yields after each of them. @throws MalformedBytesError */
export function* blockJson(block: ScannedBlock, context: BlockContext, allocate?: Allocate): Generator<void, Buffer> {
  const writer = new JsonWriter(block.length * JSON_BYTES_PER_BYTE + 1024, allocate);
  writeStart(writer, block, context);
  for (const [i, transaction] of block.transactions.entries()) {
    if (i > 0) writer.char(0x2c);
    yield* writeTransaction(writer, transaction, { prefixes: context.prefixes, hexWithWitness: context.hexWithWitness });
    yield;
  }
  writeEnd(writer, block, context);
  return writer.toBuffer();
}

/** The block with the txids of its transactions, and a line feed. Yields after each of them. */
export function* blockSummaryJson(block: ScannedBlock, context: BlockContext, allocate?: Allocate): Generator<void, Buffer> {
  const writer = new JsonWriter(block.transactions.length * HASH_BYTES_IN_JSON + 1024, allocate);
  writeStart(writer, block, context);
  for (const [i, { txid }] of block.transactions.entries()) {
    if (i > 0) writer.char(0x2c);
    writer.hashString(txid);
    yield;
  }
  writeEnd(writer, block, context);
  return writer.toBuffer();
}
