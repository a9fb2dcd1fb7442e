// Two migrations of meaningless records, written as real ones should be (migrations/README.md).

import { setImmediate } from 'node:timers/promises';
import type { Migration, MigrationReport } from '../../../lib/store/migrate';
import type { Store, StoreRange, StoreWrite } from '../../../lib/store/store';

/** The layout that they lead to, from layout 1. */
export const MADE_UP_VERSION = 3;

const RECORDS_PER_BATCH = 200;
const COUNT_KEY = Buffer.from('n');

const lettered = (letter: string): StoreRange => ({ gte: Buffer.from(letter), lt: Buffer.from([letter.charCodeAt(0) + 1]) });

function numberedKey(letter: string, number: number): Buffer {
  const key = Buffer.from(`${letter}0000`);
  key.writeUInt32BE(number, 1);
  return key;
}

/** Writes layout 1 with some records to an empty store. */
export async function fillWithMadeUpRecords(store: Store, count: number): Promise<void> {
  const writes = Array.from({ length: count }, (_, i): StoreWrite => ({
    type: 'put',
    key: numberedKey('a', i),
    value: Buffer.alloc(100, i)
  }));
  await store.batch(writes, { durable: true });
}

/** Moves all records from one letter to another, in the opposite order, each a byte longer, and writes their number last. */
async function moveRecords(store: Store, from: string, to: string, report: MigrationReport): Promise<StoreWrite[]> {
  let [writes, bytes]: [StoreWrite[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    await store.batch(writes, { durable: false });
    writes = [];
  };
  for await (const [key, value] of store.range(lettered(from))) {
    const number = key.readUInt32BE(1);
    // The new record and the deletion of the old one in the same batch: after an interruption only the rest is done again.
    writes.push(
      { type: 'put', key: numberedKey(to, 0xffff_ffff - number), value: Buffer.concat([value, Buffer.from(to)]) },
      { type: 'del', key }
    );
    bytes += value.length;
    if (writes.length < 2 * RECORDS_PER_BATCH) continue;
    await flush();
    report({ part: 0.5, bytes });
    await setImmediate();
  }
  await flush();
  let count = 0;
  for await (const record of store.range(lettered(to))) count += record.length / 2;
  report({ part: 1, bytes });
  return [{ type: 'put', key: COUNT_KEY, value: Buffer.from(String(count)) }];
}

export const madeUpMigrations: readonly Migration[] = [
  { from: 1, to: 2, info: 'b for a', migrate: (store, report) => moveRecords(store, 'a', 'b', report) },
  { from: 2, to: 3, info: 'c for b', migrate: (store, report) => moveRecords(store, 'b', 'c', report) }
];
