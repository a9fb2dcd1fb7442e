// The memory that sessions and their subscriptions take.

import { setTimeout as pause } from 'node:timers/promises';
import { ownMemory } from '../measure/process-load';
import { LineProcess } from './line-client';
import { OwnServer } from './own-server';
import { SUBSCRIPTIONS, USED } from './rows';
import { hashesOf, hashOf, SCRIPTS } from './wallet-scripts';
import type { LineServer } from './server';

export const SESSIONS = 2_000;
const SETTLING_MS = 3_000;

export interface SessionMemory {
  readonly name: string;
  /** Anonymous resident memory of the process without sessions, in bytes. */
  readonly ownBytes: number;
  /** The same with all of them. */
  readonly fullBytes: number;
  readonly bytesPerSession: number;
  readonly bytesPerSubscription: number;
  /** Bytes of JavaScript's heap and buffers without garbage; undefined: not a server of ours. */
  readonly held: { readonly bytesPerSession: number; readonly bytesPerSubscription: number } | undefined;
}

/**
 * Starts the server anew. What counts is what the second half of the sessions adds to the first, so that memory for the work itself is not
 * in it.
 */
export async function sessionMemory(server: LineServer): Promise<SessionMemory> {
  await server.restart();
  const { own: ownBytes } = await weigh(server);
  const empty = await added(server, Array<never[]>(SESSIONS).fill([]));
  const full = await added(server, subscriptions());
  const ofSubscription = (ofFull: number, ofEmpty: number): number => (ofFull - ofEmpty) / SUBSCRIPTIONS;
  return {
    name: server.name,
    ownBytes,
    fullBytes: full.fullBytes,
    bytesPerSession: empty.own,
    bytesPerSubscription: ofSubscription(full.own, empty.own),
    held:
      empty.held === undefined || full.held === undefined
        ? undefined
        : { bytesPerSession: empty.held, bytesPerSubscription: ofSubscription(full.held, empty.held) }
  };
}

/** Of each session: some scripts that were paid once, and others that nobody has paid. */
function subscriptions(): string[][] {
  const used = hashesOf(SCRIPTS.one);
  return Array.from({ length: SESSIONS }, (_, session) => {
    const unused = Array.from({ length: SUBSCRIPTIONS - USED }, (__, i) => hashOf(`watched ${session} ${i}`));
    return [...used.slice(session * USED, (session + 1) * USED), ...unused];
  });
}

interface Weight {
  /** Anonymous resident memory. */
  readonly own: number;
  readonly held: number | undefined;
}

/** Opens sessions in two halves and closes them. Bytes for each session of the second half, and for all of the process with both. */
async function added(server: LineServer, scripts: readonly string[][]): Promise<Weight & { readonly fullBytes: number }> {
  const half = SESSIONS / 2;
  const holding = new LineProcess();
  try {
    const open = async (from: number): Promise<Weight> => {
      await holding.run({ type: 'hold', port: server.linePort, scripts: scripts.slice(from, from + half) });
      return weigh(server);
    };
    const [first, second] = [await open(0), await open(half)];
    return {
      own: (second.own - first.own) / half,
      held: first.held === undefined || second.held === undefined ? undefined : (second.held - first.held) / half,
      fullBytes: second.own
    };
  } finally {
    holding.close();
    await pause(SETTLING_MS);
  }
}

async function weigh(server: LineServer): Promise<Weight> {
  await pause(SETTLING_MS);
  const held = server instanceof OwnServer ? (await server.watch(() => Promise.resolve())).loop.heldBytes : undefined;
  return { own: ownMemory(server.pid), held };
}
