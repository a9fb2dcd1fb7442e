// Names of the fleet's stream, bucket and subjects on a network. `chain`: main, test, regtest or simnet.

import type { RecordBody } from '../messages/records';

export interface Subjects {
  /** Name of the log's stream. */
  readonly stream: string;
  /** Bucket of the lease. */
  readonly lease: string;
  /** All subjects of the log. */
  readonly log: string;
  /** Of the records of one kind. The last one of `chain` says where the chain is. */
  readonly record: Readonly<Record<RecordKind, string>>;
  /** Where any node answers a question. */
  node(question: string): string;
  /** Where the leading node answers a question. */
  leader(question: string): string;
  /** Where a reader tells its state. */
  reader(id: string): string;
  /** The states of all readers. */
  readonly readers: string;
}

export type RecordKind = 'block' | 'chain' | 'pool' | 'beat';

/** Of those who answer at `node`. */
export const NODES_QUEUE = 'nodes';

/** `chain`: main, test, regtest or simnet. */
export function subjectsOf(chain: string): Subjects {
  const root = `rest.${chain}`;
  return {
    stream: `REST_LOG_${chain}`,
    lease: `REST_LEASE_${chain}`,
    log: `${root}.log.*`,
    record: { block: `${root}.log.block`, chain: `${root}.log.chain`, pool: `${root}.log.pool`, beat: `${root}.log.beat` },
    node: (question) => `${root}.node.${question}`,
    leader: (question) => `${root}.leader.${question}`,
    reader: (id) => `${root}.reader.${id}`,
    readers: `${root}.reader.*`
  };
}

const KINDS: Readonly<Record<RecordBody['type'], RecordKind>> = {
  block: 'block',
  connect: 'chain',
  disconnect: 'chain',
  reset: 'chain',
  add: 'pool',
  remove: 'pool',
  change: 'pool',
  clear: 'pool',
  beat: 'beat'
};

/** By the kind of a record, the subject under which it stands. */
export function kindOf({ type }: RecordBody): RecordKind {
  return KINDS[type];
}
