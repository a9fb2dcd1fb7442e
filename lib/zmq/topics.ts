// What can be subscribed to, by Bitcoin Core's names.

/** In the order in which Bitcoin Core lists them, and publishes what has happened at once. */
export const TOPICS = ['hashblock', 'hashtx', 'rawblock', 'rawtx', 'sequence'] as const;

export type Topic = (typeof TOPICS)[number];

/** Where a topic is published. */
export interface ZmqNotifier {
  readonly topic: Topic;
  /** As ZeroMQ writes it: `tcp://host:port`, `ipc://path`. */
  readonly address: string;
  /** How many messages wait for one subscriber; further ones are dropped. 0: no limit. */
  readonly hwm: number;
}

/** As Bitcoin Core writes them: `unix:` stands for `ipc://`. undefined: no address. */
export function parseAddress(text: string): string | undefined {
  const [, host, digits] = /^tcp:\/\/(\[[\da-fA-F:.]+\]|[\w.*-]+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== undefined) return Number(digits) >= 1 && Number(digits) <= MOST_PORT ? text : undefined;
  const [, path] = /^(?:ipc:\/\/|unix:)(.+)$/s.exec(text) ?? [];
  return path === undefined ? undefined : `ipc://${path}`;
}

const MOST_PORT = 65_535;
