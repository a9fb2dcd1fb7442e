// The fields of a header that the JSON of headers and that of blocks share, in the two
// runs in which Bitcoin Core 0.17 prints them.

import { bitsOf, merkleRootOf, nonceOf, previousHashOf, timeOf, versionOf } from '../bitcoin/header';
import { difficultyOf } from '../bitcoin/work';
import { doubleText, type JsonWriter } from './json-writer';

export interface HeaderContext {
  readonly height: number;
  /** Work of the chain up to and with this block; as bytes: 32, big endian. */
  readonly chainwork: bigint | Buffer;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
}

const NO_HASH = Buffer.alloc(32);

// Bits change every 2,016 blocks at most, and exact decimals of a double are not cheap.
let known = { bits: -1, text: '' };

/** Difficulty of compact bits as the reference prints it. */
export function difficultyText(bits: number): string {
  if (bits !== known.bits)
    known = { bits, text: doubleText(difficultyOf(bits)) };
  return known.text;
}

/** Writes `height, version, versionHex, merkleroot`. */
export function writeHeaderStart(writer: JsonWriter, header: Buffer, { height }: HeaderContext): void {
  const version = versionOf(header);
  writer.ascii(',"height":');
  writer.integer(height);
  writer.ascii(',"version":');
  writer.integer(version);
  writer.ascii(',"versionHex":"');
  writer.hex32(version);
  writer.ascii('","merkleroot":');
  writer.hashString(merkleRootOf(header));
}

/** Writes `time, mediantime, nonce, bits, difficulty, chainwork, nTx, previousblockhash?`. */
export function writeHeaderEnd(writer: JsonWriter, header: Buffer, context: HeaderContext, transactionCount: number): void {
  const previousHash = previousHashOf(header);
  writer.ascii(',"time":');
  writer.integer(timeOf(header));
  writer.ascii(',"mediantime":');
  writer.integer(context.medianTime);
  writer.ascii(',"nonce":');
  writer.integer(nonceOf(header));
  writer.ascii(',"bits":"');
  writer.hex32(bitsOf(header));
  writer.ascii('","difficulty":');
  writer.ascii(difficultyText(bitsOf(header)));
  writer.ascii(',"chainwork":');
  if (typeof context.chainwork === 'bigint')
    writer.workString(context.chainwork);
  else
    writer.hexString(context.chainwork);
  writer.ascii(',"nTx":');
  writer.integer(transactionCount);
  if (!previousHash.equals(NO_HASH)) {
    writer.ascii(',"previousblockhash":');
    writer.hashString(previousHash);
  }
}

/** Writes `nextblockhash`, which comes last; nothing without a next block. */
export function writeNextHash(writer: JsonWriter, nextHash: Buffer | undefined): void {
  if (nextHash === undefined)
    return;
  writer.ascii(',"nextblockhash":');
  writer.hashString(nextHash);
}
