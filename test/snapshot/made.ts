// Snapshots of a small index, and the commands on them in this process.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { versionRecord } from '../../lib/store/migrate';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord } from '../../lib/index/records/layout';
import { IndexWriter } from '../../lib/index/write/index-writer';
import { DiskStore } from '../../lib/store/disk-store';
import { runSnapshotCommand } from '../../plugin/cli/snapshot-commands/run';
import { CapturedIo } from '../support/process/captured-io';
import { chainAActiveBlocks } from '../support/chain/chain-a';
import { newFolder } from '../support/process/folders';
import { blockHash } from '../support/chain/made-blocks';

export interface SnapshotResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** `bcoin-rest snapshot`. */
export async function snapshot(...args: string[]): Promise<SnapshotResult> {
  const io = new CapturedIo();
  const status = await runSnapshotCommand(args, io);
  return { status, ...io.said };
}

export const onRegtest = (prefix: string): string[] => ['--network', 'regtest', '--prefix', prefix];

/** A folder like that of a stopped node or reader, with an index of the first blocks of chain A. */
export async function indexFolder(blocks = 300): Promise<string> {
  const prefix = await newFolder();
  const folder = join(prefix, 'regtest/rest/index');
  await mkdir(folder, { recursive: true });
  const store = new DiskStore(folder);
  await store.open();
  const chain = chainAActiveBlocks().slice(0, blocks);
  const genesisHash = blockHash(chain[0]?.raw ?? expect.fail('a genesis block'));
  const writer = new IndexWriter({ store, genesisHash, undoDepth: 100, onMove: () => undefined });
  await store.batch([versionRecord(LAYOUT_VERSION), putRecord(GENESIS_KEY, genesisHash)], { durable: true });
  await writer.load();
  for (const { raw } of chain) await writer.apply(raw);
  await store.close();
  return prefix;
}

/** A snapshot of such a folder, and the key that signed it. */
export async function madeSnapshot(blocks?: number): Promise<{ readonly prefix: string; readonly folder: string; readonly key: string }> {
  const prefix = await indexFolder(blocks);
  const folder = join(await newFolder(), 'snapshot');
  const { status, out, err } = await snapshot('make', folder, ...onRegtest(prefix), '--json');
  expect(status, err + out).to.equal(0);
  return { prefix, folder, key: (JSON.parse(out) as { readonly signer: string }).signer };
}
