// The cost of filling a store of the index by script, and of following, beside a pass over the same blocks that only makes the rows.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { STATE_KEYS } from '../../lib/scripts/records/layout';
import { fillScripts, type FillNode } from '../../lib/scripts/fill/fill-scripts';
import { ScriptHasher } from '../../lib/scripts/records/script-hasher';
import { scriptRows, type ScriptBlock } from '../../lib/scripts/scan/rows';
import { ScriptWriter } from '../../lib/scripts/write/script-writer';
import { DiskStore } from '../../lib/store/disk-store';
import { cpuMilliseconds, folderBytes, untilAtRest } from '../measure/process-load';
import { RUN_FOLDER } from '../measure/run';
import { madeBlocks } from './made-rows';

/** Figures for a million rows. */
export interface StoreFigures {
  readonly name: string;
  readonly cpuSeconds: number;
  /** Bytes that the process wrote to files. */
  readonly writtenMB: number;
  /** Bytes of all rows, without the txids of transactions. */
  readonly bytesPerRow: number;
}

const MILLION = 1e6;

/** Undo records of later blocks are all that this adds to the store that has followed. */
const UNDO_DEPTH = 144;

export async function* storeFigures(wanted: number): AsyncGenerator<StoreFigures> {
  const blocks = [...madeBlocks(wanted)];
  let [rows, txids] = [0, 0];
  const bare = await measured(() => {
    const hasher = new ScriptHasher(Buffer.alloc(32));
    for (const block of blocks) {
      const { count, txids: bytes } = rowsOf(block, hasher);
      rows += count;
      txids += bytes.length;
    }
    return Promise.resolve();
  });
  const figuresOf = (name: string, { cpuMs, written }: Measured, bytes: number): StoreFigures => ({
    name: `${name}, ${rows} rows`,
    cpuSeconds: (cpuMs / 1_000 / rows) * MILLION,
    writtenMB: ((written / rows) * MILLION) / 1e6,
    bytesPerRow: bytes / rows
  });
  yield figuresOf('rows made, nothing else', bare, 0);
  const path = join(RUN_FOLDER, 'store');
  const filled = await measured(() => fill(path, blocks));
  yield figuresOf('filled', filled, folderBytes(path) - txids);
  rmSync(path, { recursive: true, force: true });
  const followed = await measured(() => follow(path, blocks));
  yield figuresOf('followed', followed, folderBytes(path) - txids);
}

function rowsOf(block: ScriptBlock, hasher: ScriptHasher): { readonly count: number; readonly txids: Buffer } {
  const steps = scriptRows(block, hasher);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

async function fill(path: string, blocks: readonly ScriptBlock[]): Promise<void> {
  const byHash = new Map(blocks.map((block) => [block.point.hash.toString('hex'), block]));
  const found = (hash: Buffer): ScriptBlock | undefined => byHash.get(hash.toString('hex'));
  const first = blocks[0] as ScriptBlock; // some rows at least
  const node = {
    network: { genesisHash: first.point.hash },
    resetting: false,
    activeHash: (height: number) => Promise.resolve(blocks[height]?.point.hash),
    rawBlock: (hash: Buffer) => Promise.resolve(found(hash)?.raw),
    spentOutputs: (hash: Buffer) => Promise.resolve(found(hash)?.spent),
    hasAllBlocks: () => Promise.resolve(true)
  } as unknown as FillNode; // what filling asks of the network is its genesis block
  await fillScripts({
    path,
    filesPath: `${path}-filling`,
    node,
    target: blocks.length - 1,
    onState: () => undefined,
    logger: { info: () => undefined, warning: console.error, error: console.error },
    signal: new AbortController().signal
  });
}

async function follow(path: string, blocks: readonly ScriptBlock[]): Promise<void> {
  const first = blocks[0] as ScriptBlock; // as above
  const store = new DiskStore(path, { checkedFirst: STATE_KEYS });
  await store.open();
  const writer = new ScriptWriter({ store, genesisHash: first.point.hash, undoDepth: UNDO_DEPTH });
  await writer.load();
  for (const block of blocks) await writer.connect([block]);
  await store.close();
}

interface Measured {
  readonly cpuMs: number;
  readonly written: number;
}

async function measured(run: () => Promise<void>): Promise<Measured> {
  await untilAtRest();
  const before = { cpu: cpuMilliseconds(), written: writtenBytes() };
  await run();
  await untilAtRest();
  return { cpuMs: cpuMilliseconds() - before.cpu, written: writtenBytes() - before.written };
}

/** Bytes written by all calls of this process. */
function writtenBytes(): number {
  const [, bytes] = /^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1')) ?? [];
  return Number(bytes);
}
