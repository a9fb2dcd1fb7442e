// Facts about blocks that tests look at again and again, computed once for each buffer. These buffers must not be changed afterwards.

import { scanBlock, type ScannedBlock } from '../../../lib/bitcoin/block';
import { blockHash } from './made-blocks';

const hashes = new WeakMap<Buffer, Buffer>();
const scans = new WeakMap<Buffer, ScannedBlock>();

/** 32 bytes in wire order. */
export function knownHash(raw: Buffer): Buffer {
  return knownOr(hashes, raw, blockHash);
}

export function knownScan(raw: Buffer): ScannedBlock {
  return knownOr(scans, raw, scanBlock);
}

function knownOr<T>(known: WeakMap<Buffer, T>, raw: Buffer, workOut: (raw: Buffer) => T): T {
  const before = known.get(raw);
  if (before !== undefined) return before;
  const now = workOut(raw);
  known.set(raw, now);
  return now;
}
