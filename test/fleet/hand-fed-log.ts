// A log that a test writes record by record, about a real node, on a real server; and answers to what a reader asks nodes.

import { randomBytes } from 'node:crypto';
import { parseNatsUrls, type NatsAccess } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { makeStream } from '../../lib/fleet/log/stream';
import { kindOf, subjectsOf, type Subjects } from '../../lib/fleet/log/subjects';
import {
  decodeQuestion,
  encodeFault,
  encodeReply,
  FleetReplyError,
  type Asked,
  type QuestionName,
  type Replied
} from '../../lib/fleet/messages/questions';
import { encodeRecord } from '../../lib/fleet/messages/record-codec';
import { ChainMovedError } from '../../lib/node/errors';
import { poolAddOf } from './pool-add';
import type { BeatPool, Connect, RecordBody, Reset } from '../../lib/fleet/messages/records';
import type { BcoinNode } from '../../lib/node/bcoin';

export type Answers = { readonly [Name in QuestionName]?: (asked: Asked<Name>) => Promise<Replied<Name>> };

const CHAIN = 'regtest';
const BEAT_MS = 300;

export class HandFedLog {
  readonly access: NatsAccess;
  readonly subjects: Subjects = subjectsOf(CHAIN);
  /** What was asked, in order. */
  readonly asked: QuestionName[] = [];
  /** Other answers than the node's. */
  answers: Answers = {};
  readonly #node: BcoinNode;
  #bus: NatsBus | undefined;
  #last = 0;
  #term = { term: 0, termId: Buffer.alloc(8), termStart: 1 };
  #beating: NodeJS.Timeout | undefined;
  /** Settles once all beats are in the log that were begun. */
  #beats: Promise<void> = Promise.resolve();

  constructor(url: string, node: BcoinNode) {
    this.#node = node;
    this.access = parseNatsUrls(url) as NatsAccess;
  }

  get bus(): NatsBus {
    if (this.#bus === undefined) throw new Error('expected the log to be open');
    return this.#bus;
  }

  /** Sequence of the last record. */
  get last(): number {
    return this.#last;
  }

  /** Makes the log, and answers from now on. */
  async open(): Promise<void> {
    const bus = (this.#bus = await connectToNats(this.access, 'test'));
    await makeStream(bus, this.subjects, this.#node.network.genesisHash);
    await this.beginTerm();
    for (const subject of [this.subjects.node('*'), this.subjects.leader('*')])
      bus.connection.subscribe(subject, {
        callback: (_, message) => {
          const name = message.subject.split('.').at(-1) as QuestionName;
          void this.#answer(name, message.data).then((reply) => message.respond(reply));
        }
      });
    await bus.connection.flush();
  }

  /** Deletes the log and makes another. Nobody may write meanwhile. */
  async startAnew(): Promise<void> {
    await this.bus.manager.streams.delete(this.subjects.stream);
    this.#last = 0;
    await makeStream(this.bus, this.subjects, this.#node.network.genesisHash);
    await this.beginTerm();
  }

  /** What is written from now on is another term's. `termStart`: of its first record; the next one unless given. */
  async beginTerm(termStart?: number): Promise<void> {
    const { state } = await this.bus.manager.streams.info(this.subjects.stream);
    this.#term = { term: this.#term.term + 1, termId: randomBytes(8), termStart: termStart ?? state.last_seq + 1 };
  }

  /** Writes beats from now on, as a leader does. */
  keepBeating(): void {
    this.#beating = setInterval(() => {
      this.#beats = this.#beats.then(() => this.writeBeat());
    }, BEAT_MS);
  }

  /** Resolves when no beat is under way: it would fail where its log or its connection is gone, and nobody would hear of it. */
  async stopBeating(): Promise<void> {
    clearInterval(this.#beating);
    await this.#beats;
  }

  async close(): Promise<void> {
    await this.stopBeating();
    await this.#bus?.connection.close();
  }

  async write(...bodies: readonly RecordBody[]): Promise<void> {
    for (const body of bodies) {
      const record = encodeRecord({ ...this.#term, node: 'test', at: Date.now(), body });
      const { seq } = await this.bus.jetstream.publish(this.subjects.record[kindOf(body)], record);
      this.#last = seq;
    }
  }

  /** The log's first record: the chain is at the block of a height. */
  async writeStart(height: number): Promise<void> {
    await this.write(await this.resetTo(height));
  }

  async resetTo(height: number, reason: Reset['reason'] = 'start'): Promise<Reset> {
    return { type: 'reset', reason, ...(await this.#point(height)) };
  }

  /** A block of the node's chain with its bytes. `undo`: in the place of what the node says that it spends. */
  async writeBlock(height: number, undo?: Buffer): Promise<void> {
    const connect = await this.connectOf(height);
    const { hash } = connect;
    const [raw, spent] = [await this.#node.rawBlock(hash), undo ?? (await this.#node.undoRecord(hash)) ?? Buffer.alloc(0)];
    const bytes = Buffer.concat([raw as Buffer, spent]);
    await this.write({ type: 'block', hash, part: 0, parts: 1, bytes });
    await this.write({ ...connect, undoBytes: spent.length, blockSequence: this.#last });
  }

  async connectOf(height: number): Promise<Connect> {
    const point = await this.#point(height);
    const [raw, undo] = [await this.#node.rawBlock(point.hash), await this.#node.undoRecord(point.hash)];
    return { type: 'connect', ...point, blockBytes: raw?.length ?? 0, undoBytes: undo?.length ?? 0, blockSequence: 0 };
  }

  async writeDisconnect(height: number, hash: Buffer): Promise<void> {
    const previous = (await this.#node.activeHash(height - 1)) as Buffer;
    await this.write({ type: 'disconnect', height, hash, previous, chainwork: (await this.#node.entry(previous))?.chainwork ?? 0n });
  }

  async writeBeat(): Promise<void> {
    const node = this.#node;
    const info = node.pool.info();
    const pool: BeatPool = { ...info };
    await this.write({
      type: 'beat',
      tip: node.tip(),
      synced: true,
      verified: 1,
      pool,
      network: node.networkStatus(),
      fees: [],
      mostFeeBlocks: 0,
      warnings: [],
      release: '0.0.0',
      pruned: false
    });
  }

  async #point(height: number): Promise<Omit<Reset, 'type' | 'reason'>> {
    const hash = (await this.#node.activeHash(height)) as Buffer;
    const entry = await this.#node.entry(hash);
    const deploymentInfo = await this.#node.deploymentInfo(hash);
    if (entry === undefined || deploymentInfo === undefined) throw new ChainMovedError(`no block at height ${height}`);
    return { ...entry, deployments: await this.#node.deployments(hash), deploymentInfo };
  }

  async #answer(name: QuestionName, bytes: Uint8Array): Promise<Buffer> {
    this.asked.push(name);
    try {
      const own = this.answers[name] as ((asked: unknown) => Promise<Replied<typeof name>>) | undefined;
      const answer = own ?? (this.#fromNode()[name] as ((asked: unknown) => Promise<Replied<typeof name>>) | undefined);
      if (answer === undefined) throw new FleetReplyError('refused', `nobody answers ${name}`);
      return encodeReply(name, await answer(decodeQuestion(bytes)));
    } catch (error) {
      return encodeFault(error);
    }
  }

  #fromNode(): Answers {
    const node = this.#node;
    return {
      block: ({ hash }) => node.rawBlock(hash),
      undo: ({ hash }) => node.undoRecord(hash),
      part: ({ hash, offset, length, blockLength }) => node.rawBlockPart(hash, offset, length, blockLength),
      entry: ({ hash }) => node.entry(hash),
      deployments: ({ hash }) => node.deployments(hash),
      deploymentInfo: ({ hash }) => node.deploymentInfo(hash),
      tips: () => node.chainTips(),
      headers: async ({ locator, count }) => {
        let from = 0;
        for (const hash of locator) {
          const entry = await node.entry(hash);
          if (entry === undefined || (await node.activeHash(entry.height))?.equals(hash) !== true) continue;
          from = entry.height + 1;
          break;
        }
        const headers: Buffer[] = [];
        for (let height = from; headers.length < count; height++) {
          const hash = await node.activeHash(height);
          if (hash === undefined) break;
          headers.push((await node.entry(hash))?.header as Buffer);
        }
        return { height: from, headers: Buffer.concat(headers) };
      },
      pool: async () => {
        const entries = await Promise.all(
          node.pool.txids().map(async (txid, i) => ({ number: i + 1, entry: await poolAddOf(node, txid) }))
        );
        const { created: incarnation, state } = await this.bus.manager.streams.info(this.subjects.stream);
        return { at: { incarnation, sequence: state.last_seq }, entries, more: false };
      }
    };
  }
}
