// The JSON of a block, with its transactions or with their txids alone (blockToJSON of
// Bitcoin Core 0.17), written straight from its bytes. All but the block's place
// in the chain, its confirmations and the block after it, never changes: a text that was
// written once can be placed anew.

import type { AddressPrefixes } from '../bitcoin/address';
import type { ScannedBlock } from '../bitcoin/block';
import type { Allocate } from '../bitcoin/text-writer';
import { HASH_LENGTH, type Digests } from './digests';
import { writeHeaderEnd, writeHeaderStart, writeNextHash, type HeaderContext } from './header-fields';
import { JsonWriter } from './json-writer';
import { JSON_BYTES_PER_BYTE, writeTransaction } from './transaction';

/** Where a block stands while the chain grows and forks. */
export interface BlockPlace {
  /** -1 off the active chain. */
  readonly confirmations: number;
  /** The block after it on the active chain: 32 bytes in wire order. */
  readonly nextHash?: Buffer;
}

export interface BlockContext extends HeaderContext, BlockPlace {
  readonly prefixes: AddressPrefixes;
  /** Whether the `hex` of the transactions includes the witness (`rpcserialversion`). */
  readonly hexWithWitness: boolean;
}

/** The JSON of a block at its place, and a line feed. */
export interface BlockText {
  readonly json: Buffer;
  readonly place: BlockPlace;
  /** What is the same at every place begins here, behind the confirmations, */
  readonly fixedStart: number;
  /** and ends here, before the hash of the next block. */
  readonly fixedEnd: number;
}

const HASH_BYTES_IN_JSON = 67;

/** More than confirmations and the hash of the next block take. */
const PLACE_BYTES_IN_JSON = 120;

/** `{"hash":"…","confirmations":` */
const BEFORE_CONFIRMATIONS = '{"hash":"'.length + 64 + '","confirmations":'.length;

/** Writes all up to the transactions, and returns where it no longer depends on the place. */
function writeStart(writer: JsonWriter, block: ScannedBlock, context: BlockContext): number {
  writer.ascii('{"hash":');
  writer.hashString(block.hash);
  writer.ascii(',"confirmations":');
  writer.integer(context.confirmations);
  const fixedStart = writer.length;
  writer.ascii(',"strippedsize":');
  writer.integer(block.strippedLength);
  writer.ascii(',"size":');
  writer.integer(block.length);
  writer.ascii(',"weight":');
  writer.integer(block.strippedLength * 3 + block.length);
  writeHeaderStart(writer, block.header, context);
  writer.ascii(',"tx":[');
  return fixedStart;
}

function writeEnd(writer: JsonWriter, block: ScannedBlock, context: BlockContext, fixedStart: number): BlockText {
  writer.char(0x5d);
  writeHeaderEnd(writer, block.header, context, block.transactions.length);
  const fixedEnd = writer.length;
  writeNextHash(writer, context.nextHash);
  writer.ascii('}\n');
  return { json: writer.toBuffer(), place: placeIn(context), fixedStart, fixedEnd };
}

function placeIn({ confirmations, nextHash }: BlockPlace): BlockPlace {
  return nextHash === undefined ? { confirmations } : { confirmations, nextHash };
}

/** The block with its transactions. Yields after each of them. @throws MalformedBytesError */
export function* blockJson(block: ScannedBlock, digests: Digests, context: BlockContext, allocate?: Allocate): Generator<void, BlockText> {
  const { prefixes, hexWithWitness } = context;
  const writer = new JsonWriter(block.length * JSON_BYTES_PER_BYTE + 1024, allocate);
  const fixedStart = writeStart(writer, block, context);
  for (const [i, transaction] of block.transactions.entries()) {
    if (i > 0)
      writer.char(0x2c);
    yield* writeTransaction(writer, transaction, digests, i, { prefixes, hexWithWitness });
    yield;
  }
  return writeEnd(writer, block, context, fixedStart);
}

/** The block with the txids of its transactions. */
export function blockSummaryJson(block: ScannedBlock, { txids }: Pick<Digests, 'txids'>, context: BlockContext, allocate?: Allocate): BlockText {
  const writer = new JsonWriter(block.transactions.length * HASH_BYTES_IN_JSON + 1024, allocate);
  const fixedStart = writeStart(writer, block, context);
  for (let i = 0; i < block.transactions.length; i++) {
    if (i > 0)
      writer.char(0x2c);
    writer.hashString(txids, i * HASH_LENGTH);
  }
  return writeEnd(writer, block, context, fixedStart);
}

/** The text of the same block at another place. */
export function placedAt(text: BlockText, place: BlockPlace, allocate?: Allocate): BlockText {
  const writer = new JsonWriter(text.fixedEnd + PLACE_BYTES_IN_JSON, allocate);
  writer.bytes(text.json, 0, BEFORE_CONFIRMATIONS);
  writer.integer(place.confirmations);
  const fixedStart = writer.length;
  writer.bytes(text.json, text.fixedStart, text.fixedEnd);
  const fixedEnd = writer.length;
  writeNextHash(writer, place.nextHash);
  writer.ascii('}\n');
  return { json: writer.toBuffer(), place: placeIn(place), fixedStart, fixedEnd };
}

/** Whether a text for one place is right at the other. */
export function isSamePlace(a: BlockPlace, b: BlockPlace): boolean {
  return a.confirmations === b.confirmations
    && (a.nextHash === undefined || b.nextHash === undefined ? a.nextHash === b.nextHash : a.nextHash.equals(b.nextHash));
}
