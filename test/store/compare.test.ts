import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { firstDifference } from '../../lib/store/compare';
import { MemoryStore } from '../../lib/store/memory-store';
import type { Store } from '../../lib/store/store';

type Records = Readonly<Record<string, string>>;

async function storeOf(records: Records): Promise<Store> {
  const store = new MemoryStore();
  await store.open();
  await store.batch(
    Object.entries(records).map(([key, value]) => ({ type: 'put', key: Buffer.from(key), value: Buffer.from(value) })),
    { durable: false }
  );
  return store;
}

/** Key and both values of the first difference, as text. */
async function differenceOf(
  expected: Records,
  found: Records
): Promise<{ difference: readonly (string | undefined)[] | undefined; records: number }> {
  let records = 0;
  const difference = await firstDifference(await storeOf(expected), await storeOf(found), {
    onRecord: () => {
      records++;
    }
  });
  return { difference: difference && [difference.key, difference.expected, difference.found].map((bytes) => bytes?.toString()), records };
}

describe('the comparison of two stores', () => {
  it('finds no difference between equal stores, and counts their records', async () => {
    expect(await differenceOf({ a: '1', b: '2' }, { a: '1', b: '2' })).to.deep.equal({ difference: undefined, records: 2 });
    expect(await differenceOf({}, {})).to.deep.equal({ difference: undefined, records: 0 });
  });

  it('finds a record that is missing, extra or different', async () => {
    expect((await differenceOf({ a: '1', b: '2', c: '3' }, { a: '1', c: '3' })).difference).to.deep.equal(['b', '2', undefined]);
    expect((await differenceOf({ a: '1' }, { a: '1', b: '2' })).difference).to.deep.equal(['b', undefined, '2']);
    expect((await differenceOf({ a: '1', b: '2' }, { a: '1', b: '3' })).difference).to.deep.equal(['b', '2', '3']);
  });

  it('finds the same difference as a comparison of the whole', async () => {
    const records = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('1', '2'), { noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(records, records, async (expected, found) => {
        const first = ['a', 'b', 'c', 'd', 'e'].find((key) => expected[key] !== found[key]);
        const { difference } = await differenceOf(expected, found);
        expect(difference).to.deep.equal(first === undefined ? undefined : [first, expected[first], found[first]]);
      })
    );
  });
});
