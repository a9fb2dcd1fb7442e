// npm run bench:connect: what connecting a block costs the node by itself, and what the plugin adds (bench/README.md).

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { filter, firstValueFrom } from 'rxjs';
import { createRegtestNode, type RegtestOptions } from '../test/support/bcoin/regtest-node';
import { until } from '../test/support/expectations/until';
import { onFirstBlocks } from './chain/first-blocks';
import { addBlock, trustBlocks } from './chain/generate';
import { describeMachine } from './machine';
import { profiled, type MainThread } from './measure/main-thread';
import { cpuMilliseconds } from './measure/process-load';
import type { RestPlugin } from '../plugin';
import type { TestFullNode } from '../test/support/bcoin/bcoin';
import type { BlockShape } from './chain/block-shape';

/** The plugin as it ships; from the package's folder, where npm runs this. */
const DIST = resolve('dist');
const NODE = process.env.BCOIN_PATH === undefined ? dirname(require.resolve('bcoin/package.json')) : resolve(process.env.BCOIN_PATH);

const SHAPE: BlockShape = { transactions: 2_500, inputs: 5_200, outputs: 7_800, spendsItself: true };
const SEED = 5;
/** The first ones are not typical. */
const FIRST = 2;
const MEASURED = 10;
/** Time for work that continues after the node has the block. */
const AFTERWARDS_MS = 1_500;
const SHOWN = 8;

const WAYS: readonly { readonly name: string; readonly settings: RegtestOptions['settings'] }[] = [
  { name: 'the node alone', settings: undefined },
  { name: 'with the plugin', settings: {} },
  { name: 'with addresses', settings: { 'rest-addresses': true } }
];

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'connect-'));
  try {
    const chain = join(folder, 'chain');
    const blocks = await makeChain(chain);
    console.log(describeMachine());
    console.log(
      `\nblocks of ${SHAPE.transactions} transactions, ${SHAPE.inputs} inputs and ${SHAPE.outputs} outputs; milliseconds a block`
    );
    console.log(row(['', 'CPU', 'main thread', 'node', 'plugin', 'collector', 'rest']));
    for (const { name, settings } of WAYS) {
      const prefix = join(folder, 'node');
      cpSync(chain, prefix, { recursive: true });
      const { cpu, thread } = await measure(prefix, blocks, settings);
      const { node, ours, collector, rest } = thread;
      console.log(row([name, ...[cpu, node + ours + collector + rest, node, ours, collector, rest].map(shown)]));
      if (settings === undefined)
        for (const [place, milliseconds] of thread.ofNode.slice(0, SHOWN)) console.log(`    ${shown(milliseconds).padStart(6)}  ${place}`);
      rmSync(prefix, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the blocks that come next. */
function makeChain(folder: string): Promise<Buffer[]> {
  return onFirstBlocks(folder, SEED, async (node, maker) => {
    await addBlock(node, maker.next(SHAPE));
    return Array.from({ length: FIRST + MEASURED }, () => maker.next(SHAPE));
  });
}

/** `settings`: of the plugin; undefined: without it. Milliseconds a block. */
async function measure(
  prefix: string,
  blocks: readonly Buffer[],
  settings: RegtestOptions['settings']
): Promise<{ readonly cpu: number; readonly thread: MainThread }> {
  const plugins: unknown[] = settings === undefined ? [] : [createRequire(__filename)(join(DIST, 'plugin'))];
  const node = await createRegtestNode({ prefix, plugins, settings: { 'rest-warmup': 'indexed', ...settings } });
  await node.ensure();
  await node.open();
  if (settings !== undefined) await firstValueFrom((node.get('rest') as RestPlugin).ready$.pipe(filter((isReady) => isReady)));
  // The node treats the blocks as history: their signatures are random.
  const distrust = trustBlocks(node);
  for (const block of blocks.slice(0, FIRST)) await connect(node, block);
  const before = cpuMilliseconds();
  const thread = await profiled(
    async () => {
      for (const block of blocks.slice(FIRST)) await connect(node, block);
    },
    (url) => url.startsWith(pathToFileURL(`${DIST}/`).href) || url.startsWith(DIST),
    (url) => url.includes(NODE) || url.includes('/node_modules/')
  );
  const cpu = cpuMilliseconds() - before;
  distrust();
  await node.close();
  const { ours, node: ofNode, collector, rest } = thread;
  const each = (milliseconds: number): number => milliseconds / MEASURED;
  return {
    cpu: each(cpu),
    thread: {
      ours: each(ours),
      node: each(ofNode),
      collector: each(collector),
      rest: each(rest),
      ofNode: thread.ofNode.map(([place, milliseconds]) => [place, each(milliseconds)])
    }
  };
}

async function connect(node: TestFullNode, block: Buffer): Promise<void> {
  await addBlock(node, block);
  const rest = node.get('rest') as RestPlugin | null;
  if (rest !== null) await until(() => rest.reader.read(({ tip }) => tip.height) === node.chain.tip.height);
  await pause(AFTERWARDS_MS);
}

const shown = (milliseconds: number): string => milliseconds.toFixed(0);

const row = ([name = '', ...cells]: readonly string[]): string => name.padEnd(20) + cells.map((cell) => cell.padStart(12)).join('');

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
