// A process that may crash: damages the files of a store in many ways, one after another, and
// opens the store each time. Reports the results in one message.
//
//   damaged-store.ts <folder> <seed> <rounds>

import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { LevelReader } from '../../../lib/store/leveldb-files/cursor';
import { StoreError } from '../../../lib/store/errors';
import { DiskStore } from '../../../lib/store/disk-store';
import { WHOLE_STORE } from '../../../lib/store/migrate';
import type { Store, StoreWrite } from '../../../lib/store/store';

/** `said`: the store was refused as damaged, and empty after it was cleared. `harmless`: every record is right. */
export type Outcome = 'said' | 'harmless' | 'wrong';
export interface DamageReport {
  /** What was damaged, where, and with which result. */
  readonly rounds: readonly { readonly part: DamagedPart; readonly what: string; readonly outcome: Outcome; readonly message: string }[];
}

export const DAMAGED_PARTS = [
  'records',
  'trailer of a block',
  'filter',
  'metaindex',
  'index',
  'footer',
  'table',
  'cut off table',
  'missing table',
  'manifest',
  'cut off manifest',
  'missing manifest',
  'CURRENT',
  'missing CURRENT',
  'log',
  'missing log'
] as const;
export type DamagedPart = (typeof DAMAGED_PARTS)[number];

/** Number of batches in each table, and in the log. */
const TABLES = 2;
const BATCHES = 3;
const RECORDS = 400;

interface Change {
  readonly file: string;
  /** undefined: it is missing. */
  readonly bytes: Buffer | undefined;
  readonly what: string;
}

/** Makes a folder as a store leaves it when its process is killed, and returns what it may hold after each batch of its log. */
async function makeStore(working: string, folder: string): Promise<Set<string>> {
  const store = new DiskStore(working);
  const states = new Set<string>();
  for (let round = 0; round <= TABLES; round++) {
    await store.open();
    if (round === TABLES) states.add(await digest(store));
    for (let batch = 0; batch < BATCHES; batch++) {
      await store.batch(
        Array.from({ length: RECORDS }, (_, i) => write(round, batch, i)),
        { durable: false }
      );
      if (round === TABLES) states.add(await digest(store));
    }
    // Closing turns the log into a table.
    if (round === TABLES) await cp(working, folder, { recursive: true });
    await store.close();
  }
  return states;
}

function write(round: number, batch: number, i: number): StoreWrite {
  const key = createHash('sha256').update(`${batch} ${i}`).digest().subarray(0, 12);
  return i % 7 === round
    ? { type: 'del', key }
    : {
        type: 'put',
        key,
        value: createHash('sha512')
          .update(`${round} ${batch} ${i}`)
          .digest()
          .subarray(0, 10 + (i % 50))
      };
}

async function digest(store: Store): Promise<string> {
  const hash = createHash('sha256');
  for await (const [key, value] of store.range(WHOLE_STORE)) hash.update(`${key.toString('hex')} ${value.toString('hex')}\n`);
  return hash.digest('hex');
}

async function changeOf(folder: string, part: DamagedPart, pick: number): Promise<Change> {
  const names = (await readdir(folder)).sort();
  const file = names.filter((name) => fileOf(part).test(name)).at(pick % TABLES) ?? names.find((name) => fileOf(part).test(name));
  if (file === undefined) throw new Error(`the store has no file for ${part}`);
  const bytes = await readFile(join(folder, file));
  if (part.startsWith('missing')) return { file, bytes: undefined, what: 'missing' };
  if (part.startsWith('cut off')) {
    const length = pick % bytes.length;
    return { file, bytes: bytes.subarray(0, length), what: `${length} of ${bytes.length} bytes` };
  }
  const [from, to] = rangeOf(part, bytes);
  const bit = from * 8 + (pick % ((to - from) * 8));
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return { file, bytes, what: `bit ${bit} of ${bytes.length} bytes` };
}

function fileOf(part: DamagedPart): RegExp {
  if (part.includes('manifest')) return /^MANIFEST-/;
  if (part.includes('CURRENT')) return /^CURRENT$/;
  return part.includes('log') ? /\.log$/ : /\.ldb$/;
}

/** Where in a file the part is, in bytes. */
function rangeOf(part: DamagedPart, bytes: Buffer): readonly [from: number, to: number] {
  if (!['records', 'trailer of a block', 'filter', 'metaindex', 'index', 'footer'].includes(part)) return [0, bytes.length];
  const footer = bytes.length - 48;
  const reader = new LevelReader(bytes.subarray(footer));
  const [metaindex, , index] = [reader.integer(), reader.integer(), reader.integer()];
  switch (part) {
    case 'records':
      return [0, 3_000];
    case 'filter':
      return [metaindex - 500, metaindex - 5];
    case 'trailer of a block':
      return [metaindex - 5, metaindex];
    case 'metaindex':
      return [metaindex, index];
    case 'index':
      return [index, footer];
    default:
      return [footer, bytes.length];
  }
}

async function outcomeOf(folder: string, states: ReadonlySet<string>): Promise<{ outcome: Outcome; message: string }> {
  const store = new DiskStore(folder);
  try {
    await store.open();
    return { outcome: states.has(await digest(store)) ? 'harmless' : 'wrong', message: '' };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const isSaid = error.reason === 'corrupt' && (await isRepaired(store));
    return { outcome: isSaid ? 'said' : 'wrong', message: error.message };
  } finally {
    await store.close();
  }
}

async function isRepaired(store: Store): Promise<boolean> {
  await store.clear();
  const first = await store.range(WHOLE_STORE)[Symbol.asyncIterator]().next();
  return first.done === true;
}

async function main(): Promise<void> {
  const [folder = '', seed, runs] = process.argv.slice(2);
  const [made, damaged] = [join(folder, 'made'), join(folder, 'damaged')];
  const states = await makeStore(join(folder, 'working'), made);
  const rounds: DamageReport['rounds'][number][] = [];
  const every = new Set([...states].slice(-1));
  for (const pick of fc.sample(fc.nat(), { seed: Number(seed), numRuns: Number(runs) })) {
    for (const part of DAMAGED_PARTS) {
      await rm(damaged, { recursive: true, force: true });
      await cp(made, damaged, { recursive: true });
      const { file, bytes, what } = await changeOf(damaged, part, pick);
      if (bytes === undefined) await rm(join(damaged, file));
      else await writeFile(join(damaged, file), bytes);
      // A log may lose its last batches, which a power cut could have taken too.
      const { outcome, message } = await outcomeOf(damaged, part === 'log' ? states : every);
      rounds.push({ part, what: `${file}: ${what}`, outcome, message: message.replace(damaged, '') });
    }
  }
  process.send?.({ rounds } satisfies DamageReport);
}

if (require.main === module) {
  main().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
