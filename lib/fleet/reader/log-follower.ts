// Follows the log: one record after the other, each under the reader's lock. After a lost connection it goes on where it was. When what it has
// read cannot be, or the log is another one, it begins again at the log's last record about the chain, with headers and pool from nodes.

import { setTimeout } from 'node:timers/promises';
import { spentOutpoints } from '../../bitcoin/block';
import { toDisplayHex } from '../../bitcoin/hash';
import { MalformedBytesError } from '../../bitcoin/reader';
import { errorOf } from '../../follow/errors';
import { Loop } from '../../follow/loop';
import { ForeignLogError, LogGapError } from '../log/errors';
import { BlockAssembly } from './block-assembly';
import { checkedTxids } from './checks';
import { NoNodeError } from '../../node/errors';
import { UntrueRecordError } from './errors';
import { WHOLE_CLEAR, type Connect, type LogPosition, type PoolRecord } from '../messages/records';
import type { IndexLogger } from '../../follow/logger';
import type { FleetLog, LoggedRecord } from '../log/log-reader';
import type { Beats } from './beats';
import type { BlockStore } from './block-store';
import type { StoredBlock } from './stored-block';
import type { Lock } from '../../turns/lock';
import type { Nodes } from './nodes';
import type { PoolReplica } from './pool-replica';
import type { PositionFile } from './position-file';
import type { ReaderChain } from './reader-chain';

/** Pause before the log is opened again. */
const PAUSE_MS = 500;

/** A chain that has less work than before, and was not moved for this long, is not on its way any more. */
const RESTED_MS = 1_000;

/** Without a record for this long, connection and consumer are made again: a beat comes each second. */
const SILENCE_MS = 5_000;

const PAGE_BYTES = 2_000_000;

const MOST_OUT_OF_PLACE = 1_000;

/** In the place of a term's id: of a record that is none of ours, and of a leader that writes none. */
const NOBODY = Buffer.alloc(0);

export interface LogFollowerParts {
  /** Connects, and finds the log. */
  readonly openLog: () => Promise<FleetLog>;
  readonly nodes: Nodes;
  readonly chain: ReaderChain;
  readonly pool: PoolReplica;
  readonly blocks: BlockStore;
  readonly beats: Beats;
  readonly lock: Lock;
  readonly logger: IndexLogger;
  /** undefined: nothing is kept on disk. */
  readonly file: PositionFile | undefined;
  /** Called after each record. */
  readonly moved: () => void;
}

export class LogFollower extends Loop {
  readonly #parts: LogFollowerParts;
  readonly #assembly = new BlockAssembly();
  /** The last record that was applied; undefined: the next session begins anew. */
  #position: LogPosition | undefined;
  /** Of the term that wrote that record. */
  #termId = NOBODY;
  /** Sequences of records of a term that had no place there. */
  readonly #outOfPlace = new Set<number>();
  /** The log that was read last. */
  #incarnation: string | undefined;
  /** Sequence of the record that is being taken in. */
  #taking = 0;
  /** The log's last record when it was opened: what came before is the past. */
  #pastUpTo = Infinity;
  /** Sequence of the last record about the pool that could not be applied; those up to it are passed over if they cannot be, either. */
  #untrueUpTo = 0;
  /** Work of the tip that a reorganization under way has left; undefined: there is none. */
  #left: bigint | undefined;
  /** When the chain was moved last. */
  #movedAt = 0;
  /** Gives the lock back, which is kept during a reorganization. */
  #unlock: (() => void) | undefined;
  #why: string | undefined = 'waiting for the log of the fleet';
  #term: number | undefined;
  #log: FleetLog | undefined;
  #read = 0;

  constructor(parts: LogFollowerParts) {
    super();
    this.#parts = parts;
  }

  open(): void {
    this.run();
  }

  get position(): LogPosition | undefined {
    return this.#position;
  }

  /** The record that is being taken in; undefined: no log is read. */
  get taking(): LogPosition | undefined {
    return this.#log && { incarnation: this.#log.incarnation, sequence: this.#taking };
  }

  /** Whether the log has left blocks, and not yet come to more work than they had. */
  get isReorganizing(): boolean {
    return this.#left !== undefined && this.#parts.chain.tip.chainwork <= this.#left;
  }

  /** Of the leader whose record was read last. */
  get term(): number | undefined {
    return this.#term;
  }

  /** Records that were taken in. */
  get read(): number {
    return this.#read;
  }

  /** Records of the log behind the last one that was read; undefined: no log is read. */
  get pending(): number | undefined {
    return this.#log?.pending;
  }

  /** Why the log is not followed; undefined: it is. */
  get why(): string | undefined {
    return this.#why;
  }

  protected dueIn(): number {
    return 0;
  }

  protected async step(): Promise<void> {
    await this.#follow((this.#log = await this.#parts.openLog()));
  }

  protected async failed(caught: unknown): Promise<void> {
    const error = errorOf(caught);
    if (isUntrue(error)) this.#doubt();
    if (this.#why !== error.message) this.#parts.logger.warning(`The log of the fleet cannot be followed: ${error.message}.`);
    this.#why = error.message;
    await setTimeout(PAUSE_MS, undefined, { signal: this.signal }).catch(() => undefined);
  }

  /** What was read is not to be trusted: nothing is answered until the chain is known again. */
  #doubt(): void {
    this.#position = undefined;
    this.#assembly.clear();
    this.#parts.chain.doubt();
    this.#parts.beats.forget();
  }

  /** Reads until the log ends or something is wrong. */
  async #follow(log: FleetLog): Promise<void> {
    const { incarnation, first, last } = log;
    const { file } = this.#parts;
    this.#pastUpTo = last;
    if (incarnation !== this.#incarnation) this.#outOfPlace.clear();
    this.#incarnation = incarnation;
    const isSame = this.#position?.incarnation === incarnation && this.#position.sequence >= first - 1 && this.#position.sequence <= last;
    if (!isSame) {
      if (this.#position !== undefined) this.#untrueUpTo = 0;
      this.#doubt();
      this.#arrive({ incarnation, sequence: await this.#begin(log, await file?.read()) });
    }
    let next = (this.#position as LogPosition).sequence + 1;
    try {
      for await (const logged of log.read(next, { silenceMs: SILENCE_MS, signal: this.signal })) {
        if (this.#isNext(logged)) {
          await this.#applyLocked(logged);
          this.#term = logged.record.term;
          this.#read++;
        }
        this.#arrive({ incarnation, sequence: logged.sequence });
        next = logged.sequence + 1;
      }
    } catch (error) {
      // A record that is none of ours says nothing. Whoever leads has read past it, too.
      if (error instanceof ForeignLogError) {
        this.#arrive({ incarnation, sequence: next });
        this.#termId = NOBODY;
      }
      throw error;
    } finally {
      await this.#endReorganization();
      this.#unlockIfSettled();
    }
  }

  /**
   * A record of another term than the one before must be its term's first. Servers that are killed, or lose their data, may lose records that
   * were read: the log then goes on with those of another term in their places. A server that was away may also have records that the others
   * have replaced. And a writer's records may lie behind that of another one, whose record has come between them. False: the record has come
   * there before; the leader was fenced by it, and goes on after it.
   * @throws LogGapError
   */
  #isNext({ sequence, record: { termId, termStart } }: LoggedRecord): boolean {
    const isKnown = this.#termId.equals(termId);
    if (!isKnown && termStart !== sequence) {
      if (this.#outOfPlace.has(sequence)) return false;
      if (this.#outOfPlace.size >= MOST_OUT_OF_PLACE) this.#outOfPlace.clear();
      this.#outOfPlace.add(sequence);
      this.#untrueUpTo = 0;
      throw new LogGapError(
        `record ${sequence} is out of place: its term began at ${termStart}, and the record before it is of another one`
      );
    }
    // The record's bytes are not kept for it.
    if (!isKnown) this.#termId = Buffer.from(termId);
    return true;
  }

  #arrive(position: LogPosition): void {
    this.#position = position;
    if (position.sequence >= this.#pastUpTo) this.#why = undefined;
    this.#parts.moved();
  }

  /** Takes over chain and pool as the log has them now. Returns the last record that need not be read any more. */
  async #begin(log: FleetLog, kept: LogPosition | undefined): Promise<number> {
    const { chain, nodes, pool, lock } = this.#parts;
    const word = await log.lastOfChain();
    if (word === undefined) throw new NoNodeError('the log is empty: no node feeds it yet');
    // The blocks since the last time: the index will want them.
    if (kept?.incarnation === log.incarnation && kept.sequence >= log.first - 1) await this.#recall(log, kept.sequence + 1, word.sequence);
    pool.apply(WHOLE_CLEAR);
    for (let [after, more] = [0, true]; more;) {
      const page = await nodes.askOnlyLeader('pool', { after, mostBytes: PAGE_BYTES });
      if (page.at.incarnation !== log.incarnation || page.at.sequence < word.sequence)
        throw new NoNodeError('the leader is behind the log');
      // Before this record the pool is ahead of the chain.
      this.#pastUpTo = Math.max(this.#pastUpTo, page.at.sequence);
      for (const { number, entry } of page.entries) {
        pool.apply(entry);
        after = number;
      }
      more = page.more && page.entries.length > 0;
    }
    await lock.run(() => chain.goTo(word.tip));
    this.#termId = Buffer.from(word.termId);
    return word.sequence;
  }

  /** Keeps the blocks of records that lie in the past. */
  async #recall(log: FleetLog, from: number, upTo: number): Promise<void> {
    let next = from;
    while (next <= upTo && !this.signal.aborted) {
      try {
        for await (const logged of log.read(next, { silenceMs: SILENCE_MS, signal: this.signal })) {
          await this.#recallOne(logged);
          next = logged.sequence + 1;
          if (next > upTo) break;
        }
      } catch (error) {
        // A record that is none of ours is passed over, as when the log is followed: it would stop the reader for as long as it is there.
        if (!(error instanceof ForeignLogError)) throw error;
        next++;
      }
    }
  }

  async #recallOne({ record: { body }, sequence }: LoggedRecord): Promise<void> {
    const { blocks, chain } = this.#parts;
    if (body.type === 'block') this.#assembly.add(body, sequence);
    if (body.type !== 'connect') return;
    const checked = await this.#checked(body);
    if (checked !== undefined) await blocks.put(body.hash, checked.block, checked.txids);
    chain.noteSoftForks(body);
  }

  /** Keeps the lock from the first block that a reorganization disconnects to the last one that it connects, as a node does. */
  async #applyLocked(logged: LoggedRecord): Promise<void> {
    if (this.#unlock === undefined) {
      await new Promise<void>((resolve, reject) => {
        const applied = (): Promise<void> | undefined => {
          const unlocked = this.#left === undefined ? undefined : new Promise<void>((unlock) => (this.#unlock = unlock));
          resolve();
          return unlocked;
        };
        void this.#parts.lock.run(() => this.#apply(logged).then(applied, reject));
      });
      return;
    }
    await this.#apply(logged);
    this.#unlockIfSettled();
  }

  #unlockIfSettled(): void {
    if (this.#left !== undefined) return;
    this.#unlock?.();
    this.#unlock = undefined;
  }

  async #apply({ record: { body }, sequence }: LoggedRecord): Promise<void> {
    this.#taking = sequence;
    const { chain, pool, beats } = this.#parts;
    switch (body.type) {
      case 'block':
        this.#assembly.add(body, sequence);
        break;
      case 'connect':
        await this.#connect(body, sequence);
        this.#movedAt = performance.now();
        if (!this.isReorganizing) this.#left = undefined;
        break;
      case 'disconnect':
        this.#left ??= chain.tip.chainwork;
        await chain.disconnect(body);
        this.#movedAt = performance.now();
        break;
      case 'reset':
        chain.noteSoftForks(body);
        await chain.goTo(body, true);
        this.#left = undefined;
        break;
      case 'beat':
        if (performance.now() - this.#movedAt > RESTED_MS) await this.#endReorganization();
        beats.note(body, sequence > this.#pastUpTo);
        pool.note(body.pool);
        break;
      default:
        this.#applyToPool(body, sequence);
    }
  }

  /** After a record that cannot be applied the pool is taken over from the leader, which has what the record should have said. */
  #applyToPool(record: PoolRecord, sequence: number): void {
    try {
      this.#parts.pool.apply(record);
    } catch (error) {
      if (!isUntrue(errorOf(error)) || sequence > this.#untrueUpTo) {
        this.#untrueUpTo = Math.max(this.#untrueUpTo, sequence);
        throw error;
      }
    }
  }

  /** One that has stopped half way. */
  async #endReorganization(): Promise<void> {
    if (this.#left === undefined) return;
    this.#left = undefined;
    await this.#parts.chain.settle();
  }

  async #connect(connect: Connect, sequence: number): Promise<void> {
    const { chain, pool, blocks } = this.#parts;
    const { hash } = connect;
    let checked = await this.#checked(connect);
    if (checked !== undefined) void blocks.put(hash, checked.block, checked.txids);
    else {
      const raw = await blocks.raw(hash);
      // The leader was asked, too, and has all blocks of the log's chain.
      if (raw === undefined) throw new UntrueRecordError(`no node has block ${toDisplayHex(hash)}`);
      checked = { block: { raw }, txids: blocks.txidsOf(raw) ?? (await checkedTxids(raw, hash)) };
    }
    const { raw } = checked.block;
    await chain.connect(connect, raw);
    pool.blockCame(checked.txids, spentOutpoints(raw));
    this.#keep(sequence);
  }

  /** The block of a record and its txids, if the log has it and it is what it should be. */
  async #checked(connect: Connect): Promise<{ readonly block: StoredBlock; readonly txids: Buffer } | undefined> {
    const block = this.#assembly.take(connect);
    if (block === undefined) return undefined;
    try {
      return { block, txids: await checkedTxids(block.raw, connect.hash) };
    } catch (error) {
      if (!(error instanceof UntrueRecordError)) throw error;
      this.#parts.logger.warning(`A block of the log is left out, and a node asked for it: ${error.message}.`);
      return undefined;
    }
  }

  /** Remembers on disk how far the log was read. */
  #keep(sequence: number): void {
    const incarnation = this.#log?.incarnation;
    if (incarnation !== undefined) this.#parts.file?.write({ incarnation, sequence });
  }
}

/** Whether what was read cannot be true, or something is missing. */
function isUntrue(error: Error): boolean {
  return error instanceof UntrueRecordError || error instanceof MalformedBytesError || error instanceof LogGapError;
}
