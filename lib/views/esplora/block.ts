// A block, as Esplora shows it.

import { NO_HASH } from '../../bitcoin/hash';
import { OBJECT_END, type JsonWriter } from '../json-writer';

import { bitsOf, merkleRootOf, nonceOf, previousHashOf, timeOf, versionOf } from '../../bitcoin/header';
import { difficultyOf } from '../../bitcoin/work';
import { rustDoubleText } from './double';
import { described, named, nullable, object, type Schema } from '../../describe/schema';
import { BLOCK_HASH, BYTES, COUNT, HASH, HEIGHT, NUMBER, TIME, WEIGHT } from '../../describe/values';

export interface EsploraBlock {
  /** 32 bytes in wire order. */
  readonly hash: Buffer;
  readonly height: number;
  /** The 80 bytes. */
  readonly header: Buffer;
  readonly transactionCount: number;
  /** Size in bytes, with witnesses. */
  readonly length: number;
  readonly weight: number;
  /** Median time past of this block (BIP113). */
  readonly medianTime: number;
}

/** Writes `{id, height, version, timestamp, tx_count, size, weight, merkle_root, previousblockhash, mediantime, nonce, bits, difficulty}`. */
export function writeEsploraBlock(writer: JsonWriter, block: EsploraBlock): void {
  const { header } = block;
  const previousHash = previousHashOf(header);
  writer.hashField('{"id":', block.hash);
  writer.integerField(',"height":', block.height);
  writer.integerField(',"version":', versionOf(header) >>> 0);
  writer.integerField(',"timestamp":', timeOf(header));
  writer.integerField(',"tx_count":', block.transactionCount);
  writer.integerField(',"size":', block.length);
  writer.integerField(',"weight":', block.weight);
  writer.hashField(',"merkle_root":', merkleRootOf(header));
  if (previousHash.equals(NO_HASH)) writer.ascii(',"previousblockhash":null');
  else writer.hashField(',"previousblockhash":', previousHash);
  writer.integerField(',"mediantime":', block.medianTime);
  writer.integerField(',"nonce":', nonceOf(header));
  writer.integerField(',"bits":', bitsOf(header));
  writer.ascii(',"difficulty":');
  writer.ascii(rustDoubleText(difficultyOf(bitsOf(header))));
  writer.char(OBJECT_END);
}

/** What `writeEsploraBlock` writes. */
export const ESPLORA_BLOCK: Schema = named(
  'Block',
  object({
    id: BLOCK_HASH,
    height: HEIGHT,
    version: COUNT,
    timestamp: TIME,
    tx_count: COUNT,
    size: BYTES,
    weight: WEIGHT,
    merkle_root: HASH,
    previousblockhash: described('null in the genesis block.', nullable(BLOCK_HASH)),
    mediantime: described('Median time past, Unix time in seconds.', TIME),
    nonce: COUNT,
    bits: described('The target in compact form.', COUNT),
    difficulty: NUMBER
  })
);
