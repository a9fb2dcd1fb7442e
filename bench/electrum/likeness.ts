// Whether servers give the same answers.

import { strict as assert } from 'node:assert';
import type { AskProcess } from './ask-client';
import type { CostPeer } from './cost-peer';
import type { Row } from './rows';

/** Number of requests of a row that are compared. */
const COMPARED = 3;

interface Reply {
  readonly id: unknown;
  readonly result: unknown;
}

/** Asks all servers again for some of what they were asked. @throws AssertionError when answers differ */
export async function checkAlike({ name, way, requests }: Row, peers: readonly CostPeer[], client: AskProcess): Promise<void> {
  let first: { readonly peer: string; readonly answers: readonly unknown[] } | undefined;
  for (const peer of peers) {
    const port = peer.port(way);
    if (port === undefined || peer.isBare) continue;
    const amount = Math.min(COMPARED, requests.length);
    const { replies } = await client.ask({ port, way, requests, amount, connections: 1, outstanding: 1, isShown: true });
    const answers = replies.map((text) => resultOf(JSON.parse(text)));
    first ??= { peer: peer.name, answers };
    assert.deepEqual(answers, first.answers, `${name}: expected ${peer.name} to answer like ${first.peer}`);
  }
}

/** What does not depend on the server: batches may be answered in any order. */
function resultOf(reply: unknown): unknown {
  const isReply = (value: unknown): value is Reply => typeof value === 'object' && value !== null && 'id' in value && 'result' in value;
  if (isReply(reply)) return reply.result;
  if (!Array.isArray(reply) || !reply.every(isReply)) return reply;
  return reply.toSorted((a, b) => Number(a.id) - Number(b.id)).map(({ result }) => result);
}
