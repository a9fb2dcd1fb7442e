// LevelDB's checksum: CRC-32C (Castagnoli; node:zlib has only the other one), masked, since
// data that has checksums in it is checksummed again.

import { crc32c } from '@node-rs/crc32';

const MASK_DELTA = 0xa282ead8;

export function levelChecksum(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return ((crc >>> 15 | crc << 17) + MASK_DELTA) >>> 0;
}
