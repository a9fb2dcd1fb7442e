// Serialized transactions without witnesses, of any size, for parts that only read them.

import { LONGEST_COMPACT_SIZE, writeCompactSize } from '../../lib/bitcoin/reader';

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

function compact(size: number): Buffer {
  const bytes = Buffer.alloc(LONGEST_COMPACT_SIZE);
  return bytes.subarray(0, writeCompactSize(bytes, size, 0));
}

const value64 = (sats: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(sats));
  return bytes;
};

/** `spends`: txids in wire order, of each the first output. `padding`: bytes in the script of its second output, which is worth nothing. */
export function plainTransaction(spends: readonly Buffer[], sats: number, padding = 1): Buffer {
  const inputs = spends.map((txid) => Buffer.concat([txid, u32(0), compact(0), u32(0xffff_ffff)]));
  const outputs = [
    Buffer.concat([value64(sats), compact(1), Buffer.from([0x51])]),
    Buffer.concat([value64(0), compact(padding), Buffer.alloc(padding, 0x6a)])
  ];
  return Buffer.concat([u32(2), compact(inputs.length), ...inputs, compact(outputs.length), ...outputs, u32(0)]);
}

/** A coinbase. */
export function plainCoinbase(sats: number): Buffer {
  const script = Buffer.from('0101', 'hex');
  const input = Buffer.concat([Buffer.alloc(32), u32(0xffff_ffff), compact(script.length), script, u32(0xffff_ffff)]);
  const output = Buffer.concat([value64(sats), compact(1), Buffer.from([0x51])]);
  return Buffer.concat([u32(2), compact(1), input, compact(1), output, u32(0)]);
}
