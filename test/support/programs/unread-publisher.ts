// A process that publishes over ZeroMQ to a subscriber that never reads, and reports how many bytes of messages it still holds then.
//
//   unread-publisher.ts <port> <high-water mark> <messages> <bytes of each>

import { setTimeout } from 'node:timers/promises';
import { Subscriber } from 'zeromq';
import { Sockets } from '../../../lib/zmq/sockets';
import { collectGarbage } from '../process/garbage';

/** A publisher does not say when it has a subscription. */
const SUBSCRIBED_MS = 300;

const [TURNS, TURN_MS] = [10, 25];

async function main(): Promise<void> {
  const [port = 0, hwm = 0, count = 0, length = 0] = process.argv.slice(2).map(Number);
  const sockets = new Sockets();
  const address = `tcp://127.0.0.1:${port}`;
  await sockets.open([{ topic: 'rawtx', address, hwm }]);
  const silent = new Subscriber({ linger: 0, receiveHighWaterMark: 1 });
  silent.subscribe('');
  silent.connect(address);
  await setTimeout(SUBSCRIBED_MS);
  const before = held();
  for (let i = 0; i < count; i++) await sockets.send('rawtx', Buffer.alloc(length, i));
  // What was dropped is let go some turns later.
  let least = Infinity;
  for (let turn = 0; turn < TURNS; turn++) {
    await setTimeout(TURN_MS);
    least = Math.min(least, held() - before);
  }
  // Not closed: libzmq 4.3.5 aborts if a subscriber goes with half a message while its publisher closes.
  process.send?.(least, () => process.kill(process.pid, 'SIGKILL'));
}

function held(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
