// The rehearsal: before its first client is answered, the process asks itself what clients ask most, over connections of its own, until V8
// has compiled what runs for it. Without it the first thousand requests cost several times as much as later ones. What is asked about is
// taken from the chain, and answered as for clients.

import { once, setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { filter, firstValueFrom, fromEvent, merge, take, takeUntil, timer, type Observable, type Subscription } from 'rxjs';
import { HistoryTooLongError } from '../scripts/errors';
import { connectionEvent } from '../server/http/connections';
import { detailsOf } from '../system/error-text';
import { askAll, BODIES, LINES, type Asked, type RepliesOf } from './asking';
import { OwnConnections, type Service } from './own-connections';
import { ELECTRUM_CLIENTS, esploraQuestions, REST_QUESTIONS, type ClientKind } from './questions';
import { busyBlocks, subjectsIn, type IsWanted, type Subject } from './subjects';
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import type { IndexReader } from '../index/types';
import type { BlockPoint } from '../node/types/chain';
import type { NodeSource } from '../node/types/source';
import type { ScriptReader, ScriptSnapshot, ScriptsState } from '../scripts/types';
import type { ServerLogger } from '../server/logger';
import type { Gate } from '../server/work/gate';

/** How long questions are asked over all protocols, and how long it waits for the last answers, at most. */
const MOST_MS = 2_500;
const LAST_MS = 500;

/** Memory outside V8's heap for which it collects garbage, and how long that takes on a busy machine. */
const MUCH_BYTES = 64 * 1_024 * 1_024;
const COLLECTING_MS = 100;

/** How much is asked over each protocol: less than a client may ask before it is slowed down, for which V8 would drop what it has compiled. */
const MOST_QUESTIONS = 42_000;

/** How often all clients of a protocol leave and others come: V8 drops what it has compiled when that meets the end of a connection for the first time. */
const GENERATIONS = 6;

/** The most transactions of a script that is asked about, of all but a few. */
const MOST_ROWS = 12;

/** Of the scripts that have more, one in this many is looked into, */
const EACH_OTHER = 16;
/** this many in all, */
const MOST_LONG = 64;
/** and asked about if it has no more transactions than this. */
const MOST_ROWS_OF_LONG = 2_000;

/** How long it waits for the index by script. One that is being filled takes hours. */
const PATIENCE_MS = 2_000;

/** Between two looks whether a reader of a fleet knows the chain of the fleet. */
const LOOK_MS = 50;

/** An address of nobody (RFC 5737), from which one session in eight seems to come: clients of other machines are charged. */
const ELSEWHERE = '192.0.2.1';
const ELSEWHERE_EVERY = 8;

/** The interfaces that need the index by script. */
export interface WalletInterfaces {
  readonly scripts: { readonly state$: Observable<ScriptsState>; readonly reader: ScriptReader };
  /** The path of Esplora's API. */
  readonly path: string;
  /** Begins a session of the Electrum protocol. */
  readonly accept: (socket: Socket, address?: string) => void;
}

/** What ends the questions. */
export interface RehearsalLimits {
  /** How long they are asked; `MOST_MS` unless given. */
  readonly mostMs?: number;
  /** How many are asked over each protocol; `MOST_QUESTIONS` unless given. */
  readonly mostQuestions?: number;
}

export interface RehearsalParts extends RehearsalLimits {
  readonly node: Pick<NodeSource, 'rawBlock'>;
  readonly reader: IndexReader;
  readonly gate: Pick<Gate, 'open$' | 'isOpen' | 'endRehearsal'>;
  /** `own`: connections that are answered before clients are. `needsKey`: nothing is asked, since requests need a key. */
  readonly http: { readonly server: HttpServer; readonly own: WeakSet<Socket>; readonly needsKey: boolean };
  /** Undefined without an index by script. */
  readonly wallets: WalletInterfaces | undefined;
  readonly logger: ServerLogger;
}

export class Rehearsal {
  readonly #parts: RehearsalParts;
  readonly #closing = new AbortController();
  #following: Subscription | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RehearsalParts) {
    this.#parts = parts;
  }

  /** Begins when the gate opens for the first time. For a small chain it is over at once. */
  open(): void {
    this.#following = this.#parts.gate.open$.pipe(filter(Boolean), take(1)).subscribe(() => {
      this.#running = this.#run();
    });
  }

  /** Ends it early; clients are not answered any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#following?.unsubscribe();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { reader, gate, http, wallets, logger } = this.#parts;
    const { signal } = this.#closing;
    const asksNothing = http.needsKey && wallets === undefined;
    try {
      // A reader of a fleet that starts again is at the end of the chain that it had before it knows that of the fleet.
      while (!gate.isOpen) await setTimeout(LOOK_MS, undefined, { signal });
      const blocks = asksNothing ? undefined : await busyBlocks(reader);
      if (blocks !== undefined) await this.#rehearse(blocks);
    } catch (error) {
      if (!signal.aborted) logger.error(`The rehearsal failed: ${detailsOf(error)}`);
    }
    if (!signal.aborted) gate.endRehearsal();
  }

  async #rehearse(blocks: readonly BlockPoint[]): Promise<void> {
    const { node, http, mostMs = MOST_MS, mostQuestions = MOST_QUESTIONS } = this.#parts;
    const closing = this.#closing.signal;
    const wallets = await this.#liveWallets();
    const subjects = await subjectsIn(blocks, node, wallets ? hasWantedHistory(wallets.scripts.reader) : () => true);
    if (!http.server.listening) await once(http.server, 'listening', { signal: closing });
    closing.throwIfAborted();
    // Wallets ask for the newest transactions most.
    await wallets?.scripts.reader.read((snapshot) => snapshot.readNewestTxids());
    const signal = AbortSignal.any([closing, AbortSignal.timeout(mostMs + LAST_MS)]);
    setMaxListeners(0, signal);
    const opened: OwnConnections[] = [];
    const add = async (service: Service, kinds: readonly ClientKind[], repliesOf: RepliesOf): Promise<Asked> => {
      const connections = await OwnConnections.open(service, signal);
      opened.push(connections);
      return { connections, kinds, repliesOf };
    };
    try {
      const asked: Asked[] = [];
      const overHttp = [...REST_QUESTIONS, ...(wallets ? esploraQuestions(wallets.path) : [])];
      if (wallets) asked.push(await add({ serve: acceptedBy(wallets.accept), allowHalfOpen: false }, ELECTRUM_CLIENTS, LINES));
      if (!http.needsKey)
        asked.push(await add({ serve: this.#serveHttp, allowHalfOpen: true }, [{ questions: overHttp, together: 1 }], BODIES));
      await askInTurns(asked, subjects, { mostMs, mostQuestions }, signal);
    } finally {
      for (const connections of opened) connections.close();
    }
    await collectGarbage(closing);
  }

  /** Undefined if the index by script is not at the tip and does not get there in time. */
  async #liveWallets(): Promise<WalletInterfaces | undefined> {
    const { wallets } = this.#parts;
    if (wallets === undefined) return undefined;
    const live$ = wallets.scripts.state$.pipe(filter(({ phase }) => phase === 'live'));
    const over$ = merge(timer(PATIENCE_MS), fromEvent(this.#closing.signal, 'abort'));
    return (await firstValueFrom(live$.pipe(takeUntil(over$)), { defaultValue: undefined })) && wallets;
  }

  readonly #serveHttp = (socket: Socket): void => {
    const { server, own } = this.#parts.http;
    own.add(socket);
    server.emit(connectionEvent(server), socket);
  };
}

/**
 * Not side by side, because a question over HTTP takes much longer: the Electrum protocol would hardly get its turn. Nor one protocol after the
 * other: the second would have V8 drop what the first has compiled of what they share.
 */
async function askInTurns(
  asked: readonly Asked[],
  subjects: readonly Subject[],
  { mostMs, mostQuestions }: Required<RehearsalLimits>,
  signal: AbortSignal
): Promise<void> {
  const end = performance.now() + mostMs;
  const share = Math.ceil(mostQuestions / GENERATIONS);
  const turns = Array.from({ length: GENERATIONS }, (_, generation) => asked.map((one) => ({ one, from: generation * share }))).flat();
  for (const [i, { one, from }] of turns.entries()) {
    if (signal.aborted) return;
    const now = performance.now();
    await askAll(one, subjects, { from, to: from + share, end: now + (end - now) / (turns.length - i) });
  }
}

/**
 * Has V8 collect what the rehearsal has left, which it would do during the first clients' requests: so much memory outside its heap makes it
 * begin. Since nobody touches the memory, the system does not give any.
 */
async function collectGarbage(signal: AbortSignal): Promise<void> {
  Buffer.allocUnsafeSlow(MUCH_BYTES);
  await setTimeout(COLLECTING_MS, undefined, { signal });
}

/** A long history takes as much time as many short ones, so only a few of them are asked about. */
function hasWantedHistory(reader: ScriptReader): IsWanted {
  let others = 0;
  const isLookedInto = (): boolean => others++ % EACH_OTHER === 0 && others <= EACH_OTHER * MOST_LONG;
  return (script) =>
    reader.read((snapshot) => {
      const isShort = snapshot.isShort(script, MOST_ROWS);
      if (isShort === undefined) return hasAtMost(MOST_ROWS, script, snapshot);
      return isShort || (isLookedInto() && hasAtMost(MOST_ROWS_OF_LONG, script, snapshot));
    });
}

async function hasAtMost(rows: number, script: Buffer, snapshot: ScriptSnapshot): Promise<boolean> {
  try {
    await snapshot.totals(script, rows);
    return true;
  } catch (error) {
    if (error instanceof HistoryTooLongError) return false;
    throw error;
  }
}

/** Some of the clients seem to be of other machines: they are charged. */
function acceptedBy(accept: WalletInterfaces['accept']): (socket: Socket) => void {
  let count = 0;
  return (socket) => {
    accept(socket, count++ % ELSEWHERE_EVERY === 0 ? ELSEWHERE : undefined);
  };
}
