// npm run bench:journeys: which functions of the plugin run for a request, for a block that is connected, and for a cold start, file by
// file, without and with addresses (bench/README.md).

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../lib/bitcoin/block';
import { scriptHashOf, toDisplayHex } from '../lib/bitcoin/hash';
import { isUnspendable } from '../lib/bitcoin/script';
import { createRegtestNode, type RegtestOptions } from '../test/support/bcoin/regtest-node';
import { until } from '../test/support/expectations/until';
import { onFirstBlocks } from './chain/first-blocks';
import { addBlock, trustBlocks } from './chain/generate';
import { describeMachine } from './machine';
import { CallCoverage, type CalledFile } from './measure/call-coverage';
import { fetchBody } from './serve/fetch-body';
import type { RestPlugin } from '../plugin';
import type { TestFullNode } from '../test/support/bcoin/bcoin';
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
    const { shaped, next } = await makeChain(folder);
    console.log(describeMachine());
    const coverage = new CallCoverage(pathToFileURL(`${DIST}/`));
    await restAlone(folder, coverage, { shaped, next });
    await withWallets(folder, coverage, { shaped, next });
    coverage.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function restAlone(folder: string, coverage: CallCoverage, { shaped, next }: JourneyChain): Promise<void> {
  const { result: node, files: start } = await coverage.during(() => openNode(folder, {}));
  const rest = node.get('rest') as RestPlugin;
  // The first request of a process fills the table of headers, and the first block after a start is not typical.
  await askForTransaction(rest, shaped[0]);
  await pause(AFTERWARDS_MS);
  const { files: request } = await coverage.during(() => askForTransaction(rest, shaped[1]));
  await connect(node, next[0]);
  const { files: block } = await coverage.during(() => connect(node, next[1]));
  await node.close();
  print('GET tx.json, cold', request);
  print('a block that connects', block);
  print('a cold start', start);
}

/** With `--rest-addresses` and the Electrum protocol. */
async function withWallets(folder: string, coverage: CallCoverage, { shaped, next }: JourneyChain): Promise<void> {
  const port = await freePort();
  const node = await openNode(folder, { 'rest-addresses': true, 'rest-electrum': port });
  const rest = node.get('rest') as RestPlugin;
  await until(async () => (await askEsplora(rest, '/blocks/tip/height')) === 200);
  const electrum = await ElectrumClient.connect(port);
  // The first ones are not typical.
  await askForTransaction(rest, shaped[2]);
  await askForPage(rest, shaped[2]);
  await electrum.history(scriptIn(shaped[2]));
  const { files: request } = await coverage.during(() => askForTransaction(rest, shaped[3]));
  const { files: page } = await coverage.during(() => askForPage(rest, shaped[3]));
  const { files: history } = await coverage.during(() => electrum.history(scriptIn(shaped[3])));
  await electrum.ask('blockchain.scripthash.subscribe', [electrumName(scriptIn(next[3]))]);
  await connect(node, next[2]);
  const { files: block } = await coverage.during(() => connect(node, next[3]));
  electrum.close();
  await node.close();
  print('GET tx.json, cold, with addresses', request);
  print("Esplora's address page", page);
  print('Electrum get_history', history);
  print('a block that connects, with addresses and a notification', block);
}

interface JourneyChain {
  /** Blocks with some transactions, which the node has. */
  readonly shaped: readonly [Buffer, Buffer, Buffer, Buffer];
  /** And those that come after them. */
  readonly next: readonly [Buffer, Buffer, Buffer, Buffer];
}

async function makeChain(folder: string): Promise<JourneyChain> {
  return onFirstBlocks(folder, SEED, async (node, maker) => {
    const shaped = [maker.next(SHAPE), maker.next(SHAPE), maker.next(SHAPE), maker.next(SHAPE)] as const;
    for (const block of shaped) await addBlock(node, block);
    return { shaped, next: [maker.next(SHAPE), maker.next(SHAPE), maker.next(SHAPE), maker.next(SHAPE)] };
  });
}

/** Starts a node with the plugin, and waits until requests are answered. */
async function openNode(folder: string, settings: RegtestOptions['settings']): Promise<TestFullNode> {
  const plugin: unknown = createRequire(__filename)(join(DIST, 'plugin'));
  const node = await createRegtestNode({ prefix: folder, plugins: [plugin], settings: { 'rest-warmup': 'indexed', ...settings } });
  await node.ensure();
  await node.open();
  await firstValueFrom((node.get('rest') as RestPlugin).ready$.pipe(filter((isReady) => isReady)));
  return node;
}

/** Asks for the block's transaction with the most outputs, which are of many kinds. @throws Error when it is not answered */
async function askForTransaction(rest: RestPlugin, block: Buffer): Promise<void> {
  const { port } = rest.http.server.address() as AddressInfo;
  const largest = scanBlock(block).transactions.reduce((most, each) => (each.outputs.length > most.outputs.length ? each : most));
  const { status } = await fetchBody(port, `/rest/tx/${toDisplayHex(largest.txid)}.json`);
  if (status !== 200) throw new Error(`expected the transaction, got status ${status}`);
}

/** The script of an output of the block's last transaction. */
function scriptIn(block: Buffer): Buffer {
  const script = scanBlock(block)
    .transactions.at(-1)
    ?.outputs.find((output) => !isUnspendable(output.script))?.script;
  if (script === undefined) throw new Error('expected an output with a script that can be spent');
  return script;
}

const electrumName = (script: Buffer): string => scriptHashOf(script).reverse().toString('hex');

async function askEsplora(rest: RestPlugin, path: string): Promise<number> {
  const { port } = rest.http.server.address() as AddressInfo;
  return (await fetchBody(port, `/api${path}`)).status;
}

async function askForPage(rest: RestPlugin, block: Buffer): Promise<void> {
  const status = await askEsplora(rest, `/scripthash/${scriptHashOf(scriptIn(block)).toString('hex')}/txs`);
  if (status !== 200) throw new Error(`expected the page, got status ${status}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A client that waits for each reply. */
class ElectrumClient {
  private constructor(private readonly socket: Socket) {}

  static async connect(port: number): Promise<ElectrumClient> {
    const socket = connectTo(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new ElectrumClient(socket.setEncoding('utf8'));
    await client.ask('server.version', ['journeys', '1.4']);
    return client;
  }

  async ask(method: string, params: readonly unknown[]): Promise<void> {
    const reply = once(this.socket, 'data') as Promise<[string]>;
    this.socket.write(`${JSON.stringify({ id: 1, method, params })}\n`);
    const [line] = await reply;
    if (!line.includes('"result"')) throw new Error(`expected a result, got ${line}`);
  }

  history(script: Buffer): Promise<void> {
    return this.ask('blockchain.scripthash.get_history', [electrumName(script)]);
  }

  close(): void {
    this.socket.destroy();
  }
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
