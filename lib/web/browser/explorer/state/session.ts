// What all pages share: the node's status, where data comes from, and what has changed since. One object, followed by components.

import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { Client, KeyError } from '../data/client';
import { CoreSource } from '../data/core';
import { EsploraSource } from '../data/esplora';
import { Live, type Tracked } from '../data/live';
import { statusOf } from '../data/status';
import type { ExplorerStatus } from '../../../explorer-status';
import type { Source } from '../data/source';
import type { Block, Fees, PoolPlace, Tip } from '../data/types';

/** `live`: changes are told. `asking`: they are asked for. `lost`: the node does not answer. */
export type Contact = 'live' | 'asking' | 'lost';

const WARM_UP_MS = 1_000;
const ASKING_MS = 5_000;
const STATUS_MS = 15_000;

/** Blocks that the page keeps. */
const MOST_BLOCKS = 16;

export class Session {
  readonly client = new Client();
  status: ExplorerStatus | undefined;
  source: Source | undefined;
  contact: Contact | undefined;
  /** The key is missing, or was refused. */
  keyFault: string | undefined;
  /** From the newest one down. */
  blocks: readonly Block[] = [];
  fees: Fees | undefined;
  /** Counted up when the chain has moved, the pool has changed, or what is tracked has changed; of the latter two whenever that is not known. */
  chainVersion = 0;
  poolVersion = 0;
  trackedVersion = 0;
  /** Transactions that were seen to take the place of others, by the txids of those. */
  readonly replacements = new Map<string, string>();
  /** Where the tracked transaction stands in the pool, if that is told. */
  placed: { readonly txid: string; readonly place: PoolPlace | undefined } | undefined;
  readonly #listeners = new Set<() => void>();
  #live: Live | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  get tip(): Tip | undefined {
    return this.blocks[0];
  }

  /** Whether there are pages to show. */
  get isOpen(): boolean {
    return this.status?.ready === true && this.source !== undefined && this.keyFault === undefined;
  }

  start(): void {
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.askNow();
    });
    this.askNow();
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  useKey(key: string): void {
    this.client.key = key;
    this.keyFault = undefined;
    this.#source();
    this.askNow();
  }

  refuseKey(fault: string): void {
    this.client.key = undefined;
    this.keyFault = fault;
    this.#say();
  }

  track(tracked: Tracked): void {
    this.placed = undefined;
    this.#live?.track(tracked);
  }

  askNow(): void {
    clearTimeout(this.#timer);
    void this.#ask().then((pause) => {
      clearTimeout(this.#timer);
      // Nobody looks at a page in the background.
      if (document.visibilityState === 'visible')
        this.#timer = setTimeout(() => {
          this.askNow();
        }, pause);
    });
  }

  /** Asks for the status, and for changes unless they are told. Gives the pause until the next time. */
  async #ask(): Promise<number> {
    try {
      const before = this.status;
      const status = (this.status = await statusOf(this.client));
      if (status.needsKey && this.client.key === undefined) this.keyFault ??= '';
      if (this.source === undefined || before?.ready !== status.ready || before.api?.ready !== status.api?.ready) this.#source();
      if (!status.ready || this.keyFault !== undefined) {
        this.contact = 'asking';
        return WARM_UP_MS;
      }
      if (this.#live?.isConnected === true) {
        this.contact = 'live';
        return STATUS_MS;
      }
      await this.#askForChanges();
      return status.api?.ready === false ? WARM_UP_MS : ASKING_MS;
    } catch (error) {
      if (error instanceof KeyError) this.refuseKey(error.message);
      else this.contact = 'lost';
      return WARM_UP_MS;
    } finally {
      this.#say();
    }
  }

  async #askForChanges(): Promise<void> {
    const { source } = this;
    if (source === undefined) return;
    const { hash } = await source.tip();
    if (this.tip?.hash !== hash) {
      this.blocks = await source.blocks();
      this.chainVersion++;
    }
    this.fees = await source.scripts?.fees();
    if (this.contact !== 'live') this.contact = 'asking';
    this.poolVersion++;
    this.trackedVersion++;
  }

  /** Chooses where data comes from, as the status has it. */
  #source(): void {
    this.#live?.close();
    this.#live = undefined;
    if (this.contact === 'live') this.contact = 'asking';
    const { status } = this;
    if (status?.ready !== true || this.keyFault !== undefined) {
      this.source = undefined;
      return;
    }
    const { api } = status;
    if (api?.ready !== true) {
      this.source = new CoreSource(this.client);
      return;
    }
    this.source = new EsploraSource(this.client, api.path);
    // Browsers cannot send a key with a WebSocket.
    if (status.needsKey) return;
    this.#live = new Live(`${api.path}/v1/ws`, {
      block: (block) => {
        if (block.previous === this.tip?.hash) this.blocks = [block, ...this.blocks].slice(0, MOST_BLOCKS);
        else if (block.hash !== this.tip?.hash) this.askAgain();
        this.chainVersion++;
        this.#say();
      },
      blocks: (blocks) => {
        const isNew = blocks.at(-1)?.hash !== this.tip?.hash;
        this.blocks = [...blocks].reverse();
        if (isNew) this.chainVersion++;
        this.#say();
      },
      pool: (fees) => {
        this.fees = fees;
        this.poolVersion++;
        this.#say();
      },
      tracked: (replaced) => {
        if (replaced !== undefined) this.replacements.set(replaced.txid, replaced.by);
        this.trackedVersion++;
        this.#say();
      },
      placed: (txid, place) => {
        this.placed = { txid, place };
        this.#say();
      },
      connected: (isConnected) => {
        this.placed = undefined;
        // Without it changes are asked for: whether the node answers at all is seen then. What is between may let no WebSocket through.
        this.contact = isConnected ? 'live' : this.contact === 'lost' ? 'lost' : 'asking';
        // What has happened before the connection was there, nobody tells.
        if (isConnected) this.trackedVersion++;
        else this.askNow();
        this.#say();
      }
    });
  }

  /** A block came that does not fit: the blocks are asked for. */
  askAgain(): void {
    void this.source?.blocks().then(
      (blocks) => {
        this.blocks = blocks;
        this.chainVersion++;
        this.#say();
      },
      () => undefined
    );
  }

  #say(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** The session, in a component that is drawn again whenever it changes. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('expected to be within a session');
  const [, draw] = useState(0);
  useEffect(
    () =>
      session.follow(() => {
        draw((n) => n + 1);
      }),
    [session]
  );
  return session;
}

/** As `useSession`, where there is a source. */
export function useSource(): Source {
  const { source } = useSession();
  if (source === undefined) throw new Error('expected an open session');
  return source;
}

/** Has the node say what happens to it while the component is shown. Gives a text that changes whenever that may have happened. */
export function useTracked(tracked: Tracked): string {
  const session = useSession();
  useEffect(() => {
    if (tracked === undefined) return;
    session.track(tracked);
    return () => {
      session.track(undefined);
    };
  }, [tracked?.kind, tracked?.text, session.contact === 'live']);
  return `${session.chainVersion}/${session.trackedVersion}`;
}

/** Whether there are pages of scripts; the component is not drawn again when that changes, as its page is. */
export const useHasScripts = (): boolean => useContext(SessionContext)?.source?.scripts !== undefined;
