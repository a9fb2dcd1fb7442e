// What can happen to a fleet: each fault is done, lasts for a while, and is undone.

import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { liar, type Liar } from './liar';
import { spendOf, type Spend } from './spends';
import type { FeedingNode, Fleet, FleetReader } from './fleet';

export interface Fault {
  readonly name: string;
  /** Does it, waits, and undoes it. */
  readonly run: () => Promise<void>;
}

/** A fork bomb of transactions: how many come at once. */
const STORM = 150;
const SPLIT = 20;

export class Faults {
  readonly #fleet: Fleet;
  readonly #random: () => number;
  readonly #liar: Liar;
  #number = 1;
  /** Outpoints that a transaction of the test spends. */
  readonly #taken = new Set<string>();

  constructor(fleet: Fleet, random: () => number) {
    this.#fleet = fleet;
    this.#random = random;
    this.#liar = liar(fleet);
  }

  /** Those that come at random. */
  get all(): readonly Fault[] {
    const { nodes, readers, nats } = this.#fleet;
    return [
      ...nodes.flatMap((node) => [
        this.#fault(`node ${node.name} killed`, () => this.#killNode(node)),
        this.#fault(`node ${node.name} stopped`, () => this.#stop(node)),
        this.#fault(`node ${node.name} cut off from NATS`, () => this.#cut(node)),
        this.#fault(`node ${node.name} alone on a branch`, () => this.#minority(node))
      ]),
      ...readers.flatMap((reader) => [
        this.#fault(`reader ${reader.name} killed`, () => this.#killReader(reader)),
        this.#fault(`reader ${reader.name} stopped`, () => this.#stop(reader)),
        this.#fault(`reader ${reader.name} cut off from NATS`, () => this.#cut(reader)),
        this.#fault(`reader ${reader.name} with a full disk`, () => this.#fullDisk(reader))
      ]),
      ...nats.servers.flatMap((server, i) => [
        this.#fault(`server ${i + 1} killed`, async () => {
          await server.kill();
          await this.#while();
          await server.start();
        }),
        this.#fault(`server ${i + 1} stopped`, async () => {
          await server.kill('SIGSTOP');
          await this.#while();
          await server.kill('SIGCONT');
        }),
        this.#fault(`server ${i + 1} lost its data`, async () => {
          await nats.untilWhole();
          await server.kill();
          await server.deleteData();
          await server.start();
          await nats.untilWhole();
        })
      ]),
      this.#fault('all servers lost their data', async () => {
        for (const server of nats.servers) await server.kill();
        for (const server of nats.servers) await server.deleteData();
        for (const server of nats.servers) await server.start();
      }),
      this.#fault('the log is deleted', () => this.#liar.deleteLog()),
      this.#fault('reorganization', () => this.#reorganize()),
      this.#fault('reorganization', () => this.#reorganize()),
      this.#fault('storm of transactions', () => this.#storm()),
      this.#fault('lie: record of unknown kind', () => this.#liar.unknownRecord()),
      this.#fault('lie: a block that leads nowhere', () => this.#liar.unlinkedBlock()),
      this.#fault('lie: bytes of a block', () => this.#liar.wrongBytes(this.#spend(1))),
      this.#fault('lie: what a block spends', () => this.#liar.wrongUndo(this.#spend(2)))
    ];
  }

  /** How many lies the log has taken. */
  get lies(): number {
    return this.#liar.told;
  }

  /** A transaction that spends a coin of the chain that nothing else spends; undefined: there is none now. */
  spendable(): Spend | undefined {
    return this.#spend(2);
  }

  /** Blocks with transactions, as in quiet times. */
  async quietBlocks(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.#fleet.pool([this.#spend(3)].filter((each) => each !== undefined));
      await this.#fleet.mine(this.#liveNode(), 1);
    }
  }

  #fault(name: string, run: () => Promise<void>): Fault {
    return { name, run };
  }

  #spend(outputs: number): Spend | undefined {
    const { chain, tip } = this.#fleet;
    const found = chain
      .coins(tip)
      .find(({ coin, height }) => coin.value > 100_000 && !this.#taken.has(coin.outpoint) && (!coin.coinbase || tip.height - height > 110));
    if (found === undefined) return undefined;
    this.#taken.add(found.coin.outpoint);
    this.#number += outputs;
    return spendOf(found.coin, outputs, this.#number);
  }

  /** One that is told of blocks; both may be stopped, and then nothing is mined. */
  #liveNode(): FeedingNode {
    const live = this.#fleet.nodes.filter(({ isRunning, isAlone }) => isRunning && !isAlone);
    return (live[Math.floor(this.#random() * live.length)] ?? this.#fleet.nodes[0]) as FeedingNode; // there are two
  }

  #while(most = 4_000): Promise<void> {
    return setTimeout(500 + this.#random() * most);
  }

  async #killNode(node: FeedingNode): Promise<void> {
    await node.kill();
    await this.#while();
    await node.start();
    await this.#fleet.catchUp(node);
  }

  async #killReader(reader: FleetReader): Promise<void> {
    await reader.kill();
    await this.#while(2_000);
    reader.start();
  }

  async #stop(member: FeedingNode | FleetReader): Promise<void> {
    member.signal('SIGSTOP');
    await this.#while();
    member.signal('SIGCONT');
  }

  async #cut(member: FeedingNode | FleetReader): Promise<void> {
    const some = this.#random() < 0.5 ? member.links : member.links.slice(Math.floor(this.#random() * 3)).slice(0, 1);
    for (const link of some) link.cut();
    await this.#while();
    for (const link of some) link.mend();
  }

  /** The node mines two blocks that nobody else gets, while the others mine three. */
  async #minority(node: FeedingNode): Promise<void> {
    node.isAlone = true;
    await this.#fleet.mine(node, 2);
    await this.#fleet.mine(this.#liveNode(), 3);
    await this.#while();
    node.isAlone = false;
    await this.#fleet.catchUp(node);
  }

  async #reorganize(): Promise<void> {
    const back = 1 + Math.floor(this.#random() * 3);
    await this.#fleet.mine(this.#liveNode(), back + 1, back);
    await this.#while(1_000);
  }

  async #storm(): Promise<void> {
    const spends: Spend[] = [];
    while (spends.length < STORM / SPLIT) {
      const spend = this.#spend(SPLIT);
      if (spend === undefined) break;
      spends.push(spend);
    }
    await this.#fleet.pool(spends);
    await this.#fleet.mine(this.#liveNode(), 1);
    const many: Spend[] = [];
    for (let i = 0; i < STORM; i++) {
      const spend = this.#spend(1);
      if (spend !== undefined) many.push(spend);
    }
    await this.#fleet.pool(many);
    await this.#while(1_000);
    await this.#fleet.mine(this.#liveNode(), 1);
  }

  /** No file of the reader may grow. */
  async #fullDisk(reader: FleetReader): Promise<void> {
    const limit = (size: string): void => {
      if (reader.isRunning) execFileSync('prlimit', ['--pid', String(reader.pid), `--fsize=${size}:unlimited`]);
    };
    limit('4096');
    await this.quietBlocks(2);
    await this.#while();
    limit('unlimited');
  }
}
