// The lease of leading: a key that expires unless its holder renews it. It keeps nodes from trying to write at the same time. The fence
// of the log (log-writer.ts) makes sure that only one can, whatever any clock says.

import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { loadNats } from '../log/nats';
import { natsError, replicasFor } from '../log/stream';
import type { KV } from '@nats-io/kv';
import type { NatsBus } from '../log/connection';
import type { Subjects } from '../log/subjects';

export interface Lease {
  /** Greater than that of any earlier lease. */
  readonly number: number;
  /** Aborted when the lease is lost. */
  readonly lost: AbortSignal;
  /** Gives it back, so that another node need not wait. */
  release(): Promise<void>;
}

const KEY = 'leader';

/** Pause between two tries. */
const TRY_MS = 500;
/** Part of the lease after which it is renewed. */
const RENEWAL_SHARE = 0.2;

/**
 * Waits for the lease. `ms`: how long it lasts. `isAlive`: asked before each renewal; the lease is given up when its holder is not.
 * @throws NatsRefusedError, NatsAwayError; the signal's reason
 */
export async function takeLease(
  bus: NatsBus,
  subjects: Subjects,
  { name, ms, isAlive }: LeaseOptions,
  signal: AbortSignal
): Promise<Lease> {
  const bucket = await openBucket(bus, subjects, ms);
  // Two leases of one node differ.
  const value = `${name} ${randomBytes(8).toString('hex')}`;
  for (;;) {
    const number = await create(bucket, value);
    if (number !== undefined) return new HeldLease(bucket, value, ms, number, isAlive);
    await setTimeout(TRY_MS, undefined, { signal });
  }
}

export interface LeaseOptions {
  /** Of the node. */
  readonly name: string;
  readonly ms: number;
  readonly isAlive: () => boolean;
}

/** Who has the lease; undefined: nobody. @throws NatsAwayError, NatsRefusedError */
export async function leaseHolder(bus: NatsBus, subjects: Subjects): Promise<string | undefined> {
  const { kv } = await loadNats();
  try {
    const bucket = await new kv.Kvm(bus.jetstream).open(subjects.lease);
    const entry = await bucket.get(KEY);
    return entry?.operation === 'PUT' ? entry.string().split(' ')[0] : undefined;
  } catch (error) {
    throw await natsError('the lease cannot be read', error);
  }
}

async function openBucket(bus: NatsBus, { lease }: Subjects, ms: number): Promise<KV> {
  const { kv } = await loadNats();
  try {
    return await new kv.Kvm(bus.jetstream).create(lease, { ttl: ms, history: 1, replicas: replicasFor(bus) });
  } catch (error) {
    throw await natsError('the lease cannot be made', error);
  }
}

/** The number of the new lease; undefined: another node has it. */
async function create(bucket: KV, value: string): Promise<number | undefined> {
  const { jetstream } = await loadNats();
  try {
    return await bucket.create(KEY, value);
  } catch (error) {
    const isTaken = error instanceof jetstream.JetStreamApiError && error.code === jetstream.JetStreamApiCodes.StreamWrongLastSequence;
    if (isTaken) return undefined;
    throw await natsError('the lease cannot be taken', error);
  }
}

class HeldLease implements Lease {
  readonly number: number;
  readonly #bucket: KV;
  readonly #value: string;
  readonly #lost = new AbortController();
  readonly #renewing: Promise<void>;
  readonly #released = new AbortController();
  readonly #ms: number;
  readonly #isAlive: () => boolean;
  #revision: number;

  constructor(bucket: KV, value: string, ms: number, number: number, isAlive: () => boolean) {
    this.number = this.#revision = number;
    this.#bucket = bucket;
    this.#value = value;
    this.#ms = ms;
    this.#isAlive = isAlive;
    this.#renewing = this.#renew();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    this.#released.abort();
    await this.#renewing;
    if (!this.#lost.signal.aborted) await this.#bucket.delete(KEY, { previousSeq: this.#revision }).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    let until = performance.now() + this.#ms;
    for (;;) {
      const isReleased = await setTimeout(this.#ms * RENEWAL_SHARE, false, { signal: this.#released.signal }).catch(() => true);
      if (isReleased) return;
      const asked = performance.now();
      const renewed = this.#isAlive() ? await this.#renewedBy(until) : 'lost';
      if (renewed === 'renewed') until = asked + this.#ms;
      else if (renewed === 'lost' || performance.now() > until) {
        this.#lost.abort();
        return;
      }
    }
  }

  /** Whether there is an answer by that time: the client may wait longer for one. */
  async #renewedBy(until: number): Promise<'renewed' | 'lost' | 'unknown'> {
    const answered = new AbortController();
    const late = setTimeout(Math.max(0, until - performance.now()) + 1, 'unknown' as const, { signal: answered.signal });
    try {
      return await Promise.race([this.#renewOnce(), late]);
    } finally {
      late.catch(() => undefined);
      answered.abort();
    }
  }

  async #renewOnce(): Promise<'renewed' | 'lost' | 'unknown'> {
    const { jetstream } = await loadNats();
    try {
      this.#revision = await this.#bucket.update(KEY, this.#value, this.#revision);
      return 'renewed';
    } catch (error) {
      if (!(error instanceof jetstream.JetStreamApiError)) return 'unknown';
    }
    // An earlier renewal may have been taken, and its acknowledgement lost.
    const entry = await this.#bucket.get(KEY).catch(() => undefined);
    if (entry === undefined) return 'unknown';
    if (entry?.operation !== 'PUT' || entry.string() !== this.#value) return 'lost';
    this.#revision = entry.revision;
    return 'unknown';
  }
}
