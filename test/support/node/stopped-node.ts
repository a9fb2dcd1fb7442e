// Folders of stopped nodes with the index beside the chain, and `bcoin-rest index` on them: in this process, which is quicker, or in a
// child process.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeRecord } from '../../../lib/index/records/describe-record';
import { DiskStore } from '../../../lib/store/disk-store';
import { WHOLE_STORE } from '../../../lib/store/migrate';
import { runIndexCommand } from '../../../plugin/cli/index-commands/run';
import { CapturedIo } from '../process/captured-io';
import { projectFolder } from '../process/project-folder';
import { mine, openRegtestNode } from '../bcoin/regtest-node';
import { chainWithSpends } from '../chain/regtest-chain';
import { openRestNode, untilReady } from './rest-node';
import type { Store } from '../../../lib/store/store';
import type { TestFullNode } from '../bcoin/bcoin';

const program = join(projectFolder, 'dist/plugin/cli/main.js');

/** Blocks beside those of `chainWithSpends`. */
const MORE_BLOCKS = 10;

export interface CommandResult {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export class StoppedNodeFolder {
  private constructor(readonly prefix: string) {}

  /** A new regtest chain with spends and its index. */
  static async make(settings: Readonly<Record<string, unknown>> = {}, moreBlocks = MORE_BLOCKS): Promise<StoppedNodeFolder> {
    const prefix = await mkdtemp(join(tmpdir(), 'bcoin-rest-stopped-'));
    const served = await openRestNode({ prefix, settings });
    await chainWithSpends(served.node);
    await mine(served.node, moreBlocks);
    await untilReady(served);
    await served.node.close();
    return new StoppedNodeFolder(prefix);
  }

  get indexFolder(): string {
    return join(this.prefix, 'regtest/rest/index');
  }

  async copy(): Promise<StoppedNodeFolder> {
    const prefix = await mkdtemp(join(tmpdir(), 'bcoin-rest-stopped-'));
    await cp(this.prefix, prefix, { recursive: true });
    return new StoppedNodeFolder(prefix);
  }

  /** Runs the node without the plugin. */
  async withNode(use: (node: TestFullNode) => Promise<unknown>): Promise<void> {
    const node = await openRegtestNode({ prefix: this.prefix });
    try {
      await use(node);
    } finally {
      await node.close();
    }
  }

  withIndex(use: (store: Store) => Promise<unknown>): Promise<void> {
    return withStore(this.indexFolder, use);
  }

  /** With the index by script. */
  withScripts(use: (store: Store) => Promise<unknown>): Promise<void> {
    return withStore(join(this.prefix, 'regtest/rest/scripts'), use);
  }

  /** In this process. */
  run(command: string, ...options: string[]): Promise<CommandResult> {
    return runIndexHere(this.prefix, command, ...options);
  }

  /** As a child process. */
  runAlone(command: string, ...options: string[]): CommandResult {
    return runIndex(command, '--network', 'regtest', '--prefix', this.prefix, ...options);
  }

  start(command: string): ChildProcess {
    return spawn(process.execPath, [program, 'index', command, '--network', 'regtest', '--prefix', this.prefix]);
  }

  async remove(): Promise<void> {
    await rm(this.prefix, { recursive: true, force: true });
  }
}

/** Runs a command of `bcoin-rest index` in this process. */
export async function runIndexHere(prefix: string, command: string, ...options: string[]): Promise<CommandResult> {
  const io = new CapturedIo();
  const status = await runIndexCommand([command, '--network', 'regtest', '--prefix', prefix, ...options], io);
  return { status, ...io.said };
}

async function withStore(folder: string, use: (store: Store) => Promise<unknown>): Promise<void> {
  const store = new DiskStore(folder);
  await store.open();
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

/** `bcoin-rest index` with these arguments. */
export function runIndex(...args: string[]): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'index', ...args], { encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

/** The first record whose description begins so. */
export async function recordOfKind(store: Store, kind: string): Promise<readonly [key: Buffer, value: Buffer]> {
  for await (const record of store.range(WHOLE_STORE)) if (describeRecord(...record).startsWith(kind)) return record;
  throw new Error(`the index has no record of the kind ${kind}`);
}

/** Changes the first byte of the first record of a kind, and returns the record's description. */
export async function flip(store: Store, kind: string): Promise<string> {
  const [key, value] = await recordOfKind(store, kind);
  const flipped = Buffer.from(value);
  flipped[0] = flipped.readUInt8() ^ 1;
  await store.batch([{ type: 'put', key, value: flipped }], { durable: true });
  return describeRecord(key, value);
}

/** Deletes the first record of a kind, and returns its description. */
export async function deleteFirst(store: Store, kind: string): Promise<string> {
  const [key, value] = await recordOfKind(store, kind);
  await store.batch([{ type: 'del', key }], { durable: true });
  return describeRecord(key, value);
}
