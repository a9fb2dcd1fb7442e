// Feeds the log of a fleet from this node: answers the questions of readers, and leads whenever no other node does. The node never waits for it.

import { setTimeout } from 'node:timers/promises';
import { errorOf } from '../../follow/errors';
import { Loop } from '../../follow/loop';
import { messageOf } from '../../system/error-text';
import { untilAborted } from '../log/abortable';
import { ConnectionCount, connectToNats, type NatsBus } from '../log/connection';
import { FencedError, LogGoneError } from '../log/errors';
import { FleetLog } from '../log/log-reader';
import { findStream } from '../log/stream';
import { subjectsOf, type Subjects } from '../log/subjects';
import { FleetReplyError } from '../messages/questions';
import { nodeAnswersOf } from './answers';
import { LessWorkError, requireWork } from './chain-feed';
import { LeaseThread } from './lease-thread';
import { Responder } from './responder';
import { Term } from './term';
import type { NatsAccess } from '../log/access';
import type { IndexLogger } from '../../follow/logger';
import type { FeedFigures } from '../../node/types/fleet';
import type { NodeSource } from '../../node/types/source';

export interface FeedParts {
  readonly access: NatsAccess;
  /** Of this node in the fleet. */
  readonly name: string;
  /** Whether it may lead. */
  readonly leads: boolean;
  readonly node: NodeSource;
  readonly logger: IndexLogger;
  /** What is wrong with the node's chain. */
  readonly warnings: () => readonly string[];
  /** Version of this package. */
  readonly release: string;
  /** How long a lease lasts; otherwise LEASE_MS. */
  readonly leaseMs?: number;
}

/** After this time without a renewal another node leads. */
const LEASE_MS = 10_000;

/** Pauses before NATS is tried again. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [500, 5_000] as const;
/** Pause of a node that may not lead. */
const IDLE_MS = 1_000;
/** Bytes of a message without which whole blocks do not fit. */
const ENOUGH_PAYLOAD = 4 * 1_024 * 1_024;
/** A node that has verified less of the chain downloads it, and does not lead. */
const ENOUGH_VERIFIED = 0.999;
/** How long a rewind may take besides the lease of another leader. */
const REWIND_MS = 5_000;

export class Feed extends Loop {
  readonly #parts: FeedParts;
  readonly #subjects: Subjects;
  readonly #leaseMs: number;
  #bus: NatsBus | undefined;
  #responder: Responder | undefined;
  #term: Term | undefined;
  #mayRewindTo: Buffer | undefined;
  #pauseMs: number = FIRST_PAUSE_MS;
  /** What was logged last, so that it is not logged again each second. */
  #lastLine = '';
  #waitsForTerm: (() => void)[] = [];
  #written = 0;
  readonly #connections = new ConnectionCount();

  constructor(parts: FeedParts) {
    super();
    this.#parts = parts;
    this.#subjects = subjectsOf(parts.node.network.chain);
    this.#leaseMs = parts.leaseMs ?? LEASE_MS;
  }

  /** Does not wait for NATS. */
  open(): void {
    this.run();
  }

  /** Whether this node writes the log now. */
  get isLeading(): boolean {
    return this.#term !== undefined;
  }

  /** What it has done so far. */
  get figures(): FeedFigures {
    const written = this.#written;
    return { leads: this.isLeading, term: this.#term?.number, written, connections: this.#connections.made };
  }

  /** Resolves with the log's last sequence once this node leads, and all that has happened in it is in the log, with a beat after it. */
  async settled(): Promise<number> {
    await this.#parts.node.withChainLock(() => undefined);
    for (;;) {
      while (this.#term === undefined) await new Promise<void>((resolve) => this.#waitsForTerm.push(resolve));
      const sequence = await this.#term.reached(true);
      if (sequence !== undefined) return sequence;
      // The term has ended: what has happened is in the log once the next one has begun.
      await setTimeout(IDLE_MS / 10);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    this.#responder?.close();
    await this.#bus?.connection.close();
  }

  protected dueIn(): number {
    return 0;
  }

  protected async step(): Promise<void> {
    const bus = await this.#connected();
    if (!this.#parts.leads || (this.#parts.node.progress().verified < ENOUGH_VERIFIED && this.#mayRewindTo === undefined)) {
      await this.#pause(IDLE_MS);
      return;
    }
    await this.#lead(bus);
  }

  protected async failed(caught: unknown): Promise<void> {
    const error = errorOf(caught);
    if (error.name === 'AbortError') return;
    if (error instanceof FencedError || error instanceof LogGoneError) {
      this.#logNew(`This node no longer leads the fleet: ${error.message}.`);
      await this.#pause(FIRST_PAUSE_MS);
      return;
    }
    if (error instanceof LessWorkError) {
      this.#logNew(`This node does not lead the fleet: ${error.message}.`);
      await this.#pause(IDLE_MS);
      return;
    }
    this.#logNew(`The fleet is not fed: ${error.message}.`);
    await this.#pause(this.#pauseMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LAST_PAUSE_MS);
  }

  async #connected(): Promise<NatsBus> {
    if (this.#bus !== undefined && !this.#bus.connection.isClosed()) return this.#bus;
    this.#responder?.close();
    const { access, name, logger, node } = this.#parts;
    const connecting = connectToNats(access, `bcoin-rest node ${name}`, this.#connections);
    // One that comes too late is not wanted any more.
    connecting.then(({ connection }) => (this.signal.aborted ? connection.close() : undefined)).catch(() => undefined);
    const bus = (this.#bus = await untilAborted(connecting, this.signal));
    const answers = nodeAnswersOf({ node, term: () => this.#term, rewind: (hash) => this.#rewind(hash) });
    this.#responder = new Responder(bus, this.#subjects, answers, (error) => {
      logger.warning(`NATS does not let this node hear what readers ask: ${messageOf(error)}.`);
    });
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#lastLine = '';
    logger.info(`Connected to NATS at ${bus.connection.getServer()}, as ${name}.`);
    const most = bus.mostBytes();
    if (most < ENOUGH_PAYLOAD) logger.warning(`NATS takes messages of ${most} bytes: set max_payload to 8MB, so that blocks fit into one.`);
    return bus;
  }

  /** Waits for the lease, and leads until it is lost or another node has written. */
  async #lead(bus: NatsBus): Promise<void> {
    const { access, name, node, logger } = this.#parts;
    if (this.#mayRewindTo === undefined) await this.#requireWork(bus);
    const lease = new LeaseThread({ access, chain: node.network.chain, name, ms: this.#leaseMs });
    const closed = new AbortController();
    void bus.connection.closed().then(() => closed.abort());
    const open = AbortSignal.any([this.signal, closed.signal]);
    const end = AbortSignal.any([open, lease.lost]);
    try {
      const number = await lease.taken(open);
      const beat = (records: number): void => {
        this.#written += records;
        lease.beat();
      };
      const parts = { ...this.#parts, bus, subjects: this.#subjects, number, beat, mayRewindTo: this.#mayRewindTo };
      const term = await Term.open(parts, end);
      await term.run(end, () => {
        if (this.#term === term) return;
        this.#logNew(`This node leads the fleet, from record ${term.position.sequence} of the log on.`, true);
        this.#mayRewindTo = undefined;
        this.#term = term;
        this.#responder?.lead(true);
        for (const resolve of this.#waitsForTerm.splice(0)) resolve();
      });
    } finally {
      if (lease.lost.aborted && this.#term !== undefined)
        logger.warning('This node no longer leads the fleet: its lease was not renewed in time.');
      this.#responder?.lead(false);
      this.#term = undefined;
      await lease.release();
    }
  }

  /** @throws LessWorkError before a lease is taken for nothing */
  async #requireWork(bus: NatsBus): Promise<void> {
    const { node } = this.#parts;
    const info = await findStream(bus, this.#subjects, node.network.genesisHash);
    if (info !== undefined) await requireWork(node, await new FleetLog(bus, this.#subjects, info).lastOwnOfChain());
  }

  async #rewind(hash: Buffer): Promise<number> {
    const { node, leads } = this.#parts;
    if (!leads || !node.tip().hash.equals(hash)) throw new FleetReplyError('not leading', 'this node is not at that block');
    // A node that leads has brought the log to its block. What was allowed and not needed must not count for a later term.
    if (this.#term === undefined) {
      this.#mayRewindTo = hash;
      try {
        await this.#leadsAgain();
      } finally {
        this.#mayRewindTo = undefined;
      }
    }
    return this.#term?.position.sequence ?? 0;
  }

  /** @throws FleetReplyError */
  async #leadsAgain(): Promise<void> {
    for (const until = performance.now() + this.#leaseMs + REWIND_MS; this.#term === undefined;) {
      if (performance.now() > until)
        throw new FleetReplyError('failed', 'another node leads the fleet: stop it, or bring it to that block first');
      await setTimeout(IDLE_MS / 10);
    }
  }

  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.signal }).catch(() => undefined);
  }

  #logNew(text: string, isGood = false): void {
    if (text === this.#lastLine) return;
    this.#lastLine = text;
    if (isGood) this.#parts.logger.info(text);
    else this.#parts.logger.warning(text);
  }
}
