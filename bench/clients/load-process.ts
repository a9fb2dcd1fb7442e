// A process that does nothing but ask: takes orders from its parent, drives a server with
// autocannon and says how long the replies took.

import autocannon from 'autocannon';
import type { LoadOrder, LoadResult } from './load';

process.on('message', (order: LoadOrder) => {
  run(order).then((result) => process.send?.(result), (error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

process.on('disconnect', () => process.exit());

/** The part of autocannon's client that puts bodies together. */
interface BodyCollector {
  readonly pipelinedRequests: { addBody: (part: Buffer) => void };
}

/** It would decode them as UTF-8 text, which takes 25 ms for 160 kB of anything else: the server would wait for its client. */
function dropBodies(client: unknown): void {
  (client as BodyCollector).pipelinedRequests.addBody = () => undefined;
}

async function run({ port, paths, connections, amount, seconds }: LoadOrder): Promise<LoadResult> {
  const times: number[] = [];
  let refused = 0;
  let connection = 0;
  const requests = paths.map((path): autocannon.Request => ({ method: 'GET', path }));
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const load = autocannon({
      url: `http://127.0.0.1:${port}`,
      connections,
      ...amount === undefined ? { duration: seconds ?? 1 } : { amount: Math.max(amount, connections) },
      timeout: 60,
      setupClient: (client) => {
        dropBodies(client);
        // Each from another one on: in step they would all ask for the same.
        const from = Math.floor(connection++ * requests.length / connections);
        client.setRequests([...requests.slice(from), ...requests.slice(0, from)]);
      },
      requests
    }, (error: Error | null, done) => {
      if (error === null) resolve(done);
      else reject(error);
    });
    // Its own histogram counts whole milliseconds.
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
    failed: result.errors + result.timeouts,
    seconds: result.duration,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1)
  };
}
