// The JSON of a block, with its transactions or with their txids alone (blockToJSON of
// Bitcoin Core 0.17), written straight from its bytes. Both views yield after each
// transaction, so that the caller can let others have their turn.

import type { AddressPrefixes } from '../bitcoin/address';
import { scanBlock, type ScannedBlock } from '../bitcoin/block';
import { writeHeaderEnd, writeHeaderStart, type HeaderContext } from './header-fields';
import { JsonWriter } from './json-writer';
import { JSON_BYTES_PER_BYTE, writeTransaction } from './transaction';

export interface BlockContext extends HeaderContext {
  readonly prefixes: AddressPrefixes;
  /** Whether the `hex` of the transactions includes the witness (`rpcserialversion`). */
  readonly hexWithWitness: boolean;
}

const HASH_BYTES_IN_JSON = 67;

function writeStart(writer: JsonWriter, block: ScannedBlock, context: BlockContext): void {
  writer.ascii('{"hash":');
  writer.hashString(block.hash);
  writer.ascii(',"confirmations":');
  writer.integer(context.confirmations);
  writer.ascii(',"strippedsize":');
  writer.integer(block.strippedLength);
  writer.ascii(',"size":');
  writer.integer(block.length);
  writer.ascii(',"weight":');
  writer.integer(block.strippedLength * 3 + block.length);
  writeHeaderStart(writer, block.header, context);
  writer.ascii(',"tx":[');
}

function endOf(writer: JsonWriter, block: ScannedBlock, context: BlockContext): Buffer {
  writer.char(0x5d);
  writeHeaderEnd(writer, block.header, context, block.transactions.length);
  writer.ascii('}\n');
  return writer.toBuffer();
}

/** The block with its transactions, and a line feed. @throws MalformedBytesError */
export function* blockJson(raw: Buffer, context: BlockContext): Generator<void, Buffer> {
  const block = scanBlock(raw);
  const writer = new JsonWriter(raw.length * JSON_BYTES_PER_BYTE + 1024);
  const { prefixes, hexWithWitness } = context;
  writeStart(writer, block, context);
  for (const [i, transaction] of block.transactions.entries()) {
    if (i > 0)
      writer.char(0x2c);
    yield* writeTransaction(writer, transaction, { prefixes, hexWithWitness });
    yield;
  }
  return endOf(writer, block, context);
}

/** The block with the txids of its transactions, and a line feed. @throws MalformedBytesError */
export function* blockSummaryJson(raw: Buffer, context: BlockContext): Generator<void, Buffer> {
  const block = scanBlock(raw);
  const writer = new JsonWriter(block.transactions.length * HASH_BYTES_IN_JSON + 1024);
  writeStart(writer, block, context);
  for (const [i, { txid }] of block.transactions.entries()) {
    if (i > 0)
      writer.char(0x2c);
    writer.hashString(txid);
    yield;
  }
  return endOf(writer, block, context);
}
