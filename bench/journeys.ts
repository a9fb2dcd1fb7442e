// npm run bench:journeys: which functions of the plugin run for a cold GET tx.json, for a block
// that is connected, and for a cold start, file by file (bench/README.md).

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../lib/bitcoin/block';
import { toDisplayHex } from '../lib/bitcoin/hash';
import { fromHost } from '../lib/node/host';
import { createRegtestNode } from '../test/support/regtest-node';
import { BlockMaker, FIRST_BLOCKS } from './chain/block-maker';
import { addBlock, onTrustingNode, trustBlocks } from './chain/generate';
import { describeMachine } from './machine';
import { CallCoverage, type CalledFile } from './measure/call-coverage';
import { fetchBody } from './serve/fetch-body';
import type { AddressInfo } from 'node:net';
import type { RestPlugin } from '../plugin';
import type { TestFullNode } from '../test/support/bcoin';
import type { BlockShape } from './chain/block-shape';

/** The plugin as it ships; from the package's folder, where npm runs this. */
const DIST = resolve('dist');

const SHAPE: BlockShape = { transactions: 40, inputs: 90, outputs: 200, spendsItself: true };
const SEED = 5;
/** Time for work that continues after the answer. */
const AFTERWARDS_MS = 2_000;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'journeys-'));
  try {
    const {
      shaped: [first, second],
      next: [before, next]
    } = await makeChain(folder);
    console.log(describeMachine());
    const coverage = new CallCoverage(pathToFileURL(`${DIST}/`));
    const { result: node, files: start } = await coverage.during(() => openNode(folder));
    const rest = node.get('rest') as RestPlugin;
    // The first request of a process fills the table of headers, and the first block after a start is not typical.
    await askForTransaction(rest, first);
    await pause(AFTERWARDS_MS);
    const { files: request } = await coverage.during(() => askForTransaction(rest, second));
    await connect(node, before);
    const { files: block } = await coverage.during(() => connect(node, next));
    coverage.close();
    await node.close();
    print('GET tx.json, cold', request);
    print('a block that connects', block);
    print('a cold start', start);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface JourneyChain {
  /** Blocks with some transactions, which the node has. */
  readonly shaped: readonly [Buffer, Buffer];
  /** And those that come after them. */
  readonly next: readonly [Buffer, Buffer];
}

async function makeChain(folder: string): Promise<JourneyChain> {
  return onTrustingNode(folder, {}, async (node) => {
    const maker = new BlockMaker(SEED, fromHost(node.network.genesis.hash));
    for (let i = 0; i < FIRST_BLOCKS; i++) await addBlock(node, maker.nextFirst());
    const shaped = [maker.next(SHAPE), maker.next(SHAPE)] as const;
    for (const block of shaped) await addBlock(node, block);
    return { shaped, next: [maker.next(SHAPE), maker.next(SHAPE)] };
  });
}

/** Starts a node with the plugin and without an index, and waits until requests are answered. */
async function openNode(folder: string): Promise<TestFullNode> {
  const plugin: unknown = createRequire(__filename)(join(DIST, 'plugin'));
  const node = await createRegtestNode({ prefix: folder, plugins: [plugin], settings: { 'rest-warmup': 'indexed' } });
  await node.ensure();
  await node.open();
  await firstValueFrom((node.get('rest') as RestPlugin).ready$.pipe(filter((isReady) => isReady)));
  return node;
}

/** Asks for the block's transaction with the most outputs, which are of many kinds. @throws Error when it is not answered */
async function askForTransaction(rest: RestPlugin, block: Buffer): Promise<void> {
  const { port } = rest.node.httpServer.address() as AddressInfo;
  const largest = scanBlock(block).transactions.reduce((most, each) => (each.outputs.length > most.outputs.length ? each : most));
  const { status } = await fetchBody(port, `/rest/tx/${toDisplayHex(largest.txid)}.json`);
  if (status !== 200) throw new Error(`expected the transaction, got status ${status}`);
}

async function connect(node: TestFullNode, raw: Buffer): Promise<void> {
  const distrust = trustBlocks(node);
  await addBlock(node, raw);
  distrust();
  await pause(AFTERWARDS_MS);
}

function print(name: string, files: readonly CalledFile[]): void {
  const count = files.reduce((sum, { functions }) => sum + functions.length, 0);
  console.log(`\n${name}: ${count} functions in ${files.length} files`);
  for (const { file, functions } of files) {
    const called = functions.map(({ name: each, calls }) => (calls === 1 ? each : `${each} x${calls}`));
    console.log(`  ${file} (${functions.length}): ${called.join(', ')}`);
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
