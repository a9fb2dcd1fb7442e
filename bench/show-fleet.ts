// npm run fleet: a whole fleet on this machine, to look at: three nats-servers, two nodes on regtest, two readers, and HAProxy where it is
// installed. Prints what to ask and what to kill. Ctrl-C ends all of it and deletes its folder.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deleteFolders, newFolder } from '../test/support/process/folders';
import { Haproxy, hasHaproxy, type ProxiedServer } from '../test/support/fleet/haproxy';
import { ask } from '../test/support/client/http';
import { Nats, natsServer } from '../test/support/fleet/nats';
import { projectFolder } from '../test/support/process/project-folder';
import { freePort } from '../test/support/bcoin/regtest-node';
import { basic } from '../test/support/client/rpc';

const KEY = 'fleet';
const BLOCKS = 110;
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const PAUSE_MS = 200;
const END_MS = 10_000;

interface Started {
  readonly name: string;
  readonly child: ChildProcess;
  readonly http: number;
  readonly log: string;
}

class Fleet {
  readonly #folder: string;
  readonly #started: Started[] = [];
  #nats: Nats | undefined;
  #proxy: Haproxy | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(program: string): Promise<void> {
    say('Starting three nats-servers ...');
    const nats = (this.#nats = await Nats.open(program, 3));
    say('Starting two nodes and two readers ...');
    const peers = await freePort();
    const a = await this.#node('node-a', nats.url, ['--listen', '--host=127.0.0.1', `--port=${peers}`]);
    await answers(a, '/fleet/health', 200);
    await call(a.http, 'generatetoaddress', [BLOCKS, ADDRESS]);
    const b = await this.#node('node-b', nats.url, ['--listen=false', `--only=127.0.0.1:${peers}`]);
    const readers = [await this.#reader('reader1', nats.url), await this.#reader('reader2', nats.url)] as const;
    await Promise.all([a, b, ...readers.map(({ started }) => started)].map((each) => answers(each, '/fleet/health', 200)));
    if (hasHaproxy) {
      const proxy = (this.#proxy = await Haproxy.open([readers[0].ports, readers[1].ports]));
      for (const name of ['reader1', 'reader2'] as const) await proxy.untilSeen(name, 'UP');
    }
    this.#explain(nats, a, b, readers);
  }

  async close(): Promise<void> {
    say('\nEnding ...');
    await this.#proxy?.close();
    await Promise.all(this.#started.map(({ child }) => ended(child)));
    await this.#nats?.close();
  }

  async #node(name: string, nats: string, options: readonly string[]): Promise<Started> {
    const [http, wallet] = [await freePort(), await freePort()];
    return this.#start(name, http, [
      'dist/plugin/start/main.js',
      ...['--network=regtest', `--http-port=${http}`, `--wallet-http-port=${wallet}`, `--api-key=${KEY}`, ...options],
      ...['--rest-core=modern', '--rest-warmup=indexed', `--rest-feed=${nats}`, `--rest-feed-name=${name}`]
    ]);
  }

  async #reader(name: string, nats: string): Promise<{ readonly started: Started; readonly ports: ProxiedServer }> {
    const ports = { http: await freePort(), electrum: await freePort() };
    const started = this.#start(name, ports.http, [
      'dist/plugin/cli/main.js',
      ...['reader', '--network=regtest', `--http-port=${ports.http}`, `--api-key=${KEY}`, `--rest-nats=${nats}`],
      ...['--rest-core=modern', '--rest-warmup=indexed', '--rest-addresses', `--rest-electrum=${ports.electrum}`, '--rest-release=together']
    ]);
    return { started, ports };
  }

  #start(name: string, http: number, args: readonly string[]): Started {
    const log = join(this.#folder, `${name}.log`);
    const child = spawn(process.execPath, [...args, `--prefix=${join(this.#folder, name)}`], {
      cwd: projectFolder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C is for this process alone, which ends the others in order.
      detached: true
    });
    const file = createWriteStream(log);
    child.stdout.pipe(file);
    child.stderr.pipe(file);
    const started = { name, child, http, log };
    this.#started.push(started);
    return started;
  }

  #explain(nats: Nats, a: Started, b: Started, readers: readonly { readonly started: Started; readonly ports: ProxiedServer }[]): void {
    const [first] = readers as readonly [(typeof readers)[number]];
    const proxy = this.#proxy;
    const through = proxy === undefined ? `http://127.0.0.1:${first.ports.http}` : `-k https://127.0.0.1:${proxy.ports.http}`;
    say(`
The fleet is ready. Ask it:

  curl -i ${through}/api/blocks/tip/height
  curl -i ${through}/rest/chaininfo.json
  curl -i ${through}/rest/chaininfo.json -H 'X-Rest-Min-Tip: ${BLOCKS + 1}'
  curl http://127.0.0.1:${first.ports.http}/fleet/health
  npx bcoin-rest fleet status --network=regtest --rest-nats=${nats.url}

Mine a block at either node:

  curl -u x:${KEY} http://127.0.0.1:${a.http}/ -d '{"method": "generatetoaddress", "params": [1, "${ADDRESS}"]}'
  curl -u x:${KEY} http://127.0.0.1:${b.http}/ -d '{"method": "generatetoaddress", "params": [1, "${ADDRESS}"]}'

A wallet:

  electrum --regtest --oneserver --server 127.0.0.1:${first.ports.electrum}:t

Kill something, and look what the others do (kill -9, or kill -STOP and -CONT):
`);
    for (const { name, child, log } of this.#started) say(`  kill -9 ${child.pid ?? 0}    # ${name}; its log: ${log}`);
    for (const [i, { pid }] of nats.servers.entries()) say(`  kill -9 ${pid ?? 0}    # nats-server ${i + 1}`);
    if (proxy === undefined) say('\nWithout HAProxy (apt-get install haproxy) each reader is asked by itself.');
    say('\nCtrl-C ends all of it.');
  }
}

async function answers({ name, child, http, log }: Started, path: string, status: number): Promise<void> {
  for (;;) {
    const reply = await ask(http, { path }).catch(() => undefined);
    if (reply?.status === status) return;
    if (child.exitCode !== null) throw new Error(`${name} has ended: see ${log}`);
    await delay(PAUSE_MS);
  }
}

async function call(port: number, method: string, params: readonly unknown[]): Promise<void> {
  const body = Buffer.from(JSON.stringify({ method, params }));
  const reply = await ask(port, { method: 'POST', path: '/', headers: basic(`x:${KEY}`), body });
  if (reply.status !== 200) throw new Error(`${method}: ${reply.status} ${reply.body.toString()}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'close');
  child.kill('SIGTERM');
  await Promise.race([end, delay(END_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await end;
}

const say = (text: string): void => {
  console.log(text);
};

async function main(): Promise<void> {
  const program = natsServer();
  if (program === undefined) throw new Error('nats-server is not installed (Debian: apt-get install nats-server, or set NATS_SERVER_BIN)');
  const interrupted = once(process, 'SIGINT');
  const fleet = new Fleet(await newFolder());
  try {
    await Promise.race([fleet.open(program), interrupted]);
    await interrupted;
  } finally {
    await fleet.close();
    await deleteFolders();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
);
