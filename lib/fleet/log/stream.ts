// The stream that holds the log: made by the first node that feeds, checked by everybody.

import { toDisplayHex } from '../../bitcoin/hash';
import { MOST_RECORD_BYTES, RECORD_VERSION } from '../messages/record-codec';
import { ForeignLogError, LogGoneError, NatsAwayError, NatsRefusedError } from './errors';
import { isNotPermitted, loadNats, wordsOf } from './nats';
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { NatsBus } from './connection';
import type { Subjects } from './subjects';

/** Bytes that the log may have: 2,016 large blocks and the pool of three weeks. Smaller where the servers have less room. */
const SIZES_GIB = [16, 8, 4, 2, 1] as const;
const GIB = 0x4000_0000;

/** Copies of each record where servers form a cluster. */
const REPLICAS = 3;

const MARK = 'bcoin-rest log';

/** Errors of JetStream's API (server/errors.json). */
const [NO_ROOM, NO_ROOM_IN_CLUSTER, NAME_IN_USE] = [10_047, 10_005, 10_058] as const;

/**
 * The log's stream; undefined: there is none.
 * @throws ForeignLogError for one of another network or of a newer version; NatsAwayError, NatsRefusedError
 */
export async function findStream({ manager }: NatsBus, subjects: Subjects, genesisHash: Buffer): Promise<StreamInfo | undefined> {
  const { jetstream } = await loadNats();
  try {
    const info = await manager.streams.info(subjects.stream);
    checkConfig(info.config, subjects, genesisHash);
    return info;
  } catch (error) {
    if (error instanceof ForeignLogError) throw error;
    if (error instanceof jetstream.JetStreamApiError && error.code === jetstream.JetStreamApiCodes.StreamNotFound) return undefined;
    throw await natsError('the log', error);
  }
}

/** Makes the stream, or finds the one that another node has made meanwhile. @throws as `findStream` */
export async function makeStream(bus: NatsBus, subjects: Subjects, genesisHash: Buffer): Promise<StreamInfo> {
  const { jetstream } = await loadNats();
  for (const size of SIZES_GIB) {
    try {
      return await bus.manager.streams.add({
        name: subjects.stream,
        description: `${MARK} ${RECORD_VERSION} ${toDisplayHex(genesisHash)}`,
        subjects: [subjects.log],
        num_replicas: replicasFor(bus),
        max_bytes: size * GIB,
        max_msg_size: MOST_RECORD_BYTES,
        discard: jetstream.DiscardPolicy.Old,
        retention: jetstream.RetentionPolicy.Limits,
        storage: jetstream.StorageType.File,
        deny_delete: true,
        deny_purge: true
      });
    } catch (error) {
      const code = error instanceof jetstream.JetStreamApiError ? error.code : undefined;
      const isFull = code === NO_ROOM || (code === NO_ROOM_IN_CLUSTER && size > 1);
      if (code === NAME_IN_USE) break;
      if (code === NO_ROOM_IN_CLUSTER && !isFull)
        throw new NatsAwayError('fewer than three servers of NATS have room for the log', { cause: error });
      if (!isFull) throw await natsError('the log cannot be made', error);
    }
  }
  const found = await findStream(bus, subjects, genesisHash);
  if (found === undefined) throw new NatsRefusedError(`the servers of NATS have no room for a log of ${SIZES_GIB.at(-1) ?? 0} GiB`);
  return found;
}

/** Three where the servers form a cluster, or else one. */
export function replicasFor({ connection }: NatsBus): number {
  return connection.info?.cluster === undefined ? 1 : REPLICAS;
}

/** What an error of the client or of the servers means. */
export async function natsError(what: string, error: unknown): Promise<Error> {
  const nats = await loadNats();
  const { jetstream } = nats;
  const message = `${what}: ${wordsOf(error)}`;
  if (isNotPermitted(nats, error)) return new NatsRefusedError(message, { cause: error });
  if (!(error instanceof jetstream.JetStreamApiError)) return new NatsAwayError(message, { cause: error });
  if (error.code === jetstream.JetStreamApiCodes.StreamNotFound) return new LogGoneError(message, { cause: error });
  // 5xx: for the moment the servers cannot.
  return error.status >= 500 ? new NatsAwayError(message, { cause: error }) : new NatsRefusedError(message, { cause: error });
}

function checkConfig({ description = '', subjects: taken }: StreamConfig, { stream, log }: Subjects, genesisHash: Buffer): void {
  const [, version, genesis] = new RegExp(`^${MARK} (\\d+) ([0-9a-f]{64})$`).exec(description) ?? [];
  if (version === undefined || taken.length !== 1 || taken[0] !== log) {
    throw new ForeignLogError(`the stream ${stream} was not made by bcoin-rest: delete it, or use another account of NATS`);
  }
  if (Number(version) > RECORD_VERSION) {
    throw new ForeignLogError(
      `the log ${stream} is of version ${version}, and this release of bcoin-rest knows up to ${RECORD_VERSION}: update it`
    );
  }
  if (genesis !== toDisplayHex(genesisHash)) {
    throw new ForeignLogError(`the log ${stream} is of another network, whose first block is ${genesis ?? ''}`);
  }
}
