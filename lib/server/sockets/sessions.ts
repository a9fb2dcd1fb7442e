// The sessions of all protocols: their limits, the end of clients that are idle, and closing.

import { setTimeout as delay } from 'node:timers/promises';
import { groupOf } from '../bounds/address-group';
import { Accounts, type Account } from '../bounds/cost';
import { Idlest } from '../bounds/idlest';
import { CLOSING_MS } from '../limits';
import { CUT_OFF_REASONS, type ClientSession, type CutOffReason } from './client-session';
import type { Socket } from 'node:net';

/** Connections of one address. Addresses of the node's machine have no such limit. */
const MOST_OF_ADDRESS = 100;

/** ElectrumX's limit. Wallets send something more often than that. */
const IDLE_MS = 600_000;

/** The limit before the first request. */
const SILENT_MS = 60_000;

const SWEEP_MS = 5_000;
const CLOSING_STEP_MS = 20;

/** Begins a session, which calls `onClose` when the client has gone. */
export type OpenSession = (account: Account, onClose: (session: ClientSession) => void) => ClientSession;

export interface SessionsParts {
  readonly maxSessions: number;
  /** Points above which a client is cut off; 0: nothing is counted. */
  readonly maxCost: number;
  /** Whether an address is of the node's machine: its clients have only the common limit, and cost nothing. */
  readonly isOwn: (address: string) => boolean;
  /** Milliseconds that clients have to read what was sent before the end of their session. */
  readonly timeoutMs: number;
}

export class Sessions {
  /** How many were cut off for each reason. */
  readonly cutOff = Object.fromEntries(CUT_OFF_REASONS.map((reason) => [reason, 0])) as Record<CutOffReason, number>;
  /** Connections that did not become a session because there were too many. */
  refused = 0;
  readonly #parts: SessionsParts;
  readonly #accounts: Accounts;
  readonly #sessions = new Set<ClientSession>();
  /** Connections of each address group. */
  readonly #connections = new Map<string, number>();
  #count = 0;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  readonly #sweeping: NodeJS.Timeout;
  readonly #idlest = new Idlest<ClientSession>(
    () => this.#sessions,
    ({ isIdle, endedAt, heardAt, openedAt }) => (isIdle && endedAt === undefined ? (heardAt ?? openedAt) : undefined)
  );

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#accounts = new Accounts(parts.maxCost, parts.isOwn);
    this.#sweeping = setInterval(
      () => {
        this.#sweep();
      },
      Math.min(SWEEP_MS, parts.timeoutMs)
    ).unref();
  }

  /** The number of sessions. */
  get count(): number {
    return this.#sessions.size;
  }

  /**
   * Whether a connection may become a session. If so, it counts until it is closed. While there are as many sessions as there may be, the
   * one that has been idle for longest makes room. `address`: the client's.
   */
  admit(socket: Pick<Socket, 'once' | 'destroyed'>, address: string | undefined): boolean {
    const { maxSessions, isOwn } = this.#parts;
    if (address === undefined || socket.destroyed || this.#isClosed) return false;
    const group = groupOf(address);
    const others = this.#connections.get(group) ?? 0;
    const isAboveShare = others >= MOST_OF_ADDRESS && !isOwn(address);
    if (isAboveShare || (this.#count >= maxSessions && !this.#makeRoom())) {
      this.refused++;
      return false;
    }
    this.#count++;
    this.#connections.set(group, others + 1);
    socket.once('close', () => {
      this.#count--;
      const left = (this.#connections.get(group) ?? 1) - 1;
      if (left === 0) this.#connections.delete(group);
      else this.#connections.set(group, left);
    });
    return true;
  }

  /** Begins the session of a client that was admitted. `address`: its IP address. */
  begin(address: string, open: OpenSession): void {
    this.#sessions.add(
      open(this.#accounts.of(address), (gone) => {
        if (this.#sessions.delete(gone) && gone.cutOffFor !== undefined) this.cutOff[gone.cutOffFor]++;
      })
    );
  }

  /** Ends all sessions once their requests are answered, and waits until they are gone, but not for long. Further calls wait for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    for (const session of this.#sessions) session.finish();
    for (let waited = 0; waited < CLOSING_MS && this.#sessions.size > 0; waited += CLOSING_STEP_MS) await delay(CLOSING_STEP_MS);
    for (const session of this.#sessions) session.destroy();
  }

  #makeRoom(): boolean {
    const session = this.#idlest.next();
    session?.cutOff('room');
    return session !== undefined;
  }

  #sweep(): void {
    const now = performance.now();
    const { timeoutMs } = this.#parts;
    for (const session of this.#sessions) {
      const { heardAt, openedAt, endedAt = now } = session;
      const isIdle = heardAt === undefined ? now - openedAt > SILENT_MS : now - heardAt > IDLE_MS;
      if (now - endedAt > timeoutMs) session.destroy();
      else if (isIdle) session.end('idle');
    }
    this.#accounts.sweep((group) => this.#connections.has(group));
  }
}
