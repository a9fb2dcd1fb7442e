// One term of leading: brings the log to where the node is, and then writes what happens, until another node has written, or the lease is lost.

import { setTimeout } from 'node:timers/promises';
import { ChainMovedError } from '../../node/errors';
import { beatOf, type BeatParts } from './beat';
import { ChainFeed } from './chain-feed';
import { EventQueue, type FeedEvent, type Mark } from './event-queue';
import { PoolFeed } from './pool-feed';
import { TermWriter } from './term-writer';
import { FleetLog } from '../log/log-reader';
import { LogWriter } from '../log/log-writer';
import { findStream, makeStream } from '../log/stream';
import type { IndexLogger } from '../../follow/logger';
import type { NatsBus } from '../log/connection';
import type { Subjects } from '../log/subjects';
import type { LogPosition } from '../messages/records';
import type { PoolPage } from '../messages/questions';

export interface TermParts extends BeatParts {
  readonly bus: NatsBus;
  readonly subjects: Subjects;
  /** Of this node. */
  readonly name: string;
  /** From the lease. */
  readonly number: number;
  /** Called after each writing, with the number of records. */
  readonly beat: (records: number) => void;
  /** Whether the node may lead although its chain has less work than the log's: its tip must be this block. */
  readonly mayRewindTo: Buffer | undefined;
  readonly logger: IndexLogger;
}

const BEAT_MS = 1_000;
const EVENTS_AT_ONCE = 256;
const RETRY_MS = 50;

export class Term {
  /** Rises from term to term. */
  readonly number: number;
  readonly #parts: TermParts;
  readonly #log: FleetLog;
  readonly #writer: TermWriter;
  readonly #queue: EventQueue;
  readonly #chain: ChainFeed;
  readonly #pool: PoolFeed;
  /** Those that wait for what has happened to be in the log. */
  readonly #waiting = new Set<Mark['reached']>();
  #isOver = false;
  #endWait: () => void = () => undefined;
  #isAligned = false;
  #beatAt = -Infinity;

  private constructor(parts: TermParts, log: FleetLog, tip: ConstructorParameters<typeof ChainFeed>[2], term: number, signal: AbortSignal) {
    const { bus, subjects, node, name, beat, logger } = parts;
    this.#parts = parts;
    this.#log = log;
    this.number = term;
    const logWriter = new LogWriter(bus, subjects, log, ({ message }) => {
      logger.warning(`NATS does not take the records of this node: ${message}.`);
    });
    this.#writer = new TermWriter(logWriter, { term, node: name, written: beat }, signal);
    this.#queue = new EventQueue(node, () => this.#endWait());
    this.#chain = new ChainFeed(node, this.#writer, tip);
    this.#pool = new PoolFeed(node.pool, this.#writer, this.#queue.silentChanges, logger);
    signal.addEventListener('abort', () => this.#endWait());
  }

  /** Finds the log, or makes it. @throws ForeignLogError, NatsAwayError, NatsRefusedError, MalformedMessageError */
  static async open(parts: TermParts, signal: AbortSignal): Promise<Term> {
    const { bus, subjects, node, number } = parts;
    const { genesisHash } = node.network;
    const info = (await findStream(bus, subjects, genesisHash)) ?? (await makeStream(bus, subjects, genesisHash));
    const log = new FleetLog(bus, subjects, info);
    const word = await log.lastOwnOfChain(({ message }) => {
      parts.logger.warning(`The log has nothing about the chain yet, but ${message}.`);
    });
    return new Term(parts, log, word, Math.max(number, (word?.term ?? 0) + 1), signal);
  }

  /** The log's last record. */
  get position(): LogPosition {
    return { incarnation: this.#log.incarnation, sequence: this.#writer.written };
  }

  /**
   * Resolves with the log's last sequence once everything that has happened so far is in the log; undefined: the term has ended before.
   * `hasBeat`: with a beat after it.
   */
  reached(hasBeat: boolean): Promise<number | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const reached: Mark['reached'] = (sequence) => {
        this.#waiting.delete(reached);
        resolve(sequence);
      };
      this.#waiting.add(reached);
      this.#queue.mark({ hasBeat, reached });
    });
  }

  page(after: number, mostBytes: number): Promise<PoolPage> {
    return this.#pool.page(after, mostBytes, () => this.position);
  }

  /**
   * Writes until the signal.
   * @throws FencedError when another node has written; LessWorkError when the node's chain has less work than the log's; LogGoneError,
   * NatsRefusedError
   */
  async run(signal: AbortSignal, leads: () => void): Promise<void> {
    const synced = this.#parts.node.synced$.subscribe(() => {
      this.#beatAt = -Infinity;
      this.#endWait();
    });
    try {
      while (!signal.aborted) {
        if (!this.#isAligned || this.#queue.hasOverflowed) {
          await this.#align();
          if (!this.#isAligned) continue;
          leads();
        }
        await this.#turn();
      }
    } finally {
      synced.unsubscribe();
      this.#queue.close();
      this.#isOver = true;
      for (const reached of this.#waiting) reached(undefined);
    }
  }

  /** Brings the log to where chain and pool are now. */
  async #align(): Promise<void> {
    const { node, mayRewindTo } = this.#parts;
    const { tip, txids } = await node.withChainLock(() => {
      this.#queue.restart();
      return { tip: node.tip(), txids: node.pool.txids() };
    });
    try {
      const way = await this.#chain.wayTo(tip, mayRewindTo?.equals(tip.hash) === true);
      // A transaction must be in a block or in the pool at any moment.
      if (way.leavesBlocks) await this.#pool.addAll(txids);
      await way.write();
      await this.#writer.flush();
      await this.#pool.addAll(txids);
      await this.#pool.removeOthers(txids);
      await this.#writer.flush();
      this.#isAligned = true;
      this.#beatAt = -Infinity;
    } catch (error) {
      if (!(error instanceof ChainMovedError)) throw error;
      this.#isAligned = false;
      await setTimeout(RETRY_MS);
    }
  }

  /** Writes what has happened, and the beat when it is due; waits when there is nothing. */
  async #turn(): Promise<void> {
    const marks: Mark[] = [];
    for (const event of this.#queue.take(EVENTS_AT_ONCE)) {
      if (event.type === 'mark') marks.push(event);
      else if (this.#isAligned) this.#isAligned = await this.#write(event);
    }
    if (!this.#isAligned) {
      for (const mark of marks) this.#queue.mark(mark);
      return;
    }
    if (performance.now() >= this.#beatAt + BEAT_MS || marks.some(({ hasBeat }) => hasBeat)) await this.#beat();
    await this.#writer.flush();
    for (const { reached } of marks) reached(this.#writer.written);
    if (this.#queue.isEmpty) await this.#wait();
  }

  /** False: chain and pool are to be compared with the log. */
  async #write(event: Exclude<FeedEvent, Mark>): Promise<boolean> {
    try {
      switch (event.type) {
        case 'connect':
          this.#beatAt = -Infinity;
          return await this.#chain.connected(event.block, event.raw, await event.undo);
        case 'disconnect':
          return await this.#chain.disconnected(event.block);
        case 'moved':
          return false;
        case 'add':
          await this.#pool.added(event);
          return true;
        case 'remove':
          await this.#pool.removed(event);
          return true;
        case 'clear':
          await this.#pool.cleared();
          return true;
      }
    } catch (error) {
      if (error instanceof ChainMovedError) return false;
      throw error;
    }
  }

  async #beat(): Promise<void> {
    this.#beatAt = performance.now();
    await this.#pool.compareIfChanged();
    await this.#writer.add(beatOf(this.#parts, this.#chain.tip));
  }

  async #wait(): Promise<void> {
    const ms = Math.max(0, this.#beatAt + BEAT_MS - performance.now());
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#endWait = resolve;
      timer = globalThis.setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }
}
