// Who is connected, what clients are told without asking, and why some are cut off.

import { counter, gauge, histogram, labelled, type AnyFamily } from './family';
import type { BlockTimes } from './block-times';
import type { Observed } from './observed';

export function clientFamilies({ serving, wallets }: Observed, blockTimes: BlockTimes): AnyFamily[] {
  const { connections, responses, unfinished } = serving;
  return [
    gauge('connections', 'Connections over which HTTP is spoken.', () => [[connections.size]]),
    counter('clients_cut_off_total', 'Clients that were cut off or turned away, by reason.', () =>
      labelled('reason', {
        slow_reader: responses.slowReaders.cutOff,
        memory: unfinished.cutOff,
        stalled_body: unfinished.stalled,
        connection_room: connections.madeRoom,
        connections_full: connections.refused,
        handshake_room: connections.cutOffHandshakes + (wallets?.electrum.cutOffHandshakes ?? 0),
        ...(wallets && {
          sessions_full: wallets.sessions.refused,
          ...Object.fromEntries(Object.entries(wallets.sessions.cutOff).map(([reason, count]) => [`session_${reason}`, count]))
        })
      })
    ),
    ...(wallets === undefined
      ? []
      : [
          gauge('sessions', 'Clients of the Electrum protocol and of WebSockets.', () => [[wallets.sessions.count]]),
          gauge(
            'subscriptions',
            'What clients have subscribed to: tips, scripts and outpoints by all of their subscribers, and what WebSockets track.',
            () => labelled('to', { tips: wallets.tips.size, scripts: wallets.subscriptions.count, tracked: wallets.push.tracked })
          ),
          counter('notifications_total', 'Notifications of clients.', () => [[responses.notifications]]),
          histogram(
            'block_notified_seconds',
            'From the moment in which the node connects a block until the last client was notified of it. ' +
              'What WebSockets are told of the pool then is not counted.',
            () => [[blockTimes.notified, {}]]
          )
        ])
  ];
}
