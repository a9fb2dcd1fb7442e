// Real nats-servers on free loopback ports, with their data in a folder: one alone, or three that keep everything three times.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats } from '../../lib/fleet/log/connection';
import { newFolder } from './folders';
import { freePort } from './regtest-node';
import { until } from './until';
import type { Context } from 'mocha';

/** Where Debian puts it, which is not in everybody's PATH. */
const DEBIAN = '/usr/sbin/nats-server';

/** The program, or undefined when this machine has none. `NATS_SERVER_BIN` names another one. */
export function natsServer(): string | undefined {
  const named = process.env['NATS_SERVER_BIN'];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, 'nats-server'));
  return [...folders, DEBIAN].find((path) => existsSync(path));
}

/** Skips a group of tests, and says so, where there is no nats-server. In CI it fails. */
export function needsNats(context: Context): string {
  const program = natsServer();
  if (program !== undefined) return program;
  if (process.env['CI'] === 'true') throw new Error('nats-server is missing: install the Debian package, or set NATS_SERVER_BIN');
  console.log('      skipped: nats-server is not installed (Debian: apt-get install nats-server, or set NATS_SERVER_BIN)');
  return context.skip();
}

export interface NatsOptions {
  /** Of the first server; otherwise free ones. */
  readonly port?: number;
  /** Bytes of the longest message; 8 MiB unless given. */
  readonly maxPayload?: number;
  readonly user?: { readonly name: string; readonly password: string };
}

const MIB = 1_024 * 1_024;

/** One server. It may be killed and started again with its data. */
class NatsServer {
  readonly port: number;
  readonly folder: string;
  readonly #program: string;
  readonly #config: string;
  #child: ChildProcess | undefined;

  constructor(program: string, port: number, folder: string, config: string) {
    this.#program = program;
    this.port = port;
    this.folder = folder;
    this.#config = config;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it, and waits until it listens. */
  async start(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const path = join(this.folder, 'server.conf');
    await writeFile(path, this.#config);
    const child = spawn(this.#program, ['-c', path], { stdio: 'ignore' });
    running.add(child);
    this.#child = child;
    await until(() => {
      if (child.exitCode !== null) throw new Error(`nats-server ended with code ${child.exitCode}: see ${path}`);
      return listens(this.port);
    });
  }

  /** Ends it at once, or with another signal (SIGSTOP, SIGCONT). */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const isEnd = signal !== 'SIGSTOP' && signal !== 'SIGCONT';
    const ended = isEnd && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
    if (isEnd) {
      running.delete(child);
      this.#child = undefined;
    }
  }

  /** Deletes its data; it must not run. */
  async deleteData(): Promise<void> {
    await rm(join(this.folder, 'data'), { recursive: true, force: true });
  }
}

/** One or three servers that run. */
export class Nats {
  readonly #user: NatsOptions['user'];

  constructor(
    readonly servers: readonly NatsServer[],
    { user }: NatsOptions = {}
  ) {
    this.#user = user;
  }

  /** For `--rest-feed` and `--rest-nats`. */
  get url(): string {
    return `nats://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  static async open(program: string, count: 1 | 3 = 1, options: NatsOptions = {}): Promise<Nats> {
    const folder = await newFolder();
    const ports = await freePorts(2 * count);
    const routes = ports.slice(count);
    const servers = routes.map((route, i) => {
      const port = i === 0 && options.port !== undefined ? options.port : (ports[i] as number); // there are twice as many
      const home = join(folder, `n${i + 1}`);
      return new NatsServer(program, port, home, configOf({ ...options, i, port, route, routes, home }));
    });
    const nats = new Nats(servers, options);
    await Promise.all(servers.map((server) => server.start()));
    await nats.untilWhole();
    return nats;
  }

  /** Resolves once all servers keep everything. Until then, losing the data of another one may lose what two of three have to agree on. */
  async untilWhole(): Promise<void> {
    await until(() => this.#keepsAll());
  }

  /** Whether the servers have found each other, and keep what they are given. */
  async #keepsAll(): Promise<boolean> {
    if (this.servers.length === 1 || this.#user !== undefined) return true;
    const access = parseNatsUrls(this.url);
    const bus = access && (await connectToNats(access, 'readiness').catch(() => undefined));
    if (bus === undefined) return false;
    try {
      await bus.manager.streams.add({ name: 'READY', subjects: ['ready'], num_replicas: this.servers.length });
      await bus.manager.streams.delete('READY');
      for await (const { cluster } of bus.manager.streams.list())
        if (cluster?.leader === undefined || cluster.replicas?.some(({ current }) => !current) === true) return false;
      return true;
    } catch {
      return false;
    } finally {
      await bus.connection.close();
    }
  }

  async close(): Promise<void> {
    for (const server of this.servers) {
      await server.kill('SIGCONT');
      await server.kill('SIGKILL');
    }
  }
}

interface ConfigParts extends Omit<NatsOptions, 'port'> {
  readonly i: number;
  readonly port: number;
  readonly route: number;
  readonly routes: readonly number[];
  readonly home: string;
}

function configOf({ i, port, route, routes, home, maxPayload = 8 * MIB, user }: ConfigParts): string {
  const cluster = `cluster { name: fleet, listen: "127.0.0.1:${route}", routes: [${routes.map((each) => `"nats://127.0.0.1:${each}"`).join(', ')}] }`;
  return [
    `server_name: n${i + 1}`,
    `listen: "127.0.0.1:${port}"`,
    `max_payload: ${maxPayload}`,
    `log_file: "${join(home, 'server.log')}"`,
    `jetstream { store_dir: "${join(home, 'data')}", max_mem: 64MB, max_file: 64GB }`,
    ...(user === undefined ? [] : [`authorization { user: "${user.name}", password: "${user.password}" }`]),
    ...(routes.length > 1 ? [cluster] : [])
  ].join('\n');
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => setTimeout(() => resolve(false), 20));
  });
}

const running = new Set<ChildProcess>();

/** Ends what tests that were cut short have left. */
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
