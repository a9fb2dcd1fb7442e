// Scripts and stacks at random.

import fc, { type Arbitrary } from 'fast-check';
import { OP_1NEGATE, OPCODE_NAMES } from '../../lib/bitcoin/script';
import { push, script } from './script-text';

/** BIP342's OP_SUCCESS: 80, 98, 126-129, 131-134, 137-138, 141-142, 149-153, 187-254. */
export const SUCCESS_OPCODES: readonly number[] = [
  ...[80, 98, 126, 127, 128, 129, 131, 132, 133, 134, 137, 138, 141, 142, 149, 150, 151, 152, 153],
  ...Array.from({ length: 254 - 186 }, (_, i) => 187 + i)
];

/** The names of operations that tapscript and scripts of version 0 have in common, but for signatures. */
export const COMMON_NAMES: readonly string[] = OPCODE_NAMES.filter(
  (name, at) => !SUCCESS_OPCODES.includes(at + OP_1NEGATE) && !/CHECK(MULTI)?SIG/.test(name)
);

/** A number in its shortest form. */
function numberBytes(value: number): Buffer {
  const hex = Math.abs(value).toString(16);
  const item = value === 0 ? Buffer.alloc(0) : Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').reverse();
  const last = item.at(-1) ?? 0;
  const sign = value < 0 ? 0x80 : 0;
  if ((last & 0x80) !== 0) return Buffer.concat([item, Buffer.of(sign)]);
  return sign === 0 ? item : Buffer.concat([item.subarray(0, -1), Buffer.of(last | sign)]);
}

const number = fc.oneof(
  fc.integer({ min: -1, max: 20 }),
  fc.constantFrom(127, 128, 255, 256, 32767, 32768, 2 ** 31 - 1, -(2 ** 31) + 1, 2 ** 31, 499_999_999, 500_000_000, 2 ** 32, 2 ** 22)
);

/** Zeros and numbers that are not in their shortest form. */
const padded = fc.constantFrom('00', '80', '0000', '0080', '0100', '010000', '000000', '0000000080').map((hex) => Buffer.from(hex, 'hex'));

const item: Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: number.map(numberBytes) },
  { weight: 1, arbitrary: padded },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }).map((data) => Buffer.from(data)) }
);

export const stack: Arbitrary<Buffer[]> = fc.array(item, { maxLength: 12 });

/** Pushes in any way that there is. */
const pushing: Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: item.map(push) },
  { weight: 1, arbitrary: item.map((data) => Buffer.concat([Buffer.of(0x4c, data.length), data])) },
  { weight: 1, arbitrary: item.map((data) => Buffer.concat([Buffer.of(0x4d, data.length, 0), data])) },
  { weight: 1, arbitrary: fc.constantFrom(519, 520, 521).map((length) => push(Buffer.alloc(length, 7))) }
);

export const operation: Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: pushing },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 16 }).map((value) => script(value)) },
  { weight: 1, arbitrary: fc.constantFrom('OP_IF', 'OP_NOTIF', 'OP_ELSE', 'OP_ENDIF', 'OP_DEPTH').map((name) => script(name)) },
  { weight: 8, arbitrary: fc.constantFrom(...COMMON_NAMES).map((name) => script(name)) }
);

/** Operations of conditions only. */
export const condition: Arbitrary<Buffer> = fc
  .constantFrom('OP_IF', 'OP_NOTIF', 'OP_ELSE', 'OP_ENDIF', 'OP_VERIF', 0, 1)
  .map((name) => script(name));
