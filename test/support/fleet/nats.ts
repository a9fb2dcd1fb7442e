// Real nats-servers on free loopback ports, with their data in a folder: one alone, or three that keep everything three times.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { newFolder } from '../process/folders';
import { freePort } from '../bcoin/regtest-node';
import { until } from '../expectations/until';
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
  readonly user?: NatsUser;
  /** Lines of the configuration that say who may connect, in the place of a user. */
  readonly accounts?: string;
  /** Files in PEM. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly hasJetStream?: boolean;
}

export interface NatsUser {
  readonly name: string;
  readonly password: string;
  /** Of an account that may not use JetStream. */
  readonly isGuest?: boolean;
  /** Subjects to which it may not publish, and to which it may not subscribe. */
  readonly denied?: string;
  readonly deaf?: string;
}

const MIB = 1_024 * 1_024;
const [CONFIG, LOG] = ['server.conf', 'server.log'];
/** A server that is stopped takes what it is asked, and does not answer. */
const MONITOR_MS = 2_000;

/** Of the servers, as the one says that leads them. */
interface MetaCluster {
  readonly leader?: string;
  readonly replicas?: readonly { readonly current: boolean }[];
}

/** One server. It may be killed and started again with its data. */
class NatsServer {
  readonly port: number;
  readonly folder: string;
  readonly #name: string;
  readonly #program: string;
  readonly #monitor: number;
  readonly #parts: ConfigParts;
  #child: ChildProcess | undefined;

  constructor(program: string, parts: ConfigParts) {
    this.#name = nameOf(parts.i);
    this.#program = program;
    this.port = parts.port;
    this.folder = parts.home;
    this.#monitor = parts.monitor;
    this.#parts = parts;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it, and waits until it listens. */
  async start(changes: NatsChanges = {}): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const path = join(this.folder, CONFIG);
    await writeFile(path, configOf({ ...this.#parts, ...changes }));
    const child = spawn(this.#program, ['-c', path], { stdio: 'ignore' });
    running.add(child);
    this.#child = child;
    await until(() => {
      if (child.exitCode !== null) throw new Error(`nats-server ended with code ${child.exitCode}: see ${path}`);
      return listens(this.port);
    });
  }

  /** Gives it another configuration while it runs. */
  async reload(changes: NatsChanges): Promise<void> {
    const before = await this.#loaded();
    await writeFile(join(this.folder, CONFIG), configOf({ ...this.#parts, ...changes }));
    await this.kill('SIGHUP');
    await until(async () => (await this.#loaded()) !== before);
  }

  /** When its configuration was loaded. */
  async #loaded(): Promise<string | undefined> {
    return ((await this.#monitored('varz')) as { readonly config_load_time?: string } | undefined)?.config_load_time;
  }

  /** Ends it at once, or with another signal (SIGSTOP, SIGCONT, SIGHUP). */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const isEnd = !['SIGSTOP', 'SIGCONT', 'SIGHUP'].includes(signal);
    const ended = isEnd && child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
    if (isEnd) {
      running.delete(child);
      this.#child = undefined;
    }
  }

  /** Whether it keeps everything that it has to, and knows who leads the others. */
  async isWhole(): Promise<boolean> {
    const health = await this.#monitored('healthz');
    return (health as { readonly status?: string } | undefined)?.status === 'ok';
  }

  /** How the others stand; undefined: another one leads them, or it does not answer. */
  async others(): Promise<MetaCluster['replicas']> {
    const { meta_cluster: cluster } = ((await this.#monitored('jsz')) ?? {}) as { readonly meta_cluster?: MetaCluster };
    return cluster?.leader === this.#name ? cluster.replicas : undefined;
  }

  /** How many clients are connected. */
  async connections(): Promise<number | undefined> {
    return ((await this.#monitored('connz')) as { readonly num_connections?: number } | undefined)?.num_connections;
  }

  /** What it says of itself, and the end of its log. */
  async words(lines: number): Promise<string> {
    const log = await readFile(join(this.folder, LOG), 'utf8').catch(String);
    const says = await Promise.all(['healthz', 'jsz'].map(async (path) => `${path}: ${JSON.stringify(await this.#monitored(path))}`));
    return [`pid ${this.pid ?? 'none'}`, ...says, ...log.trimEnd().split('\n').slice(-lines)].join('\n');
  }

  /** undefined: it does not answer. */
  async #monitored(path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(MONITOR_MS);
    return await fetch(`http://127.0.0.1:${this.#monitor}/${path}`, { signal }).then(
      (response) => response.json(),
      () => undefined
    );
  }

  /** Deletes its data; it must not run. */
  async deleteData(): Promise<void> {
    await rm(join(this.folder, 'data'), { recursive: true, force: true });
  }
}

/** One or three servers that run. */
export class Nats {
  constructor(readonly servers: readonly NatsServer[]) {}

  /** For `--rest-feed` and `--rest-nats`. */
  get url(): string {
    return `nats://${this.servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  static async open(program: string, count: 1 | 3 = 1, options: NatsOptions = {}): Promise<Nats> {
    const folder = await newFolder();
    const ports: [number, number, number][] = [];
    while (ports.length < count) ports.push([await freePort(), await freePort(), await freePort()]);
    const routes = ports.map(([route]) => route);
    const servers = ports.map(([route, monitor, own], i) => {
      const port = i === 0 && options.port !== undefined ? options.port : own;
      return new NatsServer(program, { ...options, i, port, route, routes, monitor, home: join(folder, nameOf(i)) });
    });
    const nats = new Nats(servers);
    await Promise.all(servers.map((server) => server.start()));
    await nats.untilWhole();
    return nats;
  }

  /** Resolves once all servers keep everything. Until then, losing the data of another one may lose what two of three have to agree on. */
  async untilWhole(): Promise<void> {
    await until(async () => {
      if (await this.#keepsAll()) return true;
      await setTimeout(50);
      return false;
    });
  }

  /** Whether the servers have found each other, and each keeps what it is given. */
  async #keepsAll(): Promise<boolean> {
    const are = await Promise.all(this.servers.map((server) => server.isWhole()));
    if (are.includes(false)) return false;
    if (this.servers.length === 1) return true;
    const others = (await Promise.all(this.servers.map((server) => server.others()))).find((each) => each !== undefined);
    return others?.length === this.servers.length - 1 && others.every(({ current }) => current);
  }

  /** What each server says of itself, and the end of its log: for what a test says when it fails. */
  async words(lines: number): Promise<string> {
    const said = this.servers.map(async (server, i) => `server ${i + 1}, ${await server.words(lines)}`);
    return (await Promise.all(said)).join('\n');
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
  readonly monitor: number;
  readonly home: string;
}

/** What a server may have otherwise than when it was first started. */
export type NatsChanges = Pick<NatsOptions, 'user' | 'hasJetStream' | 'maxPayload'>;

const nameOf = (i: number): string => `n${i + 1}`;

function configOf({
  i,
  port,
  route,
  routes,
  monitor,
  home,
  maxPayload = 8 * MIB,
  user,
  accounts,
  tls,
  hasJetStream = true
}: ConfigParts): string {
  const cluster = `cluster { name: fleet, listen: "127.0.0.1:${route}", routes: [${routes.map((each) => `"nats://127.0.0.1:${each}"`).join(', ')}] }`;
  return [
    `server_name: ${nameOf(i)}`,
    `listen: "127.0.0.1:${port}"`,
    `http: "127.0.0.1:${monitor}"`,
    `max_payload: ${maxPayload}`,
    `log_file: "${join(home, LOG)}"`,
    hasJetStream ? `jetstream { store_dir: "${join(home, 'data')}", max_mem: 64MB, max_file: 64GB }` : '',
    ...(user === undefined ? [] : [accessOf(user)]),
    ...(accounts === undefined ? [] : [accounts]),
    ...(tls === undefined ? [] : [`tls { cert_file: "${tls.certificate}", key_file: "${tls.key}" }`]),
    ...(routes.length > 1 ? [cluster] : [])
  ].join('\n');
}

function accessOf({ name, password, isGuest = false, denied, deaf }: NatsUser): string {
  const refused = (what: string, subject: string | undefined): string => (subject === undefined ? '' : `${what}: { deny: "${subject}" } `);
  const permissions = `, permissions: { ${refused('publish', denied)}${refused('subscribe', deaf)}}`;
  const users = `users: [{ user: "${name}", password: "${password}"${permissions} }]`;
  return isGuest ? `accounts { guests { ${users} } }` : `authorization { ${users} }`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => void setTimeout(20).then(() => resolve(false)));
  });
}

const running = new Set<ChildProcess>();

/** Ends what tests that were cut short have left. */
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
