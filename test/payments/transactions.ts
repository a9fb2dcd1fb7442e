// Transactions for tests: the network's serialization, put together from parts.

interface TestOutput {
  readonly value: bigint;
  readonly script: Buffer;
}

export interface TestTransaction {
  /** 36 bytes each. */
  readonly inputs: readonly Buffer[];
  readonly outputs: readonly TestOutput[];
  readonly witness?: boolean;
}

/** An outpoint that differs from others by `seed` (0 to 255). */
export function outpoint(seed: number): Buffer {
  return Buffer.concat([Buffer.alloc(32, seed), Buffer.from('00000000', 'hex')]);
}

/** The first output of a transaction. @param txid wire order. */
export function outpointOf(txid: Buffer): Buffer {
  return Buffer.concat([txid, Buffer.from('00000000', 'hex')]);
}

export function serialize({ inputs, outputs, witness = false }: TestTransaction): Buffer {
  return Buffer.concat([
    Buffer.from('02000000', 'hex'),
    ...(witness ? [Buffer.from('0001', 'hex')] : []),
    compactSize(inputs.length),
    ...inputs.flatMap((input) => [input, Buffer.from('00ffffffff', 'hex')]),
    compactSize(outputs.length),
    ...outputs.flatMap(({ value, script }) => [uint64(value), compactSize(script.length), script]),
    ...(witness ? inputs.map(() => Buffer.from('020101020202', 'hex')) : []),
    Buffer.from('00000000', 'hex')
  ]);
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function compactSize(value: number): Buffer {
  return value < 0xfd ? Buffer.from([value]) : Buffer.from([0xfd, value & 0xff, value >> 8]);
}
