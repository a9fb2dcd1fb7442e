// What is answered: requests, the work queue, and bytes on their way to clients.

import { counter, gauge, histogram, labelled, type AnyFamily, type Labels } from './family';
import type { Durations } from '../server/figures/durations';
import type { Observed } from './observed';

const LANES = ['small', 'heavy'] as const;

export function requestFamilies({ times, serving: { queue, responses, unfinished } }: Observed): AnyFamily[] {
  return [
    histogram(
      'request_duration_seconds',
      'Requests by interface, route or method, and outcome: a status class of HTTP, or whether a call had a result. ' +
        'Calls and methods without the time in which they waited.',
      function* (): Generator<readonly [Durations, Labels]> {
        for (const [name, requests] of times)
          for (const { route, outcome, seconds } of requests) yield [seconds, { interface: name, route, outcome }];
      }
    ),
    gauge('queue_running', 'Requests that are being processed, by lane of the work queue.', () =>
      LANES.map((lane) => [queue.load(lane).running, { lane }] as const)
    ),
    gauge('queue_waiting', 'Requests that wait for a place, by lane of the work queue.', () =>
      LANES.map((lane) => [queue.load(lane).waiting, { lane }] as const)
    ),
    histogram('queue_wait_seconds', 'How long requests have waited for a place that did not get one at once, by lane.', () =>
      LANES.map((lane) => [queue.waits[lane], { lane }] as const)
    ),
    counter('queue_refused_total', 'Requests that were refused because too many waited.', () => [[queue.refused]]),
    counter('sent_bytes_total', 'Bytes of replies: over HTTP, and to clients whose connections stay open (Electrum, WebSocket).', () =>
      labelled('to', { http: responses.sentBytes, sessions: responses.othersSentBytes })
    ),
    gauge('unread_reply_bytes', 'Memory behind replies that clients have yet to read.', () => [[responses.unreadBytes]]),
    gauge('unread_reply_clients', 'Clients that have replies to read.', () => [[responses.slowReaders.size]]),
    gauge('unfinished_request_bytes', 'Memory for requests that have not come whole, or wait.', () => [[unfinished.bytes]])
  ];
}
