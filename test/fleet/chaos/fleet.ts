// A fleet of real processes: three nats-servers, two bcoin nodes that feed, two readers. Each node and reader has lines of its own to the
// servers, which can be cut. Blocks and transactions go from node to node through the test, which may hold them back.

import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { compiledProgram } from '../../support/process/compiled';
import { newFolder } from '../../support/process/folders';
import { Nats } from '../../support/fleet/nats';
import { projectFolder } from '../../support/process/project-folder';
import { freePort } from '../../support/bcoin/regtest-node';
import { KnownChain, type KnownBlock } from './known-chain';
import { Link } from './link';
import type { NodeReply, NodeRequest } from '../../support/programs/fleet-node';

const PROGRAM = join(projectFolder, 'dist/plugin/cli/main.js');
const HOST = '127.0.0.1';
/** How much of what a process says is kept. */
const MOST_WORDS = 20_000;
/** A node that is stopped does not answer. */
const ANSWER_MS = 30_000;

/** A node or reader. */
abstract class Member {
  readonly links: readonly Link[];
  readonly http: number;
  protected child: ChildProcess | undefined;
  words = '';

  constructor(
    readonly name: string,
    protected readonly folder: string,
    http: number,
    links: readonly Link[]
  ) {
    this.http = http;
    this.links = links;
  }

  protected get nats(): string {
    return `nats://${this.links.map(({ port }) => `${HOST}:${port}`).join(',')}`;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it in order. @throws Error unless it ends well */
  async stop(): Promise<void> {
    const { child } = this;
    if (child === undefined || !this.isRunning) throw new Error(`${this.name} does not run: ${this.words}`);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    if (code !== 0) throw new Error(`${this.name} ended with ${code ?? signal ?? ''}: ${this.words}`);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  protected listen(child: ChildProcess): void {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => {
        this.words = (this.words + text.toString()).slice(-MOST_WORDS);
      });
  }
}

export class FeedingNode extends Member {
  /** bcoin's folder; undefined: the one that is installed. */
  readonly #bcoin: string | undefined;
  readonly #ahead: number;
  #asked = 0;
  #ended: Promise<unknown> | undefined;
  /** Gets no blocks and transactions of the other node. */
  isAlone = false;

  constructor(parts: { name: string; folder: string; http: number; links: readonly Link[]; bcoin: string | undefined; ahead: number }) {
    super(parts.name, parts.folder, parts.http, parts.links);
    this.#bcoin = parts.bcoin;
    this.#ahead = parts.ahead;
  }

  async start(): Promise<void> {
    const child = fork(compiledProgram('fleet-node'), [this.folder, this.http, this.nats, this.name, this.#ahead].map(String), {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_BACKEND: 'js', ...(this.#bcoin !== undefined && { BCOIN_PATH: this.#bcoin }) }
    });
    this.child = child;
    this.listen(child);
    this.#ended = once(child, 'exit');
    await Promise.race([
      once(child, 'message'),
      this.#ended.then(() => {
        throw new Error(`node ${this.name} ended: ${this.words}`);
      })
    ]);
  }

  /** undefined: it was killed, or does not answer. */
  async ask(request: NodeRequest): Promise<NodeReply | undefined> {
    const { child } = this;
    if (child?.connected !== true) return undefined;
    const id = ++this.#asked;
    const answered = new Promise<NodeReply | undefined>((resolve, reject) => {
      const take = (message: { readonly id: number; readonly reply?: NodeReply; readonly error?: string }): void => {
        if (message.id !== id) return;
        child.off('message', take);
        if (message.error === undefined) resolve(message.reply);
        else reject(new Error(`node ${this.name}: ${message.error}`));
      };
      child.on('message', take);
      void this.#ended?.then(() => resolve(undefined));
    });
    child.send({ id, request }, () => undefined);
    return await Promise.race([answered, setTimeout(ANSWER_MS, undefined, { ref: false })]);
  }
}

export class FleetReader extends Member {
  readonly #options: readonly string[];

  constructor(parts: { name: string; folder: string; http: number; links: readonly Link[]; options: readonly string[] }) {
    super(parts.name, parts.folder, parts.http, parts.links);
    this.#options = parts.options;
  }

  start(): void {
    const child = spawn(
      process.execPath,
      [
        PROGRAM,
        'reader',
        `--rest-nats=${this.nats}`,
        '--network=regtest',
        `--prefix=${this.folder}`,
        `--http-port=${this.http}`,
        '--rest-addresses',
        '--rest-warmup=indexed',
        '--rest-stale=10',
        '--no-auth',
        ...this.#options
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] }
    );
    this.child = child;
    this.listen(child);
  }

  url(path: string): string {
    return `http://${HOST}:${this.http}${path}`;
  }
}

export class Fleet {
  readonly chain = new KnownChain();
  /** Transactions that were put into a pool, oldest first. */
  readonly transactions = new Map<string, Buffer>();

  private constructor(
    readonly nats: Nats,
    readonly nodes: readonly FeedingNode[],
    readonly readers: readonly FleetReader[]
  ) {}

  /** `readerOptions`: further ones of each reader. `BCOIN2_PATH`: folder of a bcoin 2.2 for the second node. */
  static async open(program: string, readerOptions: readonly [readonly string[], readonly string[]] = [[], []]): Promise<Fleet> {
    const bcoin2 = process.env['BCOIN2_PATH'];
    const nats = await Nats.open(program, 3);
    const links = (): Promise<Link[]> => Promise.all(nats.servers.map(({ port }) => Link.to(port)));
    const node = async (name: string, bcoin: string | undefined, ahead: number): Promise<FeedingNode> =>
      new FeedingNode({ name, folder: await newFolder(), http: await freePort(), links: await links(), bcoin, ahead });
    const reader = async (name: string, options: readonly string[]): Promise<FleetReader> =>
      new FleetReader({ name, folder: await newFolder(), http: await freePort(), links: await links(), options });
    const nodes = [await node('a', undefined, 0), await node('b', bcoin2, 30)];
    const fleet = new Fleet(nats, nodes, [await reader('r1', readerOptions[0]), await reader('r2', readerOptions[1])]);
    for (const each of nodes) await each.start();
    return fleet;
  }

  get tip(): KnownBlock {
    let tip = this.chain.genesis;
    for (const block of this.chain.blocks.values()) if (block.height > tip.height) tip = block;
    return tip;
  }

  /** Mines on the tip of a node, or below it, and tells the other one. */
  async mine(node: FeedingNode, count: number, back = 0): Promise<void> {
    const blocks = (await node.ask({ type: 'mine', count, back }))?.blocks ?? [];
    for (const hex of blocks) this.chain.add(Buffer.from(hex, 'hex'));
    if (!node.isAlone) await this.#tell(node, { type: 'add', blocks });
  }

  /** Puts transactions into the pools of all nodes that run. */
  async pool(transactions: readonly { readonly txid: string; readonly raw: Buffer }[]): Promise<void> {
    for (const { txid, raw } of transactions) this.transactions.set(txid, raw);
    const request: NodeRequest = { type: 'pool', transactions: transactions.map(({ raw }) => raw.toString('hex')) };
    await Promise.all(this.nodes.filter(({ isAlone }) => !isAlone).map((node) => node.ask(request)));
  }

  /** Gives a node all blocks that it lacks. */
  async catchUp(node: FeedingNode): Promise<void> {
    const own = await node.ask({ type: 'tip' });
    if (own === undefined) return;
    const missing: string[] = [];
    for (let block: KnownBlock | undefined = this.tip; block !== undefined && block.height > 0; block = block.previous) {
      if (block.hash === own.hash) break;
      // Those below its tip it may have, or be on another branch.
      if (block.height <= own.height - 30) break;
      missing.push(block.raw.toString('hex'));
    }
    await node.ask({ type: 'add', blocks: missing.reverse() });
  }

  async close(): Promise<void> {
    for (const member of [...this.readers, ...this.nodes]) {
      await member.kill();
      for (const link of member.links) link.close();
    }
    await this.nats.close();
  }

  async #tell(from: FeedingNode, request: NodeRequest): Promise<void> {
    await Promise.all(this.nodes.filter((node) => node !== from && !node.isAlone).map((node) => node.ask(request)));
  }
}
