// npm run bench:soak: whether a node that is asked and scraped for an hour keeps memory (bench/README.md).
//   --minutes N   default 60

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bcoin } from '../test/support/bcoin/bcoin';
import { LineClient } from '../test/support/client/line-client';
import { ask } from '../test/support/client/http';
import { freePort } from '../test/support/bcoin/regtest-node';
import { scrape } from '../test/metrics/scrape';
import { describeMachine } from './machine';
import { openBcoin } from './serve/server-process';

const MATURE = 110;
const SCRAPE_MS = 1_000;
const BLOCK_MS = 20_000;
const LINE_MS = 60_000;
/** Between two rounds of requests. */
const ROUND_MS = 150;
const SESSIONS = 20;
const MB = 1e6;

interface Sample {
  readonly minute: number;
  /** MB. */
  readonly resident: number;
  /** MB. */
  readonly heap: number;
  readonly series: number;
}

interface Ports {
  readonly http: number;
  readonly electrum: number;
  readonly metrics: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' } } });
  const end = Date.now() + Number(values.minutes) * 60_000;
  const folder = mkdtempSync(join(tmpdir(), 'bcoin-rest-soak-'));
  const [electrum, metrics] = [await freePort(), await freePort()];
  const flags = ['--rest-core=modern', '--rest-pool=modern', '--rest-addresses', '--rest-filters'];
  const node = await openBcoin(folder, {
    folder: resolve('.'),
    flags: [...flags, `--rest-electrum=${electrum}`, `--rest-metrics=${metrics}`],
    readyPath: '/rest/chaininfo.json'
  });
  try {
    console.log(describeMachine());
    const load = new Load({ http: node.port, electrum, metrics }, end);
    await load.mine(MATURE);
    await Promise.all([load.ask(), load.visit(), load.grow(), load.scrape()]);
    console.log(`${load.requests} requests, ${load.sessions} sessions, ${load.scrapes} times scraped, ${load.blocks} blocks`);
    console.log(`growth of the heap after the first quarter: ${growth(load.samples).toFixed(2)} MB an hour`);
  } finally {
    await node.close();
    rmSync(folder, { recursive: true });
  }
}

/** What happens to the node, each thing in a loop of its own until the time is over. */
class Load {
  readonly samples: Sample[] = [];
  requests = 0;
  sessions = 0;
  scrapes = 0;
  blocks = 0;
  readonly #ports: Ports;
  readonly #end: number;
  readonly #address = bcoin.KeyRing.generate().getAddress('string', 'regtest');
  #blockHash = '';
  #txid = '';

  constructor(ports: Ports, end: number) {
    this.#ports = ports;
    this.#end = end;
  }

  /** Requests of every interface, right ones and random ones. */
  async ask(): Promise<void> {
    while (Date.now() < this.#end) {
      const random = randomBytes(8).toString('hex');
      const paths = [
        `/rest/tx/${this.#txid}.json`,
        `/rest/block/${this.#blockHash}.json`,
        `/rest/headers/${this.#blockHash}.hex?count=5`,
        `/rest/getutxos/checkmempool/${this.#txid}-0.json`,
        '/rest/mempool/contents.json',
        `/rest/${random}`,
        '/api/blocks',
        `/api/address/${this.#address}/txs`,
        `/api/address/${this.#address}/utxo`,
        `/api/tx/${random}`
      ];
      await Promise.all([
        ...paths.map((path) => ask(this.#ports.http, { path })),
        this.#call('getblockchaininfo'),
        this.#call(`no${random}`)
      ]);
      this.requests += paths.length + 2;
      await pause(ROUND_MS);
    }
  }

  /** Electrum sessions that subscribe, wait for a block or not, and leave. */
  async visit(): Promise<void> {
    while (Date.now() < this.#end) {
      const clients = await Promise.all(Array.from({ length: SESSIONS }, () => LineClient.connect(this.#ports.electrum)));
      for (const client of clients) {
        await client.ask('blockchain.headers.subscribe', []);
        for (let i = 0; i < 5; i++) await client.ask('blockchain.scripthash.subscribe', [randomBytes(32).toString('hex')]);
      }
      await pause(1_000);
      for (const client of clients) client.socket.destroy();
      this.sessions += clients.length;
    }
  }

  async grow(): Promise<void> {
    while (Date.now() < this.#end) {
      await this.mine(1);
      await pause(BLOCK_MS);
    }
  }

  async scrape(): Promise<void> {
    const begin = Date.now();
    for (let line = begin; Date.now() < this.#end; this.scrapes++) {
      const scraped = await scrape(this.#ports.metrics);
      if (Date.now() >= line) {
        line += LINE_MS;
        const sample = {
          minute: (Date.now() - begin) / 60_000,
          resident: (scraped.value('process_resident_memory_bytes') ?? NaN) / MB,
          heap: (scraped.value('nodejs_heap_size_used_bytes') ?? NaN) / MB,
          series: scraped.size
        };
        this.samples.push(sample);
        console.log(
          Object.entries(sample)
            .map(([name, value]) => `${name} ${value.toFixed(1)}`)
            .join('  ')
        );
      }
      await pause(SCRAPE_MS);
    }
  }

  async mine(count: number): Promise<void> {
    const { result } = (await this.#call('generatetoaddress', count, this.#address)) as { result: string[] };
    this.blocks += result.length;
    this.#blockHash = result.at(-1) ?? '';
    const block = JSON.parse((await ask(this.#ports.http, { path: `/rest/block/${this.#blockHash}.json` })).body.toString()) as {
      tx: { txid: string }[];
    };
    this.#txid = block.tx[0]?.txid ?? '';
  }

  async #call(method: string, ...params: unknown[]): Promise<unknown> {
    const body = Buffer.from(JSON.stringify({ id: 1, method, params }));
    return JSON.parse((await ask(this.#ports.http, { method: 'POST', path: '/', body })).body.toString());
  }
}

/** The slope of a line through the samples after the first quarter (least squares). */
function growth(samples: readonly Sample[]): number {
  const later = samples.slice(Math.floor(samples.length / 4));
  const mean = (of: (sample: Sample) => number): number => later.reduce((sum, sample) => sum + of(sample), 0) / later.length;
  const [minute, heap] = [mean((sample) => sample.minute), mean((sample) => sample.heap)];
  const covariance = mean((sample) => (sample.minute - minute) * (sample.heap - heap));
  return (60 * covariance) / mean((sample) => (sample.minute - minute) ** 2);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
