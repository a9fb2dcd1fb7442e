// A process that only sends requests: takes orders from its parent, drives a server with
// autocannon and reports how long the replies took.

import autocannon from 'autocannon';
import type { LoadOrder, LoadResult } from './load';

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    }
  );
});

process.on('disconnect', () => process.exit());

const TIMEOUT_SECONDS = 60;
/** Interval of its checks whether it is done. */
const LOOK_MS = 100;

/** The part of autocannon's client that assembles bodies. */
interface BodyCollector {
  readonly pipelinedRequests: { addBody: (part: Buffer) => void };
}

/** Without this, bodies are decoded as UTF-8, which takes 25 ms for 160 kB of other bytes: the server would wait for its client. */
function dropBodies(client: unknown): void {
  (client as BodyCollector).pipelinedRequests.addBody = () => undefined;
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const { port, connections } = order;
  const times: number[] = [];
  let refused = 0;
  let connection = 0;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const load = autocannon(
      {
        url: `http://127.0.0.1:${port}`,
        connections,
        ...lengthOf(order),
        timeout: TIMEOUT_SECONDS,
        sampleInt: LOOK_MS,
        // A server that fails to answer once is not asked again.
        bailout: 1,
        setupClient: (client) => {
          dropBodies(client);
          client.setRequests(pathsOf(order, connection++).map((path): autocannon.Request => ({ method: 'GET', path })));
        }
      },
      (error: Error | null, done) => {
        if (error === null) resolve(done);
        else reject(error);
      }
    );
    // Measured here, since autocannon's own histogram counts whole milliseconds.
    load.on('response', (_, status, __, milliseconds) => {
      if (status === 200) times.push(milliseconds);
      else refused++;
    });
  });
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.max(0, Math.ceil(share * times.length) - 1)] ?? 0;
  return {
    answered: times.length,
    refused,
    failed: result.errors,
    timedOut: result.timeouts,
    seconds: result.duration,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1)
  };
}

function lengthOf({ paths, connections, limit }: LoadOrder): { readonly amount: number } | { readonly duration: number } {
  if (limit === 'each path once') return { amount: paths.length };
  return 'amount' in limit ? { amount: Math.max(limit.amount, connections) } : { duration: limit.seconds };
}

/** The requests of a connection, in order. */
function pathsOf({ paths, connections, limit }: LoadOrder, connection: number): readonly string[] {
  if (limit === 'each path once') return paths.filter((_, i) => i % connections === connection);
  // Each connection begins at a different path: otherwise all would ask for the same one at the same time.
  const from = Math.floor((connection * paths.length) / connections);
  return [...paths.slice(from), ...paths.slice(0, from)];
}
