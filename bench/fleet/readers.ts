import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { countCpu } from '../serve/process-figures';
import { startBare, type BareProcess } from '../serve/server-process';
import { BenchReader } from './bench-reader';
import { shown } from './figures';
import { addAll, withFeed, type Setup } from './nodes';

const AUTOCANNON = require.resolve('autocannon');

/** Of each reader: what three of them can answer beside their clients on two cores. */
const REQUESTS_PER_SECOND = 3_000;
/** As many as one answers beside its clients. */
const WARMING_REQUESTS_PER_SECOND = 8_000;
const LOAD_SECONDS = 5;

/**
 * The same load on each of one, two and three readers: requests for each second of their CPU. Servers that only send the same bytes show what
 * more processes on this machine cost by themselves.
 */
export async function readers({ nats, folder, rounds, chain, blocks }: Setup): Promise<void> {
  await withFeed(nats, join(folder, 'many'), chain, async ({ node }) => {
    await addAll(node, blocks.slice(0, 2));
    const { transactions } = scanBlock(blocks[0] ?? Buffer.alloc(0));
    const path = `/rest/tx/${toDisplayHex(transactions[5]?.txid ?? Buffer.alloc(32))}.json`;
    const all = await Promise.all([1, 2, 3].map((name) => BenchReader.start(nats, join(folder, `many-${name}`), ['--no-auth'])));
    const bare: BareProcess[] = [];
    try {
      for (const reader of all) await reader.untilAt(node.chain.height);
      const body = Buffer.from(await (await fetch(`http://127.0.0.1:${all[0]?.port}${path}`)).arrayBuffer());
      while (bare.length < all.length) bare.push(await startBare());
      for (const server of bare) await server.answer({ path, contentType: 'application/json', body });
      // Until V8 has compiled what runs for them.
      for (const servers of [all, bare]) for (const server of servers) await perCpuSecond([server], path, WARMING_REQUESTS_PER_SECOND);
      const figures = new Map<string, number[]>();
      for (let round = 0; round < rounds; round++)
        for (let count = 1; count <= all.length; count++)
          for (const [name, servers] of [
            ['reader', all],
            ['bare server', bare]
          ] as const) {
            const key = `${count} × ${name}`;
            figures.set(key, [...(figures.get(key) ?? []), await perCpuSecond(servers.slice(0, count), path)]);
          }
      for (const [name, list] of figures) console.log(`${name}: ${shown(list, 0)} requests for each second of their CPU`);
    } finally {
      for (const server of [...all, ...bare]) await server.stop();
    }
  });
}

/** Requests for each second of CPU that the servers use, each under the same load. */
async function perCpuSecond(
  servers: readonly { readonly port: number; readonly pid: number }[],
  path: string,
  perSecond = REQUESTS_PER_SECOND
): Promise<number> {
  const cpu = countCpu(servers.map(({ pid }) => pid));
  const requests = await Promise.all(servers.map(({ port }) => load(`http://127.0.0.1:${port}${path}`, perSecond)));
  return (sumOf(requests) / cpu()) * 1_000_000;
}

/** Requests that were answered. */
async function load(url: string, perSecond: number): Promise<number> {
  const child = spawn(process.execPath, [AUTOCANNON, '-c', '8', '-R', String(perSecond), '-d', String(LOAD_SECONDS), '-j', url], {
    stdio: ['ignore', 'pipe', 'ignore']
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await once(child, 'close');
  return (JSON.parse(said) as { '2xx': number })['2xx'];
}

const sumOf = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0);
