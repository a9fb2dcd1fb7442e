// Scripts from the names of their opcodes.

import { OP_1NEGATE, OPCODE_NAMES } from '../../lib/bitcoin/script';

/** An opcode's number by its name. */
export function opcode(name: string): number {
  const at = OPCODE_NAMES.indexOf(name);
  if (name === 'OP_UNKNOWN' || at < 0) throw new Error(`expected the name of an opcode, got ${name}`);
  return at + OP_1NEGATE;
}

/** A push of data with as few bytes as its length needs, by no opcode of a number. */
export function push(data: Buffer): Buffer {
  const { length } = data;
  if (length < 0x4c) return Buffer.concat([Buffer.of(length), data]);
  if (length <= 0xff) return Buffer.concat([Buffer.of(0x4c, length), data]);
  return Buffer.concat([Buffer.of(0x4d, length & 0xff, length >> 8), data]);
}

/** A script of opcodes by their names, numbers from -1 to 16, and data. */
export function script(...operations: readonly (string | number | Buffer)[]): Buffer {
  return Buffer.concat(
    operations.map((operation) => {
      if (Buffer.isBuffer(operation)) return push(operation);
      if (operation === 0) return Buffer.of(0);
      return Buffer.of(opcode(String(operation)));
    })
  );
}
