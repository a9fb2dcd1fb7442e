// A fleet, as a node that feeds it and a reader see it. Other processes have none of these.

import { counter, gauge, labelled, type AnyFamily } from './family';
import type { Observed } from './observed';

export function fleetFamilies({ serving: { node }, feed }: Observed): AnyFamily[] {
  if (feed === undefined && node.figures === undefined) return [];
  const ofReader = <T>(read: (figures: NonNullable<typeof node.figures>) => T | undefined): T | undefined =>
    node.figures === undefined ? undefined : read(node.figures);
  return [
    gauge('fleet_leading', 'Whether this node writes the log of the fleet.', () => one(feed && Number(feed.figures.leads))),
    gauge('fleet_term', 'The term of the node that leads, as far as this process knows it; it rises when another node takes over.', () =>
      one(feed?.figures.term ?? ofReader(({ term }) => term))
    ),
    counter('fleet_records_total', 'Records of the log that this process has written, and those that it has taken in.', () =>
      labelled('way', { written: feed?.figures.written, read: ofReader(({ read }) => read) })
    ),
    gauge('fleet_lag_records', 'Records of the log behind the last one that this reader has read.', () =>
      one(ofReader(({ pending }) => pending))
    ),
    gauge('fleet_beat_age_seconds', 'Since this reader has heard of the node that leads, which says something each second.', () =>
      one(ofReader(({ beatAgeMs }) => (beatAgeMs === undefined ? undefined : beatAgeMs / 1_000)))
    ),
    counter('fleet_connections_total', 'How often a connection to NATS was made, or has come back.', () =>
      one(feed?.figures.connections ?? ofReader(({ connections }) => connections))
    ),
    counter(
      'fleet_questions_total',
      'Questions that this reader has asked nodes, by kind: block, part and undo are for blocks that it does not have.',
      () => labelled('question', ofReader(({ asked }) => asked) ?? {})
    )
  ];
}

const one = (value: number | undefined): [number][] => (value === undefined ? [] : [[value]]);
