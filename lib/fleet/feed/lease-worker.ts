// A thread that waits for the lease and renews it: bcoin holds up the main thread for seconds while it validates a block.

import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../system/error-text';
import { connectToNats } from '../log/connection';
import { subjectsOf } from '../log/subjects';
import { takeLease } from './lease';
import type { LeaseRequest, LeaseWord } from './lease-thread';

const { access, chain, name, ms, pulse } = workerData as LeaseRequest;

/** Without a sign of life from the main thread for this long the lease is given up. */
const MOST_SILENCE_MS = 30_000;

const end = new AbortController();
const beats = new Int32Array(pulse);
let heard = { beat: -1, at: 0 };

function isAlive(): boolean {
  const beat = Atomics.load(beats, 0);
  if (beat !== heard.beat) heard = { beat, at: performance.now() };
  return performance.now() - heard.at < MOST_SILENCE_MS;
}

function tell(word: LeaseWord): void {
  parentPort?.postMessage(word);
}

async function hold(): Promise<void> {
  const bus = await connectToNats(access, `bcoin-rest lease ${name}`);
  try {
    const lease = await takeLease(bus, subjectsOf(chain), { name, ms, isAlive }, end.signal);
    tell({ type: 'taken', number: lease.number });
    await new Promise<void>((resolve) => {
      lease.lost.addEventListener('abort', () => resolve());
      end.signal.addEventListener('abort', () => resolve());
      if (lease.lost.aborted || end.signal.aborted) resolve();
    });
    await lease.release();
  } finally {
    await bus.connection.close();
  }
}

parentPort?.once('message', () => end.abort());
hold()
  .then(() => tell({ type: 'over' }))
  .catch((error: unknown) => tell({ type: 'failed', name: (error as Error).name, message: messageOf(error) }))
  .finally(() => parentPort?.close());
