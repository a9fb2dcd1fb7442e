// Changes of a witness at random: bits, lengths, items that come, go and change places.

import fc, { type Arbitrary } from 'fast-check';
import { flipped } from '../support/index/flipped-bit';
import type { MadeInput } from './made-transaction';
import type { SignedSpend } from './signed-spends';

type Change = (witness: readonly Buffer[]) => readonly Buffer[];

const data = (maxLength: number): Arbitrary<Buffer> => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));

/** Items that mean something somewhere: nothing, true, signatures, annexes, control blocks. */
const item: Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(
    Buffer.alloc(0),
    Buffer.of(0),
    Buffer.of(1),
    Buffer.of(0x50),
    ...[33, 64, 65, 97, 520, 521].map((length) => Buffer.alloc(length, 0xc0))
  ),
  data(70)
);

/** A change of the item at a place of any witness that has items. */
const changeOf = (pick: number, change: (item: Buffer) => Buffer): Change => {
  return (witness) => {
    const place = pick % Math.max(1, witness.length);
    const before = witness[place];
    return before === undefined ? witness : witness.with(place, change(before));
  };
};

const change: Arbitrary<Change> = fc.oneof(
  fc
    .tuple(fc.nat(), fc.nat())
    .map(([pick, bit]) => changeOf(pick, (before) => (before.length === 0 ? Buffer.of(1) : flipped(before, bit)))),
  fc.tuple(fc.nat(), fc.nat()).map(([pick, length]) => changeOf(pick, (before) => before.subarray(0, length % (before.length + 1)))),
  fc.tuple(fc.nat(), data(2)).map(([pick, more]) => changeOf(pick, (before) => Buffer.concat([before, more]))),
  // The byte that says what is signed, if it is a signature.
  fc
    .tuple(fc.nat(), fc.nat(255))
    .map(([pick, type]) => changeOf(pick, (before) => Buffer.concat([before.subarray(0, 64), Buffer.of(type)]))),
  fc.tuple(fc.nat(), item).map(([pick, other]) => changeOf(pick, () => other)),
  fc.nat().map(
    (pick): Change =>
      (witness) =>
        witness.filter((_, place) => place !== pick % Math.max(1, witness.length))
  ),
  fc.tuple(fc.nat(), item).map(
    ([pick, other]): Change =>
      (witness) =>
        witness.toSpliced(pick % (witness.length + 1), 0, other)
  ),
  fc.tuple(fc.nat(), fc.nat()).map(([from, to]): Change => (witness) => {
    const [moved] = witness.slice(from % Math.max(1, witness.length));
    return moved === undefined ? witness : witness.toSpliced(to % (witness.length + 1), 0, moved);
  }),
  fc
    .nat()
    .map((pick): Change => (witness) => [...witness.slice(pick % (witness.length + 1)), ...witness.slice(0, pick % (witness.length + 1))]),
  fc.constantFrom(999, 1000, 1001).map((count): Change => (witness) => [...Array.from({ length: count }, () => Buffer.of(1)), ...witness])
);

/** The witness of the spend's input after one to three changes. */
export const changedWitness = ({ transaction, input }: SignedSpend): Arbitrary<readonly Buffer[]> =>
  fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce<readonly Buffer[]>((witness, one) => one(witness), (transaction.inputs[input] as MadeInput).witness));
